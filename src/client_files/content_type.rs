//! What a file is, by the end of its name.

/// The media type of a file; names it does not know are bytes to keep, never something a browser runs.
pub(super) fn of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => HTML,
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => JSON,
        "txt" => "text/plain; charset=utf-8",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        "ico" => "image/vnd.microsoft.icon",
        "woff2" => "font/woff2",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// A page.
pub(super) const HTML: &str = "text/html; charset=utf-8";
/// The manifest, too.
pub(super) const JSON: &str = "application/json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_name_decides_in_either_case() {
        assert_eq!(of("a/login.html"), HTML);
        assert_eq!(of("X.PNG"), "image/png");
        for name in ["", "html", "a.b/c", "page.html.exe", "x."] {
            assert_eq!(of(name), "application/octet-stream", "{name}");
        }
    }
}
