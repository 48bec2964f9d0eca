use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn a_directory_without_a_server_is_named_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let shown = directory.path().display().to_string();
    let error = ConsoleClient::connect(directory.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(&shown) && error.contains("decitick serve"),
        "{error}"
    );
    drop(UnixListener::bind(directory.path().join("console.sock")).unwrap());
    // A program that another test starts at this moment may hold the listener a little longer.
    let deadline = Instant::now() + Duration::from_secs(30);
    let error = loop {
        match ConsoleClient::connect(directory.path()) {
            Err(error) => break error.to_string(),
            Ok(_) => assert!(Instant::now() < deadline, "somebody listens there"),
        }
        thread::yield_now();
    };
    assert!(error.contains("left by a server that died"), "{error}");
    let error = ConsoleClient::connect(&directory.path().join("absent")).unwrap_err();
    assert!(matches!(error, ClientError::Directory { .. }), "{error}");
}

#[test]
fn a_server_that_hangs_up_without_an_answer_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(directory.path().join("console.sock")).unwrap();
    let mut client = ConsoleClient::connect(directory.path()).unwrap();
    drop(listener.accept().unwrap());
    let error = client.ask("status").unwrap_err();
    assert!(error.to_string().contains("hung up"), "{error}");
}

/// A client, and the server's end of it.
fn attached() -> (tempfile::TempDir, ConsoleClient, UnixStream) {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(directory.path().join("console.sock")).unwrap();
    let client = ConsoleClient::connect(directory.path()).unwrap();
    let (server, _) = listener.accept().unwrap();
    (directory, client, server)
}

#[test]
fn a_server_that_hangs_up_within_an_answer_has_cut_the_console_off() {
    for sent in [&b"part 1\nx\n"[..], b"part 1\nx\npart 9\nhal", b"ok 5\nab"] {
        let (_directory, mut client, mut server) = attached();
        server.write_all(sent).unwrap();
        drop(server);
        let error = client.ask("watch 5 Motion").unwrap_err();
        assert!(matches!(error, ClientError::CutOff { .. }), "{error}");
    }
}

#[test]
fn parts_are_told_before_the_last_word_and_an_end_is_asked_for_once() {
    let (_directory, mut client, mut server) = attached();
    let ends = thread::spawn(move || {
        server.write_all(b"part 3\none\npart 3\ntwo\n").unwrap();
        let mut lines = BufReader::new(server);
        let mut line = String::new();
        io::BufRead::read_line(&mut lines, &mut line).unwrap();
        line.clear();
        io::BufRead::read_line(&mut lines, &mut line).unwrap();
        assert_eq!(line, "\n");
        lines.get_mut().write_all(b"ok 5\nended\n").unwrap();
        lines
    });
    let (mut told, mut asked) = (Vec::new(), 0);
    let reply = client.converse(
        "watch 5 Motion",
        |part| {
            told.push(part.to_owned());
            Ok(())
        },
        || {
            asked += 1;
            Attention::End
        },
    );
    assert_eq!(
        reply.unwrap(),
        Some(Reply {
            ok: true,
            text: "ended".to_owned()
        })
    );
    assert_eq!(told, ["one", "two"]);
    ends.join().unwrap();
}

#[test]
fn an_answer_that_comes_too_late_is_not_taken_for_the_next_one() {
    let (_directory, mut client, mut server) = attached();
    let late = client.ask_within("complete st", Duration::ZERO).unwrap();
    assert_eq!(late, None);
    server.write_all(b"part 1\nx\nok 4\nlate\nok 3\nyes\n").unwrap();
    assert_eq!(client.ask("status").unwrap().text, "yes");
}
