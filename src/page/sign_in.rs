//! Who is signed in: a cookie that says until when and is signed with the token, so that nothing has to be stored and a
//! restart ends nothing, and beside it a key.
//!
//! Browsers send the cookies of a host to every port of it, so another program of this machine that is visited in the
//! same browser gets to see the cookie. The key is kept by the page for its own origin, which a port belongs to, and
//! comes in a header; neither does anything without the other.

use std::{io, sync::Arc};

use decitick_components::secret::Secret;
use hyper::header::{COOKIE, HeaderMap, HeaderName};

use super::link::hex;
use crate::{access_token::AccessToken, http::only};

/// The header that the page sends its key in.
pub(super) const KEY_HEADER: HeaderName = HeaderName::from_static("x-decitick-key");
/// How long a sign-in lasts: seven days.
const LASTS_SECONDS: u64 = 7 * 86_400;
/// Random bytes that tell one sign-in from another.
const ID_BYTES: usize = 16;
/// Cookies of our name that are looked at.
const MAX_COOKIES: usize = 8;
/// Digits of the id that logs name it by.
const SHOWN_DIGITS: usize = 8;

/// Makes and judges sign-ins.
#[derive(Clone, Debug)]
pub(super) struct SignIns {
    token: Arc<AccessToken>,
    cookie_name: String,
}

/// A new sign-in.
#[derive(Debug)]
pub(super) struct SignIn {
    /// The value of a `Set-Cookie` header.
    pub cookie: String,
    /// What the page keeps.
    pub key: String,
    /// What logs name it by.
    pub name: String,
}

impl SignIns {
    /// Of the page on this port. Servers on one machine have cookies of different names.
    pub(super) fn new(token: Arc<AccessToken>, port: u16) -> Self {
        Self {
            token,
            cookie_name: format!("decitick_page_{port}"),
        }
    }

    /// A sign-in from this Unix second on.
    pub(super) fn begin(&self, now: u64) -> io::Result<SignIn> {
        let mut id = [0; ID_BYTES];
        getrandom::fill(&mut id).map_err(io::Error::other)?;
        let claim = format!("{:x}.{}", now.saturating_add(LASTS_SECONDS), hex(&id));
        let signature = self.code("cookie", &claim);
        Ok(SignIn {
            cookie: format!(
                "{}={claim}.{signature}; HttpOnly; SameSite=Strict; Path=/; Max-Age={LASTS_SECONDS}",
                self.cookie_name
            ),
            key: self.code("key", &claim),
            name: hex(&id).chars().take(SHOWN_DIGITS).collect(),
        })
    }

    /// The value of a `Set-Cookie` header that takes the cookie away.
    pub(super) fn end(&self) -> String {
        format!(
            "{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0",
            self.cookie_name
        )
    }

    /// The short name of the sign-in that a request has, if it has one that is good at this Unix second. Another program
    /// of this machine can add cookies of our name: they are no sign-ins, and keep none out.
    pub(super) fn of(&self, headers: &HeaderMap, now: u64) -> Option<String> {
        let key = only(headers, &KEY_HEADER)?.to_str().ok()?;
        self.cookies(headers)
            .take(MAX_COOKIES)
            .find_map(|cookie| self.judge(cookie, key, now))
    }

    fn judge(&self, cookie: &str, key: &str, now: u64) -> Option<String> {
        let (claim, signature) = cookie.rsplit_once('.')?;
        let good = Secret::new(signature.as_bytes()) == Secret::new(self.code("cookie", claim).as_bytes())
            && Secret::new(key.as_bytes()) == Secret::new(self.code("key", claim).as_bytes());
        if !good {
            return None;
        }
        let (ends, id) = claim.split_once('.')?;
        let ends = u64::from_str_radix(ends, 16).ok()?;
        (now < ends).then(|| id.chars().take(SHOWN_DIGITS).collect())
    }

    /// The cookies of our name.
    fn cookies<'h>(&'h self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name)
            .map(|(_, value)| value)
    }

    fn code(&self, what: &str, claim: &str) -> String {
        let message = format!("decitick live page {what}\n{claim}");
        hex(&self.token.authenticate(message.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn sign_ins(token: &str, port: u16) -> SignIns {
        SignIns::new(Arc::new(AccessToken::of(token.to_owned())), port)
    }

    fn request(cookies: &[&str], key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(COOKIE, cookie.parse().unwrap());
        }
        headers.insert(KEY_HEADER, key.parse().unwrap());
        headers
    }

    fn pair(cookie: &str) -> &str {
        cookie.split(';').next().unwrap()
    }

    #[test]
    fn a_sign_in_is_good_for_seven_days_also_after_a_restart() {
        let begun = sign_ins("a", 7780).begin(NOW).unwrap();
        assert!(
            begun
                .cookie
                .ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800")
        );
        let restarted = sign_ins("a", 7780);
        let headers = request(
            &[&format!("other=1; {}; more=2", pair(&begun.cookie))],
            &begun.key,
        );
        let name = restarted.of(&headers, NOW + 604_799).unwrap();
        assert!(name.len() == 8 && begun.cookie.contains(&name));
        assert_eq!(restarted.of(&headers, NOW + 604_800), None);
    }

    #[test]
    fn cookies_that_others_added_keep_nobody_out() {
        let page = sign_ins("a", 7780);
        let begun = page.begin(NOW).unwrap();
        let own = pair(&begun.cookie);
        let other = "decitick_page_7780=1.2.3";
        assert!(
            page.of(&request(&[other, &format!("{other}; {own}")], &begun.key), NOW)
                .is_some()
        );
        assert!(
            page.of(
                &request(&[&[other; MAX_COOKIES].join("; "), own], &begun.key),
                NOW
            )
            .is_none()
        );
    }

    #[test]
    fn nothing_else_is_a_sign_in() {
        let page = sign_ins("a", 7780);
        let (first, second) = (page.begin(NOW).unwrap(), page.begin(NOW).unwrap());
        let cookie = pair(&first.cookie);
        assert!(page.of(&request(&[cookie], &first.key), NOW).is_some());
        assert!(
            page.of(&request(&[cookie], &second.key), NOW).is_none(),
            "the key of another"
        );
        assert!(page.of(&request(&[cookie], ""), NOW).is_none());
        assert!(page.of(&request(&[], &first.key), NOW).is_none());
        assert!(
            sign_ins("b", 7780)
                .of(&request(&[cookie], &first.key), NOW)
                .is_none(),
            "another token"
        );
        assert!(
            sign_ins("a", 7781)
                .of(&request(&[cookie], &first.key), NOW)
                .is_none(),
            "another port"
        );
        let mut two_keys = request(&[cookie], &first.key);
        two_keys.append(KEY_HEADER, first.key.parse().unwrap());
        assert!(page.of(&two_keys, NOW).is_none());
        for index in 0..cookie.len() {
            let mut changed = cookie.as_bytes().to_vec();
            changed[index] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            let Ok(value) = changed.parse() else { continue };
            let mut headers = request(&[], &first.key);
            headers.insert(COOKIE, value);
            assert!(page.of(&headers, NOW).is_none(), "{changed}");
        }
        // A cookie is not a key and a key is not a cookie.
        let signature = cookie.rsplit_once('.').unwrap().1;
        assert!(page.of(&request(&[cookie], signature), NOW).is_none());
    }
}
