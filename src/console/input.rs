//! Lines out of a file descriptor that is never waited for longer than asked: so an edge can look for the end of its
//! peer, or for an empty line, while an answer goes on. It knows neither sockets nor terminals, only `poll` and `read`.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::read,
};

use super::line::{Line, LineAssembler};

/// Lines that are read ahead while an answer goes on.
const MAX_WAITING: usize = 64;
/// Bytes that are read at once.
const PIECE: usize = 4096;

/// Lines of one peer.
#[derive(Debug)]
pub(super) struct Input<Fd> {
    from: Fd,
    /// Bytes that came behind the last line.
    piece: VecDeque<u8>,
    assembler: LineAssembler,
    waiting: VecDeque<Line>,
    ended: bool,
    both_ways: bool,
}

/// What a look at the peer showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing that matters now.
    Nothing,
    /// It sent an empty line: it wants no more of the answer.
    EmptyLine,
    /// It is gone, and reads no more.
    HungUp,
}

impl<Fd: AsFd> Input<Fd> {
    /// Lines that come from `from`. `both_ways`: it is a socket, so its end is that of who reads the answers.
    pub(super) fn new(from: Fd, both_ways: bool) -> Self {
        Self {
            from,
            piece: VecDeque::new(),
            assembler: LineAssembler::default(),
            waiting: VecDeque::new(),
            ended: false,
            both_ways,
        }
    }

    /// Waits for the next line; `None` at the end.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.waiting.pop_front().or_else(|| self.assemble()) {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(self.assembler.finish());
            }
            ready(self.from.as_fd(), PollFlags::POLLIN, None)?;
            self.read_piece()?;
        }
    }

    /// Looks at what has come, without waiting. Lines that are not empty wait for their turn, up to a bound; beyond it
    /// they stay with their sender.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn look(&mut self) -> io::Result<Seen> {
        while self.waiting.len() < MAX_WAITING {
            if let Some(line) = self.assemble() {
                if line.is_empty() {
                    return Ok(Seen::EmptyLine);
                }
                self.waiting.push_back(line);
                continue;
            }
            let came = ready(self.from.as_fd(), PollFlags::POLLIN, Some(Duration::ZERO))?;
            if self.ended || !came.contains(PollFlags::POLLIN) {
                break;
            }
            self.read_piece()?;
        }
        self.hung_up()
    }

    /// Looks whether the peer is gone, without waiting and without taking anything from it.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn hung_up(&self) -> io::Result<Seen> {
        // Who only ends its own sending still reads; the end of a pipe says nothing of who reads the answers.
        let came = ready(self.from.as_fd(), PollFlags::empty(), Some(Duration::ZERO))?;
        let gone = self.both_ways && came.intersects(PollFlags::POLLHUP | PollFlags::POLLERR);
        Ok(if gone { Seen::HungUp } else { Seen::Nothing })
    }

    fn assemble(&mut self) -> Option<Line> {
        while !self.piece.is_empty() {
            let (bytes, _) = self.piece.as_slices();
            let (used, line) = self.assembler.take(bytes);
            self.piece.drain(..used);
            if line.is_some() {
                return line;
            }
        }
        None
    }

    fn read_piece(&mut self) -> io::Result<()> {
        let mut buffer = [0; PIECE];
        match read(self.from.as_fd(), &mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.piece.extend(buffer.iter().take(count)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// Waits until something of `wanted` is there, or the other side is gone; empty when nothing came within `patience`.
///
/// # Errors
/// What the system says; a wait that a signal ended early is no error and shows nothing.
pub(crate) fn ready(
    fd: BorrowedFd<'_>,
    wanted: PollFlags,
    patience: Option<Duration>,
) -> io::Result<PollFlags> {
    let timeout = patience.map_or(PollTimeout::NONE, |patience| {
        PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX)
    });
    let mut watched = [PollFd::new(fd, wanted)];
    match poll(&mut watched, timeout) {
        Ok(_) => Ok(watched
            .first()
            .and_then(PollFd::revents)
            .unwrap_or(PollFlags::empty())),
        Err(Errno::EINTR) => Ok(PollFlags::empty()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, net::Shutdown, os::unix::net::UnixStream};

    use super::*;

    fn pair() -> (UnixStream, Input<UnixStream>) {
        let (theirs, ours) = UnixStream::pair().unwrap();
        (theirs, Input::new(ours, true))
    }

    fn texts(input: &mut Input<UnixStream>) -> Vec<String> {
        std::iter::from_fn(|| input.next().unwrap())
            .map(|line| line.content.unwrap())
            .collect()
    }

    #[test]
    fn an_empty_line_ends_an_answer_and_the_others_wait_for_their_turn() {
        let (mut theirs, mut input) = pair();
        theirs.write_all(b"watch\nsta").unwrap();
        assert_eq!(input.next().unwrap().unwrap().content, Ok("watch".to_owned()));
        assert_eq!(input.look().unwrap(), Seen::Nothing);
        theirs.write_all(b"tus\n \r\nplayers\n").unwrap();
        assert_eq!(input.look().unwrap(), Seen::EmptyLine);
        assert_eq!(input.look().unwrap(), Seen::Nothing);
        theirs.shutdown(Shutdown::Write).unwrap();
        assert_eq!(texts(&mut input), ["status", "players"]);
    }

    #[test]
    fn who_ends_its_sending_still_reads_and_who_closes_is_gone() {
        let (mut theirs, mut input) = pair();
        theirs.write_all(b"watch\nbans\n").unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        assert_eq!(input.look().unwrap(), Seen::Nothing);
        drop(theirs);
        assert_eq!(input.look().unwrap(), Seen::HungUp);
        let (read_end, write_end) = nix::unistd::pipe().unwrap();
        drop(write_end);
        assert_eq!(Input::new(read_end, false).look().unwrap(), Seen::Nothing);
    }

    #[test]
    fn what_is_read_ahead_is_bounded_and_nothing_of_it_is_lost() {
        let (mut theirs, mut input) = pair();
        let sender = std::thread::spawn(move || {
            for n in 0..20_000 {
                theirs.write_all(format!("{n}\n").as_bytes()).unwrap();
            }
        });
        while input.waiting.len() < MAX_WAITING {
            assert_eq!(input.look().unwrap(), Seen::Nothing);
        }
        input.look().unwrap();
        assert!(input.waiting.len() == MAX_WAITING && input.piece.len() <= PIECE);
        let numbers: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        assert_eq!(texts(&mut input), numbers);
        sender.join().unwrap();
    }
}
