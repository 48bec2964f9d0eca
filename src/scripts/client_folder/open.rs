//! Opens a client file without ever leaving its resource's folder.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Component, Path},
};

use decitick_components::script::ResourceName;
use nix::{
    fcntl::{OFlag, openat},
    sys::stat::Mode,
};

use super::super::{
    SCRIPTS_FOLDER,
    walk::{CLIENT_FOLDER, Stamp},
};

/// An open client file and the state it was in.
#[derive(Debug)]
pub(crate) struct ClientContent {
    pub file: File,
    pub stamp: Stamp,
}

impl ClientContent {
    /// Whether the file still is in the state in which it was opened.
    pub(crate) fn is_unchanged(&self) -> io::Result<bool> {
        Ok(Stamp::of(&self.file.metadata()?) == self.stamp)
    }
}

/// Opens a file of `client/`, one part of its path after the other, none of them through a link.
///
/// # Errors
/// There is no such file, it or a folder on the way is a link or something else, or it may not be read.
pub(crate) fn open(directory: &Path, resource: &ResourceName, name: &str) -> io::Result<ClientContent> {
    // O_NONBLOCK: a named pipe in the file's place must not hang whoever reads.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let mut at = OwnedFd::from(File::open(directory)?);
    for folder in [SCRIPTS_FOLDER, resource.as_str(), CLIENT_FOLDER] {
        at = openat(&at, folder, flags | OFlag::O_DIRECTORY, Mode::empty())?;
    }
    let (folders, last) = match name.rsplit_once('/') {
        Some((folders, last)) => (Some(folders), last),
        None => (None, name),
    };
    for folder in folders.into_iter().flat_map(|folders| folders.split('/')) {
        at = openat(&at, plain(folder)?, flags | OFlag::O_DIRECTORY, Mode::empty())?;
    }
    let file = File::from(openat(&at, plain(last)?, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(ClientContent {
        file,
        stamp: Stamp::of(&metadata),
    })
}

/// One part of a path, and nothing that leads elsewhere.
fn plain(part: &str) -> io::Result<&str> {
    let mut components = Path::new(part).components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(only)), None) if only == part => Ok(part),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_opened_and_nothing_beside_the_folder_is() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("scripts/mode/client");
        std::fs::create_dir_all(folder.join("images")).unwrap();
        std::fs::write(folder.join("images/a.png"), "abc").unwrap();
        std::fs::write(folder.join("page.html"), "x").unwrap();
        std::fs::write(directory.path().join("scripts/mode/main.rhai"), "secret").unwrap();
        symlink("page.html", folder.join("link.html")).unwrap();
        symlink("images", folder.join("pictures")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe"), Mode::S_IRUSR).unwrap();
        let mode = ResourceName::parse("mode").unwrap();
        let opened = |name: &str| open(directory.path(), &mode, name).map(|opened| opened.stamp.size);
        assert_eq!(opened("images/a.png").unwrap(), 3);
        assert_eq!(opened("page.html").unwrap(), 1);
        for name in [
            "",
            ".",
            "..",
            "/",
            "../main.rhai",
            "images/../page.html",
            "images/../../main.rhai",
            "./page.html",
            "page.html/",
            "/page.html",
            "images//a.png",
            "images",
            "images/",
            "link.html",
            "pictures/a.png",
            "pipe",
            "none",
            "page.html\0",
        ] {
            assert!(opened(name).is_err(), "{name:?}");
        }
        std::fs::rename(&folder, directory.path().join("scripts/mode/real")).unwrap();
        symlink("real", &folder).unwrap();
        assert!(opened("page.html").is_err(), "the folder itself is a link");
    }
}
