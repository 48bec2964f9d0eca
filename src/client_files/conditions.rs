//! What the headers of a request ask of a response: conditions and ranges (RFC 9110, 13 and 14).

use hyper::header::{HeaderMap, HeaderName, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};

/// Which bytes are to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// All of them.
    Whole,
    /// From `first` up to `last`, both included and both there.
    Part {
        /// The first byte.
        first: u64,
        /// The last byte.
        last: u64,
    },
    /// The range lies behind the end.
    Beyond,
}

/// Whether the client holds another content than this one and wants none but that.
pub(super) fn match_fails(headers: &HeaderMap, etag: &str) -> bool {
    headers.contains_key(IF_MATCH) && !lists(headers, &IF_MATCH, etag, Comparison::Strong)
}

/// Whether the client has this content already.
pub(super) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    lists(headers, &IF_NONE_MATCH, etag, Comparison::Weak)
}

/// The bytes that a client wants of a content of `size` bytes. What is no single range of bytes is ignored.
pub(super) fn span(headers: &HeaderMap, etag: &str, size: u64) -> Span {
    // Strong comparison: a weak tag fits nothing, and neither does a date.
    if headers.contains_key(IF_RANGE) && only(headers, &IF_RANGE) != Some(etag) {
        return Span::Whole;
    }
    only(headers, &RANGE)
        .and_then(|range| range_of(range, size))
        .unwrap_or(Span::Whole)
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| value.trim())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

fn lists(headers: &HeaderMap, name: &HeaderName, etag: &str, comparison: Comparison) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|list| list.trim() == "*" || listed(list, etag, comparison))
}

/// Goes through `"a", W/"b"`, up to the first thing that is no tag.
fn listed(list: &str, etag: &str, comparison: Comparison) -> bool {
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (weak, tag) = match rest.strip_prefix("W/") {
            Some(tag) => (true, tag),
            None => (false, rest),
        };
        let Some((inside, after)) = tag.strip_prefix('"').and_then(|tag| tag.split_once('"')) else {
            return false;
        };
        let same = etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')) == Some(inside);
        if same && !(weak && comparison == Comparison::Strong) {
            return true;
        }
        rest = after;
    }
}

fn range_of(range: &str, size: u64) -> Option<Span> {
    let (unit, set) = range.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = set.trim().split_once('-')?;
    let end = size.checked_sub(1);
    if first.is_empty() {
        let suffix = number(last)?;
        return Some(match end {
            Some(end) if suffix > 0 => Span::Part {
                first: size.saturating_sub(suffix),
                last: end,
            },
            _ => Span::Beyond,
        });
    }
    let first = number(first)?;
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    if last < first {
        return None;
    }
    Some(match end {
        Some(end) if first <= end => Span::Part {
            first,
            last: last.min(end),
        },
        _ => Span::Beyond,
    })
}

/// Digits and nothing else; what is more than fits is as good as the most that does.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const ETAG: &str = "\"abc\"";

    fn with(name: HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_tag_is_found_in_any_list_and_weakly() {
        for values in [
            &["\"abc\""][..],
            &["*"],
            &["W/\"abc\""],
            &["\"x\", \"abc\""],
            &["\"x\",W/\"abc\" , \"y\""],
            &["\"x\"", "\"abc\""],
            &["\"a,b\", \"abc\""],
        ] {
            assert!(is_known(&with(IF_NONE_MATCH, values), ETAG), "{values:?}");
        }
        for values in [
            &["abc"][..],
            &["\"ab\""],
            &["\"abc"],
            &[""],
            &["\"x\" abc"],
            &["\"x,\"abc\""],
        ] {
            assert!(!is_known(&with(IF_NONE_MATCH, values), ETAG), "{values:?}");
        }
        assert!(!is_known(&HeaderMap::new(), ETAG));
    }

    #[test]
    fn a_wanted_match_is_compared_strongly() {
        assert!(!match_fails(&HeaderMap::new(), ETAG));
        for (value, fails) in [
            ("\"abc\"", false),
            ("*", false),
            ("W/\"abc\"", true),
            ("\"x\"", true),
        ] {
            assert_eq!(match_fails(&with(IF_MATCH, &[value]), ETAG), fails, "{value}");
        }
    }

    #[test]
    fn a_single_range_is_cut_to_what_is_there() {
        let part = |first, last| Span::Part { first, last };
        for (range, wanted) in [
            ("bytes=0-0", part(0, 0)),
            ("bytes=0-9", part(0, 9)),
            ("bytes=9-", part(9, 9)),
            ("bytes=5-99", part(5, 9)),
            ("bytes=5-99999999999999999999999", part(5, 9)),
            ("bytes=-1", part(9, 9)),
            ("bytes=-10", part(0, 9)),
            ("bytes=-99999999999999999999999", part(0, 9)),
            ("Bytes= 2-3 ", part(2, 3)),
            ("bytes=10-", Span::Beyond),
            ("bytes=10-20", Span::Beyond),
            ("bytes=99999999999999999999999-", Span::Beyond),
            ("bytes=-0", Span::Beyond),
        ] {
            assert_eq!(span(&with(RANGE, &[range]), ETAG, 10), wanted, "{range}");
        }
        for range in ["bytes=0-", "bytes=-5", "bytes=0-0"] {
            assert_eq!(
                span(&with(RANGE, &[range]), ETAG, 0),
                Span::Beyond,
                "{range} of nothing"
            );
        }
    }

    #[test]
    fn what_is_no_single_range_asks_for_the_whole() {
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=3-2",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=1-2,4-5",
            "bytes=0-1-2",
            "bytes=--1",
            "lines=0-1",
            "bytes=0x1-2",
        ] {
            assert_eq!(span(&with(RANGE, &[range]), ETAG, 10), Span::Whole, "{range}");
        }
        assert_eq!(
            span(&with(RANGE, &["bytes=0-1", "bytes=2-3"]), ETAG, 10),
            Span::Whole
        );
    }

    #[test]
    fn a_range_of_another_content_is_not_sent() {
        let asked = |tag: &str| {
            let mut headers = with(RANGE, &["bytes=1-2"]);
            headers.insert(IF_RANGE, HeaderValue::from_str(tag).unwrap());
            span(&headers, ETAG, 10)
        };
        assert_eq!(asked(ETAG), Span::Part { first: 1, last: 2 });
        for tag in ["\"x\"", "W/\"abc\"", "abc", "Mon, 30 Nov 2026 00:00:00 GMT", ""] {
            assert_eq!(asked(tag), Span::Whole, "{tag}");
        }
    }

    proptest! {
        #[test]
        fn a_part_is_never_empty_and_never_beyond_the_end(range in "(bytes=)?[0-9,-]{0,30}", size in any::<u64>()) {
            if let Span::Part { first, last } = span(&with(RANGE, &[&range]), ETAG, size) {
                prop_assert!(first <= last && last < size);
            }
        }
    }
}
