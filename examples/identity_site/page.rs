//! The HTML of the site: pages that need neither scripts nor anything from elsewhere.
//!
//! Whatever comes from outside is escaped here and nowhere else.

use super::request::LoginRequest;

/// The style sheet, which the pages take from `/site.css`.
pub(crate) const STYLE: &str = include_str!("site.css");

/// The form. `error` says why the last try failed; `account` is the name that it was tried with.
pub(crate) fn login(request: &LoginRequest, site: &str, account: &str, error: Option<&str>) -> String {
    let error = error.map_or(String::new(), |error| {
        format!(
            "<p class=\"error\" id=\"error\" role=\"alert\">{}</p>\n",
            escape(error)
        )
    });
    let (name_focus, password_focus) = if account.is_empty() {
        (" autofocus", "")
    } else {
        ("", " autofocus")
    };
    let body = format!(
        r#"<h1>Log in</h1>
<p class="lead">with your account at <strong>{site}</strong></p>
{error}<form method="post" action="/login">
<input type="hidden" name="server" value="{server}">
<input type="hidden" name="ticket" value="{ticket}">
<input type="hidden" name="return" value="{return_to}">
<label for="account">Account</label>
<input id="account" name="account" value="{account}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" required{name_focus}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required{password_focus}>
<button id="submit" type="submit">Log in</button>
</form>
<a class="cancel" id="cancel" href="{return_to}">Cancel, back to the game</a>
<dl>
<dt>Asked by the server</dt><dd><code id="server">{server}</code></dd>
<dt>Then back to</dt><dd><code id="origin">{origin}</code></dd>
</dl>"#,
        site = escape(site),
        server = escape(&request.server),
        ticket = escape(&request.ticket),
        return_to = escape(&request.return_to.to_string()),
        origin = escape(&request.return_to.origin.to_string()),
        account = escape(account),
    );
    frame("Log in", &body)
}

/// A page with nothing to do on it.
pub(crate) fn message(title: &str, text: &str) -> String {
    frame(
        title,
        &format!("<h1>{}</h1>\n<p>{}</p>", escape(title), escape(text)),
    )
}

fn frame(title: &str, body: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<link rel="stylesheet" href="/site.css">
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"#,
        escape(title)
    )
}

/// A text that is the same text inside an element and inside a quoted attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::request::Fields;
    use super::*;

    fn request() -> LoginRequest {
        let query = format!(
            "server={}&ticket=t-1&return=http://127.0.0.1:7778/?a%26b='",
            "a5".repeat(32)
        );
        LoginRequest::read(&Fields::read(query.as_bytes()), &[]).unwrap_or_else(|bad| panic!("{bad}"))
    }

    #[test]
    fn the_form_shows_who_asks_and_carries_the_request() {
        let page = login(&request(), "example", "", None);
        for part in [
            "id=\"account\"",
            "id=\"password\"",
            "id=\"submit\"",
            "<code id=\"origin\">http://127.0.0.1:7778</code>",
            "name=\"ticket\" value=\"t-1\"",
            "name=\"return\" value=\"http://127.0.0.1:7778/?a&amp;b=&#39;\"",
            &format!("<code id=\"server\">{}</code>", "a5".repeat(32)),
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("id=\"error\"") && !page.contains("<script"));
    }

    #[test]
    fn what_comes_from_outside_is_escaped() {
        let hostile = "\"><script>alert('&')</script>";
        let page = [
            login(&request(), hostile, hostile, Some(hostile)),
            message(hostile, hostile),
        ]
        .concat();
        assert!(!page.contains("<script"), "{page}");
        assert_eq!(
            page.matches("&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;")
                .count(),
            6
        );
    }
}
