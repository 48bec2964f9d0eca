//! The socket edge with real sockets and a stand-in for the tick.

mod going_on;

use std::{
    io::{BufReader, Read},
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleLeft, ConsoleOutbox};
use tempfile::TempDir;

use super::{
    super::{framing::read_frame, hub::ConsoleHub},
    *,
};

/// Answers every line with itself; `big` with 8 MiB, `no...` as a failure, `never` not at all. A `watch` gets a part
/// each turn until it is wanted no more; one of `Burst` gets 200 at once, one of `Silence` none.
struct Executor {
    stop: Arc<AtomicBool>,
    /// Answers that go on.
    streams: Arc<AtomicUsize>,
    thread: Option<JoinHandle<ConsoleHub>>,
}

impl Executor {
    fn start(mut hub: ConsoleHub) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let going_on = Arc::new(AtomicUsize::new(0));
        let thread = thread::spawn({
            let (stop, going_on) = (Arc::clone(&stop), Arc::clone(&going_on));
            move || {
                let mut streams: Vec<u64> = Vec::new();
                let mut left = ConsoleLeft::default();
                while !stop.load(Ordering::Relaxed) {
                    let (mut inbox, mut outbox) = (ConsoleInbox::default(), ConsoleOutbox::default());
                    hub.drain_into(&mut inbox, &mut left);
                    streams.retain(|id| !left.0.contains(id));
                    for request in inbox.0.drain(..) {
                        let (id, line) = (request.id, request.line);
                        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
                            ["never"] | ["watch", _, "Silence", ..] => {}
                            ["watch", _, "Burst", ..] => {
                                outbox
                                    .0
                                    .extend((0..200).map(|n| ConsoleAnswer::part(id, n.to_string())));
                                outbox.0.push(ConsoleAnswer::last(id, true, "all".to_owned()));
                            }
                            ["watch", ..] => streams.push(id),
                            ["big"] => outbox.0.push(ConsoleAnswer::last(id, true, "x".repeat(8 << 20))),
                            _ => outbox
                                .0
                                .push(ConsoleAnswer::last(id, !line.starts_with("no"), line)),
                        }
                    }
                    going_on.store(streams.len(), Ordering::Relaxed);
                    let parts = streams.iter().map(|&id| ConsoleAnswer::part(id, "x".repeat(400)));
                    outbox.0.extend(parts);
                    hub.deliver(&mut outbox);
                    if streams.is_empty() {
                        thread::yield_now();
                    } else {
                        thread::sleep(Duration::from_millis(2));
                    }
                }
                hub
            }
        });
        Self {
            stop,
            streams: going_on,
            thread: Some(thread),
        }
    }

    fn end(mut self) -> ConsoleHub {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Console(BufReader<UnixStream>);

impl Console {
    fn attach(directory: &Path) -> Self {
        let stream = UnixStream::connect(directory.join("console.sock")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    fn frame(&mut self) -> Option<(Outcome, String)> {
        read_frame(&mut self.0).unwrap()
    }

    /// The next last word; parts before it are passed over.
    fn answer(&mut self) -> Option<(bool, String)> {
        loop {
            match self.frame()? {
                (Outcome::Part, _) => {}
                (outcome, text) => return Some((outcome == Outcome::Done, text)),
            }
        }
    }

    fn ask(&mut self, line: &str) -> (bool, String) {
        self.send(format!("{line}\n").as_bytes());
        self.answer().unwrap()
    }
}

fn done(text: &str) -> (bool, String) {
    (true, text.to_owned())
}

fn running(limits: Limits) -> (TempDir, ConsoleServer, Executor) {
    let directory = tempfile::tempdir().unwrap();
    let (server, executor) = running_in(directory.path(), limits);
    (directory, server, executor)
}

fn running_in(directory: &Path, limits: Limits) -> (ConsoleServer, Executor) {
    let (hub, handle) = ConsoleHub::new();
    let socket = ConsoleSocket::bind(directory).unwrap();
    (
        ConsoleServer::start(socket, handle, limits).unwrap(),
        Executor::start(hub),
    )
}

#[test]
fn lines_are_answered_in_order_with_their_outcome() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    assert_eq!(console.ask("say жук"), done("say жук"));
    console.send(b"one\r\nno two\nthree\n");
    assert_eq!(console.answer(), Some(done("one")));
    assert_eq!(console.answer(), Some((false, "no two".to_owned())));
    assert_eq!(console.answer(), Some(done("three")));
}

#[test]
fn a_slow_reader_is_cut_off_and_holds_up_nobody() {
    let limits = Limits {
        write: Duration::from_millis(300),
        ..Limits::default()
    };
    let (directory, server, _executor) = running(limits);
    let mut slow = Console::attach(directory.path());
    slow.send(b"big\n");
    // The first bytes of the answer are there: its writer is at work, and soon stuck.
    slow.0.get_mut().read_exact(&mut [0]).unwrap();
    let mut quick = Console::attach(directory.path());
    for n in 0..20 {
        assert_eq!(quick.ask(&format!("line {n}")), done(&format!("line {n}")));
    }
    // Only once the other side has given up is the rest read.
    let begun = Instant::now();
    while server.shared.consoles().attached.len() > 1 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the slow reader was never cut off"
        );
        thread::yield_now();
    }
    let mut rest = Vec::new();
    let _ = slow.0.read_to_end(&mut rest);
    assert!(rest.len() < 8 << 20);
    assert_eq!(quick.ask("still here"), done("still here"));
}

#[test]
fn a_silent_console_holds_up_nobody() {
    let (directory, _server, _executor) = running(Limits::default());
    let _silent = Console::attach(directory.path());
    let mut half = Console::attach(directory.path());
    half.send(b"stat");
    assert_eq!(Console::attach(directory.path()).ask("status"), done("status"));
    half.send(b"us\n");
    assert_eq!(half.answer(), Some(done("status")));
}

#[test]
fn one_console_too_many_is_told_so_and_finds_room_once_another_leaves() {
    let (directory, server, _executor) = running(Limits::default());
    let mut attached: Vec<Console> = (0..32).map(|_| Console::attach(directory.path())).collect();
    for console in &mut attached {
        assert_eq!(console.ask("status"), done("status"));
    }
    let mut surplus = Console::attach(directory.path());
    let (ok, text) = surplus.answer().unwrap();
    assert!(!ok && text.contains("32 consoles"), "{text}");
    assert!(matches!(read_frame(&mut surplus.0), Ok(None)));
    drop(attached.pop());
    while server.shared.consoles().attached.len() > 31 {
        thread::yield_now();
    }
    assert_eq!(Console::attach(directory.path()).ask("status"), done("status"));
    assert_eq!(attached[0].ask("status"), done("status"));
}

#[test]
fn bad_lines_are_answered_and_the_console_stays() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    console.send(&[b'x'; 100_000]);
    console.send(b"\nsay \xff\xfe\nstatus\n");
    let (ok, text) = console.answer().unwrap();
    assert!(!ok && text.contains("more than 4096 bytes"), "{text}");
    let (ok, text) = console.answer().unwrap();
    assert!(!ok && text.contains("no UTF-8 from byte 4"), "{text}");
    assert_eq!(console.answer(), Some(done("status")));
}

#[test]
fn a_half_closed_console_gets_its_answers_but_half_a_line_is_not_run() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    console.send(b"status\nshutdown 6");
    console.0.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!(console.answer(), Some(done("status")));
    let (ok, text) = console.answer().unwrap();
    assert!(!ok && text.contains("not run"), "{text}");
    assert_eq!(console.answer(), None);
}

#[test]
fn a_console_that_leaves_before_its_answer_disturbs_nobody() {
    let (directory, server, _executor) = running(Limits {
        consoles: 64,
        ..Limits::default()
    });
    for _ in 0..50 {
        let mut console = Console::attach(directory.path());
        console.send(b"big\nstatus\n");
    }
    while !server.shared.consoles().attached.is_empty() {
        thread::yield_now();
    }
    assert_eq!(Console::attach(directory.path()).ask("status"), done("status"));
}

#[test]
fn a_command_without_an_answer_ends_in_an_error_and_not_in_silence() {
    let limits = Limits {
        answer: Duration::from_millis(50),
        ..Limits::default()
    };
    let (directory, _server, _executor) = running(limits);
    let mut console = Console::attach(directory.path());
    let (ok, text) = console.ask("never");
    assert!(!ok && text.contains("may still be done"), "{text}");
    assert_eq!(console.ask("status"), done("status"));
}

#[test]
fn a_stop_delivers_the_answer_on_its_way_removes_the_file_and_cuts_everybody_off() {
    let (directory, server, executor) = running(Limits::default());
    let mut idle = Console::attach(directory.path());
    assert_eq!(idle.ask("status"), done("status"));
    let mut asking = Console::attach(directory.path());
    let mut hub = executor.end();
    asking.send(b"shutdown\n");
    let mut inbox = ConsoleInbox::default();
    while inbox.0.is_empty() {
        hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
        thread::yield_now();
    }
    let id = inbox.0.pop_front().unwrap().id;
    hub.deliver(&mut ConsoleOutbox(vec![ConsoleAnswer {
        id,
        ok: true,
        text: "stopping".to_owned(),
        more: false,
    }]));
    let begun = Instant::now();
    drop((hub, server));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(asking.answer(), Some(done("stopping")));
    assert_eq!((asking.answer(), idle.answer()), (None, None));
    assert!(!directory.path().join("console.sock").exists());
}

#[test]
fn a_stop_is_quick_even_when_a_command_is_never_answered() {
    let (directory, server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    assert_eq!(console.ask("status"), done("status"));
    console.send(b"never\n");
    let begun = Instant::now();
    drop(server);
    assert!(
        begun.elapsed() < Duration::from_millis(1_500),
        "{:?}",
        begun.elapsed()
    );
    // The line itself may have been unread still: then the end is a reset.
    match console.0.read_to_end(&mut Vec::new()) {
        Ok(read) => assert_eq!(read, 0),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

#[test]
fn garbage_is_answered_with_errors_and_nothing_else() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    let mut long = vec![b'x'; 10 << 20];
    long.push(b'\n');
    console.send(&long);
    let (ok, text) = console.answer().unwrap();
    assert!(!ok && text.contains("4096"), "{text}");
    let mut noise: Vec<u8> = (0..=255_u8).filter(|byte| *byte != b'\n').collect();
    noise.push(b'\n');
    console.send(&noise);
    let (ok, text) = console.answer().unwrap();
    assert!(!ok && text.contains("no UTF-8"), "{text}");
    // Control characters and NUL are text to an edge: the grammar refuses them.
    console.send(b"no\0\x1b[2J\x07\n");
    assert_eq!(console.answer(), Some((false, "no\0\u{1b}[2J\u{7}".to_owned())));
    console.send(b"half a line");
    console.0.get_ref().shutdown(Shutdown::Write).unwrap();
    assert!(console.answer().unwrap().1.contains("not run"));
    assert_eq!(console.answer(), None);
}

#[test]
fn thousands_of_lines_at_once_are_answered_one_by_one() {
    const LINES: usize = 5_000;
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    let mut sending = console.0.get_ref().try_clone().unwrap();
    let sender = thread::spawn(move || {
        let lines: String = (0..LINES).map(|n| format!("line {n}\n")).collect();
        sending.write_all(lines.as_bytes()).unwrap();
    });
    for n in 0..LINES {
        assert_eq!(console.answer(), Some(done(&format!("line {n}"))));
    }
    sender.join().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_longer_than_a_socket_address_works_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("d".repeat(120)).join("e".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    assert!(UnixStream::connect(deep.join("console.sock")).is_err());
    let (server, _executor) = running_in(&deep, Limits::default());
    let live = ConsoleSocket::bind(&deep).unwrap_err();
    assert!(live.to_string().contains("another server"), "{live}");
    let mut client = super::super::client::ConsoleClient::connect(&deep).unwrap();
    assert_eq!(client.ask("status").unwrap().text, "status");
    drop(server);
    assert!(!deep.join("console.sock").exists());
}

#[test]
fn only_the_same_user_and_root_may_attach() {
    let (own, other) = (Uid::from_raw(1000), Uid::from_raw(1001));
    assert!(check_peer(own, own).is_ok() && check_peer(Uid::from_raw(0), own).is_ok());
    assert!(check_peer(other, own).is_err_and(|message| message.contains("1001")));
    let (one, _two) = UnixStream::pair().unwrap();
    assert_eq!(peer_uid(&one).unwrap(), geteuid());
}
