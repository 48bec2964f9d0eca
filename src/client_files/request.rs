//! Which file a request asks for: its path, decoded once and taken apart, and nothing made of it.

use decitick_client::files::MANIFEST_NAME;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The first part of the path.
    pub resource: String,
    /// The rest of it; none when it is the manifest.
    pub file: Option<String>,
}

/// Reads the path of a request, which begins with `/`. None for a path that names no file, whatever there is.
pub(super) fn wanted(path: &str) -> Option<Wanted> {
    let mut parts = Vec::new();
    // Taken apart first: what is a slash only after decoding is none.
    for part in path.strip_prefix('/')?.split('/') {
        parts.push(decode(part).filter(|part| is_plain(part))?);
    }
    let (resource, file) = parts.split_first()?;
    let file = file.join("/");
    if file.is_empty() {
        return None;
    }
    Some(Wanted {
        resource: resource.clone(),
        file: (file != MANIFEST_NAME).then_some(file),
    })
}

/// Whether a part can be one of a name in a manifest, so that the rest need not even be looked up.
fn is_plain(part: &str) -> bool {
    !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '\0'])
}

/// Replaces each `%41` by its byte, once. None for a `%` without two hex digits, and for what is no UTF-8 then.
fn decode(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Option<(String, Option<String>)> {
        wanted(path).map(|wanted| (wanted.resource, wanted.file))
    }

    #[test]
    fn a_path_names_a_resource_and_a_file_of_it() {
        let some = |resource: &str, file: &str| Some((resource.to_owned(), Some(file.to_owned())));
        assert_eq!(file("/login/page.html"), some("login", "page.html"));
        assert_eq!(file("/login/a/b.png"), some("login", "a/b.png"));
        assert_eq!(file("/login/%C3%A4%20b.txt"), some("login", "ä b.txt"));
        assert_eq!(file("/login/ä"), some("login", "ä"));
        assert_eq!(file("/login/a%2525"), some("login", "a%25"), "decoded once");
        assert_eq!(file("/login/manifest.json"), Some(("login".to_owned(), None)));
        assert_eq!(file("/login/a/manifest.json"), some("login", "a/manifest.json"));
    }

    #[test]
    fn a_path_that_could_lead_elsewhere_names_nothing() {
        for path in [
            "",
            "/",
            "//",
            "*",
            "login/x",
            "/login",
            "/login/",
            "//login/x",
            "/login//x",
            "/login/x/",
            "/login/../x",
            "/login/..",
            "/../login/x",
            "/login/./x",
            "/login/%2e%2e/x",
            "/login/%2E./x",
            "/login/a%2Fb",
            "/login/%2fx",
            "/login/a%5cb",
            "/login/a\\b",
            "/login/a%00",
            "/login/%",
            "/login/%4",
            "/login/%zz",
            "/login/%+1",
            "/login/%ff",
            "/login/%c0%ae%c0%ae/x",
            "/login/.hidden",
            "/.hidden/x",
        ] {
            assert_eq!(file(path), None, "{path:?}");
        }
    }
}
