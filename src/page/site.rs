//! The files of the page, as they are in `site/`.

/// A file.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    name: &'static str,
    /// Its Content-Type.
    pub kind: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal $kind:ident)*) => {
        const FILES: &[File] = &[$(File {
            name: $name,
            kind: $kind,
            bytes: include_bytes!(concat!("site/", $name)),
        },)*];
    };
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

files! {
    "index.html" HTML
    "style.css" STYLE
    "icon.svg" PICTURE
    "main.js" SCRIPT
    "chart.js" SCRIPT
    "dialog.js" SCRIPT
    "dom.js" SCRIPT
    "entities.js" SCRIPT
    "health.js" SCRIPT
    "log.js" SCRIPT
    "map.js" SCRIPT
    "map_draw.js" SCRIPT
    "map_view.js" SCRIPT
    "players.js" SCRIPT
    "reasons.js" SCRIPT
    "rpc.js" SCRIPT
    "scripts.js" SCRIPT
    "session.js" SCRIPT
    "stream.js" SCRIPT
    "tables.js" SCRIPT
    "values.js" SCRIPT
}

/// The file at a path.
pub(super) fn file(path: &str) -> Option<File> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    FILES.iter().find(|file| file.name == name).copied()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use decitick_components::reasons::DropReason;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served_under_its_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page/site");
        let there: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let served: BTreeSet<String> = FILES.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(there, served);
        assert_eq!(file("/").unwrap().name, "index.html");
        assert!(file("/site/main.js").is_none() && file("//main.js").is_none() && file("").is_none());
        for file in FILES {
            let extension = match file.kind {
                HTML => ".html",
                SCRIPT => ".js",
                STYLE => ".css",
                _ => ".svg",
            };
            assert!(file.name.ends_with(extension), "{}", file.name);
        }
    }

    #[test]
    fn every_reason_of_a_drop_is_explained() {
        let text = std::str::from_utf8(file("/reasons.js").unwrap().bytes).unwrap();
        let explained: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.split_once(": \""))
            .map(|(name, _)| name)
            .collect();
        let reasons: BTreeSet<&str> = DropReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(explained, reasons);
    }

    #[test]
    fn nothing_of_the_page_comes_from_elsewhere_and_no_text_becomes_markup() {
        for File { name, bytes, .. } in FILES {
            let text = std::str::from_utf8(bytes).unwrap();
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "https://",
                "//cdn",
                "@import",
            ] {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
    }
}
