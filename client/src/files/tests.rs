use super::*;

const HASH: &str = "00000000000000000000000000000000000000000000000000000000000000ff";

fn parse_with(json: &str, limits: &ManifestLimits) -> Result<ClientFilesManifest, ManifestError> {
    let hash: [u8; 32] = Sha256::digest(json).into();
    ClientFilesManifest::parse(json.as_bytes(), "mode", &hash, limits)
}

fn parse(json: &str) -> Result<ClientFilesManifest, ManifestError> {
    parse_with(json, &ManifestLimits::default())
}

fn named(names: &[&str]) -> Result<ClientFilesManifest, ManifestError> {
    let files: Vec<_> = names
        .iter()
        .map(|name| serde_json::json!({"name": name, "size": 3, "sha256": HASH}))
        .collect();
    parse(&serde_json::json!({"resource": "mode", "files": files}).to_string())
}

fn fault(names: &[&str]) -> NameFault {
    match named(names) {
        Err(ManifestError::Name { fault, .. }) => fault,
        other => panic!("{names:?}: {other:?}"),
    }
}

#[test]
fn a_sound_manifest_gives_its_files_in_its_order() {
    let manifest = named(&["z.html", "images/logo.png", "ä b.txt"]).unwrap();
    let names: Vec<&str> = manifest.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["z.html", "images/logo.png", "ä b.txt"]);
    assert_eq!(manifest.files()[0].size, 3);
    assert_eq!(manifest.files()[0].sha256[30..], [0, 0xff]);
}

#[test]
fn what_was_not_announced_is_not_even_parsed() {
    let error = ClientFilesManifest::parse(b"{", "mode", &[0; 32], &ManifestLimits::default());
    assert_eq!(error, Err(ManifestError::OtherHash));
}

#[test]
fn names_that_would_leave_the_folder_or_harm_a_disk_are_refused() {
    for (name, wanted) in [
        ("", NameFault::Length),
        ("/etc/passwd", NameFault::EmptyPart),
        ("a//b", NameFault::EmptyPart),
        ("a/", NameFault::EmptyPart),
        ("..", NameFault::Dot),
        ("a/../../b", NameFault::Dot),
        ("./a", NameFault::Dot),
        (".hidden/x", NameFault::Dot),
        ("a\\..\\b", NameFault::Character('\\')),
        ("C:x", NameFault::Character(':')),
        ("a\nb", NameFault::Character('\n')),
        ("a\0", NameFault::Character('\0')),
        ("a\u{202e}b", NameFault::Character('\u{202e}')),
        ("a ", NameFault::PartEnd),
        ("a./b", NameFault::PartEnd),
        ("NUL", NameFault::Device),
        ("x/con.txt", NameFault::Device),
        ("com1.html", NameFault::Device),
        ("Manifest.json", NameFault::Manifest),
    ] {
        assert_eq!(fault(&[name]), wanted, "{name:?}");
    }
    assert_eq!(fault(&[&"x".repeat(256)]), NameFault::Length);
    let longest = "x".repeat(255);
    for name in [
        "console.html",
        "com10",
        "lpt",
        "x/manifest.json",
        "..a".trim_start_matches('.'),
        &longest,
    ] {
        assert!(named(&[name]).is_ok(), "{name:?}");
    }
}

#[test]
fn names_that_cannot_be_beside_each_other_are_refused() {
    assert_eq!(fault(&["a", "a"]), NameFault::Duplicate);
    assert_eq!(fault(&["a/Ä.png", "A/ä.PNG"]), NameFault::Duplicate);
    assert_eq!(fault(&["a", "a/b"]), NameFault::FileAndFolder);
    assert_eq!(fault(&["a/b/c", "A/b"]), NameFault::FileAndFolder);
    assert!(named(&["a/b", "a/c", "ab"]).is_ok());
}

#[test]
fn what_is_over_a_limit_is_refused_and_the_limit_itself_is_not() {
    let json = format!(
        r#"{{"resource":"mode","files":[{{"name":"a","size":6,"sha256":"{HASH}"}},{{"name":"b","size":4,"sha256":"{HASH}"}}]}}"#
    );
    let fits = ManifestLimits {
        manifest_bytes: json.len() as u64,
        files: 2,
        file_bytes: 6,
        total_bytes: 10,
    };
    assert!(parse_with(&json, &fits).is_ok());
    let tight = |limits| parse_with(&json, &limits).unwrap_err();
    assert!(matches!(
        tight(ManifestLimits {
            manifest_bytes: fits.manifest_bytes - 1,
            ..fits
        }),
        ManifestError::TooLarge { .. }
    ));
    assert!(matches!(
        tight(ManifestLimits { files: 1, ..fits }),
        ManifestError::TooManyFiles { .. }
    ));
    assert!(matches!(
        tight(ManifestLimits {
            file_bytes: 5,
            ..fits
        }),
        ManifestError::FileTooLarge { .. }
    ));
    assert!(matches!(
        tight(ManifestLimits {
            total_bytes: 9,
            ..fits
        }),
        ManifestError::TooMuch { .. }
    ));
}

#[test]
fn what_is_no_manifest_is_refused() {
    for json in [
        "",
        "[]",
        "{}",
        r#"{"resource":"mode"}"#,
        r#"{"resource":"mode","resource":"mode","files":[]}"#,
        r#"{"resource":"mode","files":[{"name":"a","size":-1,"sha256":""}]}"#,
        r#"{"resource":"mode","files":[{"name":"a","size":1.5,"sha256":""}]}"#,
        r#"{"resource":"mode","files":[{"name":"a","size":18446744073709551616,"sha256":""}]}"#,
        &format!("{}1{}", "[".repeat(5000), "]".repeat(5000)),
    ] {
        assert!(matches!(parse(json), Err(ManifestError::Malformed(_))), "{json}");
    }
    assert_eq!(
        parse(r#"{"resource":"other","files":[]}"#),
        Err(ManifestError::OtherResource("other".into()))
    );
    for hash in ["", "0", &HASH[1..], &HASH.to_uppercase(), &format!("{HASH}00")] {
        let json = format!(r#"{{"resource":"mode","files":[{{"name":"a","size":1,"sha256":"{hash}"}}]}}"#);
        assert!(
            matches!(parse(&json), Err(ManifestError::BadHash { .. })),
            "{hash}"
        );
    }
    let more = r#"{"resource":"mode","files":[],"version":2}"#;
    assert!(parse(more).is_ok(), "later servers may say more");
}

#[test]
fn an_error_shows_a_hostile_name_harmlessly() {
    let error = named(&["a\u{1b}[31m"]).unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
