//! The site without a socket: a request in, an answer out.
//!
//! It keeps no state between requests and writes nothing to any log: passwords and tokens pass through it.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{
    accounts::Accounts,
    page,
    request::{Fields, LoginRequest},
    return_place::ReturnOrigin,
    token::SiteKey,
};
use hyper::{
    Method, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
        X_CONTENT_TYPE_OPTIONS,
    },
};

/// Bytes of the longest body that is read.
pub(crate) const BODY_MAX: usize = 8 * 1024;

/// What a browser asked.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) content_type: &'a str,
    /// At most [`BODY_MAX`] bytes.
    pub(crate) body: &'a [u8],
}

/// The site.
pub(crate) struct Site {
    key: SiteKey,
    accounts: Accounts,
    origins: Vec<ReturnOrigin>,
}

impl Site {
    pub(crate) const fn new(key: SiteKey, accounts: Accounts, origins: Vec<ReturnOrigin>) -> Self {
        Self {
            key,
            accounts,
            origins,
        }
    }

    /// The answer to a request at this moment.
    pub(crate) fn answer(&self, asked: &Asked<'_>) -> Response<String> {
        let get = matches!(*asked.method, Method::GET | Method::HEAD);
        match asked.path {
            "/login" if get => self.show_form(asked),
            "/login" if *asked.method == Method::POST => self.log_in(asked, unix_seconds()),
            "/login" => method_not_allowed("GET, HEAD, POST"),
            "/" | "/site.css" if !get => method_not_allowed("GET, HEAD"),
            "/site.css" => style(),
            "/" => html(
                StatusCode::OK,
                &page::message(
                    "Identity site",
                    &format!(
                        "Logins start in the game. For auth.providers of a server's configuration: {}",
                        self.key.configuration()
                    ),
                ),
                None,
            ),
            _ => problem(StatusCode::NOT_FOUND, "Nothing here", "The login is at /login."),
        }
    }

    fn show_form(&self, asked: &Asked<'_>) -> Response<String> {
        match LoginRequest::read(&Fields::read(asked.query.as_bytes()), &self.origins) {
            Ok(request) => self.form(StatusCode::OK, &request, "", None),
            Err(bad) => problem(
                StatusCode::BAD_REQUEST,
                "This login cannot go on",
                &bad.to_string(),
            ),
        }
    }

    fn log_in(&self, asked: &Asked<'_>, unix_seconds: u64) -> Response<String> {
        let kind = asked.content_type.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let text = "Send the form as application/x-www-form-urlencoded.";
            return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "No form", text);
        }
        let fields = Fields::read(asked.body);
        let read = LoginRequest::read(&fields, &self.origins)
            .and_then(|request| Ok((request, fields.one("account")?, fields.one("password")?)));
        let (request, account, password) = match read {
            Ok(read) => read,
            Err(bad) => {
                return problem(
                    StatusCode::BAD_REQUEST,
                    "This login cannot go on",
                    &bad.to_string(),
                );
            }
        };
        if !self.accounts.admit(account, password) {
            let error = "Account and password do not match. Try again.";
            return self.form(StatusCode::UNAUTHORIZED, &request, account, Some(error));
        }
        match self
            .key
            .assertion(&request.server, &request.ticket, account, unix_seconds)
        {
            Some(token) => redirect(&request.return_to.with_token(&token)),
            None => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                "That failed",
                "The login could not be signed.",
            ),
        }
    }

    fn form(
        &self,
        status: StatusCode,
        request: &LoginRequest,
        account: &str,
        error: Option<&str>,
    ) -> Response<String> {
        let page = page::login(request, self.key.id(), account, error);
        html(status, &page, Some(&request.return_to.origin))
    }
}

/// A page that says what is wrong.
pub(crate) fn problem(status: StatusCode, title: &str, text: &str) -> Response<String> {
    html(status, &page::message(title, text), None)
}

/// A page. Browsers hold a form's policy against redirects too, so the place to return to is named in it.
fn html(status: StatusCode, page: &str, form_returns_to: Option<&ReturnOrigin>) -> Response<String> {
    let form_action = form_returns_to.map_or("'none'".to_owned(), |origin| {
        format!("'self' {}", origin.policy_source())
    });
    let policy = format!(
        "default-src 'none'; style-src 'self'; form-action {form_action}; base-uri 'none'; frame-ancestors 'none'"
    );
    let mut response = plain(status, page);
    put(&mut response, CONTENT_TYPE, "text/html; charset=utf-8");
    put(&mut response, CONTENT_SECURITY_POLICY, &policy);
    response
}

fn style() -> Response<String> {
    let mut response = plain(StatusCode::OK, page::STYLE);
    put(&mut response, CONTENT_TYPE, "text/css; charset=utf-8");
    response
}

fn redirect(place: &str) -> Response<String> {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    put(&mut response, LOCATION, place);
    response
}

fn method_not_allowed(allowed: &str) -> Response<String> {
    let mut response = problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "Not like this",
        "This address does not take that method.",
    );
    put(&mut response, ALLOW, allowed);
    response
}

fn plain(status: StatusCode, body: &str) -> Response<String> {
    let mut response = Response::new(body.to_owned());
    *response.status_mut() = status;
    put(&mut response, CACHE_CONTROL, "no-store");
    put(&mut response, REFERRER_POLICY, "no-referrer");
    put(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}

/// Sets a header. Every value is ASCII that was judged or written here; one that is none would be left out.
fn put(response: &mut Response<String>, name: hyper::header::HeaderName, value: &str) {
    if let Ok(value) = value.parse() {
        response.headers_mut().insert(name, value);
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "application/x-www-form-urlencoded";

    fn site() -> Site {
        let accounts = ["ada:love:lace".to_owned(), "bob:b".to_owned()];
        let origins = vec!["https://play.example".parse().unwrap()];
        Site::new(
            SiteKey::from_seed([7; 32], "example"),
            Accounts::new(&accounts, None).unwrap(),
            origins,
        )
    }

    fn request(place: &str) -> String {
        format!("server={}&ticket=t-1&return={place}", "a5".repeat(32))
    }

    fn ask(method: Method, path: &str, query: &str, body: &str) -> Response<String> {
        site().answer(&Asked {
            method: &method,
            path,
            query,
            content_type: "application/x-www-form-urlencoded; charset=UTF-8",
            body: body.as_bytes(),
        })
    }

    fn header<'r>(response: &'r Response<String>, name: &str) -> &'r str {
        response
            .headers()
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn the_right_password_leads_back_with_a_token() {
        let body = format!(
            "{}&account=ada&password=love%3Alace",
            request("http://127.0.0.1:7778/a?b")
        );
        let response = ask(Method::POST, "/login", "", &body);
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let (place, token) = header(&response, "location").split_once("#token=").unwrap();
        assert_eq!(place, "http://127.0.0.1:7778/a?b");
        assert_eq!(token.split('.').count(), 3);
        assert_eq!(response.body(), "");
        assert_eq!(header(&response, "cache-control"), "no-store");
        assert_eq!(header(&response, "referrer-policy"), "no-referrer");
    }

    #[test]
    fn a_wrong_password_and_an_unknown_account_get_the_same_page() {
        let page = |account: &str, password: &str| {
            let body = format!(
                "{}&account={account}&password={password}",
                request("http://[::1]/")
            );
            let response = ask(Method::POST, "/login", "", &body);
            assert_eq!(
                response.status(),
                StatusCode::UNAUTHORIZED,
                "{account} {password}"
            );
            assert!(response.headers().get("location").is_none());
            response.into_body()
        };
        let wrong = page("ada", "wrong-word");
        assert!(
            wrong.contains("id=\"error\"")
                && wrong.contains("value=\"ada\"")
                && !wrong.contains("wrong-word")
        );
        assert_eq!(
            page("eve", "wrong-word"),
            wrong.replace("value=\"ada\"", "value=\"eve\"")
        );
        for (account, password) in [
            ("ada", ""),
            ("", ""),
            ("eve", ""),
            ("bob", "love:lace"),
            ("Ada", "love:lace"),
        ] {
            page(account, password);
        }
    }

    #[test]
    fn the_form_is_shown_for_a_good_request_only() {
        let response = ask(Method::GET, "/login", &request("https://play.example/"), "");
        assert_eq!(response.status(), StatusCode::OK);
        assert!(
            header(&response, "content-security-policy").contains("form-action 'self' https://play.example;")
        );
        for query in [
            "",
            &request("https://evil.test/"),
            &request("/"),
            "server=&ticket=&return=",
        ] {
            let response = ask(Method::GET, "/login", query, "");
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{query}");
            assert!(header(&response, "content-security-policy").contains("form-action 'none'"));
            let body = format!("{query}&account=ada&password=love:lace");
            assert_eq!(
                ask(Method::POST, "/login", "", &body).status(),
                StatusCode::BAD_REQUEST,
                "{query}"
            );
        }
    }

    #[test]
    fn other_paths_methods_and_types_are_refused() {
        assert_eq!(ask(Method::GET, "/", "", "").status(), StatusCode::OK);
        assert_eq!(ask(Method::HEAD, "/site.css", "", "").status(), StatusCode::OK);
        assert_eq!(ask(Method::GET, "/other", "", "").status(), StatusCode::NOT_FOUND);
        for (method, path) in [
            (Method::PUT, "/login"),
            (Method::POST, "/"),
            (Method::DELETE, "/site.css"),
        ] {
            let response = ask(method, path, "", "");
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert!(header(&response, "allow").starts_with("GET"));
        }
        for content_type in ["", "text/plain", "application/json", "multipart/form-data"] {
            let body = request("http://127.0.0.1/") + "&account=ada&password=love:lace";
            let asked = Asked {
                method: &Method::POST,
                path: "/login",
                query: "",
                content_type,
                body: body.as_bytes(),
            };
            assert_eq!(
                site().answer(&asked).status(),
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "{content_type}"
            );
            let good = Asked {
                content_type: FORM,
                ..asked
            };
            assert_eq!(site().answer(&good).status(), StatusCode::SEE_OTHER);
        }
    }
}
