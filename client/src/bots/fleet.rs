//! The one loop that runs all bots on one thread: sockets, timers, the pace of joining and the phases of a run.
//! What they add up to is in `fleet/summary.rs`.

mod summary;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use decitick_protocol::{PasswordKey, PlayerName};
use mio::{Events, Poll, Token, Waker};

use super::bot::{Bot, Plan, Stage};
use super::browser::Browser;
use super::login::Login;
use super::measure::Measurements;
use super::random::Random;
use super::report::{BotsReport, WorldClockSeen};
use super::{BotsError, BotsOptions, BotsPhase, BotsState, Progress};
use crate::client::{ClientConfig, PinnedServer};
use crate::driver::{Answered, Clock, fresh_nonce};

/// What wakes the loop when a visit to a site has ended: no bot has this number.
const BROWSER: Token = Token(usize::MAX);

/// How often the progress is told.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// All bots of a run.
pub(super) struct Fleet<'a> {
    options: &'a BotsOptions,
    server: SocketAddr,
    pinned: PinnedServer,
    clock: Clock,
    poll: Poll,
    bots: Vec<Bot>,
    /// When each bot acts next, the earliest first.
    timers: BTreeSet<(Duration, usize)>,
    due: Vec<Option<Duration>>,
    plan: Plan,
    measured: Measurements,
    random: Random,
    run: u16,
    joining: usize,
    joined: u64,
    gone: u64,
    window: Option<Duration>,
    world_clock: WorldClockSeen,
    next_tell: Duration,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(
        options: &'a BotsOptions,
        answered: &Answered,
        password: Option<PasswordKey>,
    ) -> Result<Self, BotsError> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|error| BotsError::Io(io::Error::other(error)))?;
        let mut random = Random::new(u64::from_le_bytes(seed));
        let run = (random.next() & 0xFFFF) as u16;
        let poll = Poll::new().map_err(BotsError::Io)?;
        let browser = match options.login {
            Some(Login::Web) => {
                let waker = Waker::new(poll.registry(), BROWSER).map_err(BotsError::Io)?;
                Some(Browser::open(waker).map_err(BotsError::Io)?)
            }
            _ => None,
        };
        Ok(Self {
            options,
            server: answered.address,
            pinned: PinnedServer {
                password,
                ..PinnedServer::new(answered.info.server_key)
            },
            clock: Clock::start(),
            bots: Vec::with_capacity(options.count),
            timers: BTreeSet::new(),
            due: Vec::with_capacity(options.count),
            plan: Plan {
                walk: options.walk,
                frame_every: Duration::from_secs_f64(1.0 / options.rate_hz),
                chat_every: options.chat_every(),
                shot_every: options.shot_every(),
                login: options.login,
                login_password: options.login_password.clone(),
                browser,
                registry: poll.registry().try_clone().map_err(BotsError::Io)?,
                meeting: None,
            },
            poll,
            measured: Measurements::new(run, options.count),
            random,
            run,
            joining: 0,
            joined: 0,
            gone: 0,
            window: None,
            world_clock: WorldClockSeen::default(),
            next_tell: Duration::ZERO,
        })
    }

    /// Joins, plays for the asked time and leaves. Whether it was interrupted is in the report.
    pub(super) fn run(
        mut self,
        answered: &Answered,
        progress: &mut dyn Progress,
    ) -> Result<BotsReport, BotsError> {
        let mut events = Events::with_capacity(1024);
        let interrupted = self.play(&mut events, progress)?.is_break();
        let end = self.clock.now();
        // The run ends here whatever the answer is.
        let _ = self.tell(end, BotsPhase::Leaving, progress);
        let stayed = self.joined;
        self.world_clock.end = self.world_time(end);
        for bot in &mut self.bots {
            bot.finish(end, &self.plan, &mut self.measured);
        }
        let seconds = self
            .window
            .map_or(Duration::ZERO, |opened| end.saturating_sub(opened));
        Ok(self.report(answered, stayed, seconds, end, interrupted))
    }

    fn play(
        &mut self,
        events: &mut Events,
        progress: &mut dyn Progress,
    ) -> Result<ControlFlow<()>, BotsError> {
        loop {
            let now = self.clock.now();
            self.start_due(now)?;
            if self.window.is_none() && self.bots.len() == self.options.count && self.joining == 0 {
                self.open_window(now);
            }
            let end = self.window.map(|opened| opened + self.options.duration);
            if end.is_some_and(|end| end <= now) || self.nobody_left() {
                return Ok(ControlFlow::Continue(()));
            }
            let phase = if self.window.is_some() {
                BotsPhase::Playing
            } else {
                BotsPhase::Joining
            };
            if self.tell(now, phase, progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.wait(now, end, events)?;
            self.receive(events);
            self.take_visits();
            self.act();
        }
    }

    /// Starts the bots whose turn it is: at the asked rate, and no more at once than the options allow.
    fn start_due(&mut self, now: Duration) -> Result<(), BotsError> {
        while self.bots.len() < self.options.count
            && self.joining < self.options.joins_at_once
            && self.next_start() <= now
        {
            let index = self.bots.len();
            let bot = self
                .new_bot(index, now)
                .map_err(|source| BotsError::Socket { bot: index, source })?;
            self.bots.push(bot);
            self.due.push(None);
            self.joining += 1;
            self.schedule(index);
        }
        Ok(())
    }

    fn new_bot(&mut self, index: usize, now: Duration) -> io::Result<Bot> {
        let name = PlayerName::parse(&format!("Bot {:04x} {index}", self.run)).map_err(io::Error::other)?;
        let mut pinned = self.pinned.clone();
        if self.plan.login == Some(Login::Credential) {
            pinned.credential_seed = Some(fresh_nonce()?);
        }
        let config = ClientConfig::new(&name).pinned_to(pinned);
        let seed = self.random.next();
        Bot::start(
            index,
            self.options.count,
            self.server,
            name.as_str(),
            config,
            seed,
            now,
            &self.plan.registry,
        )
    }

    fn next_start(&self) -> Duration {
        Duration::from_secs_f64(self.bots.len() as f64 / self.options.joins_per_second)
    }

    fn open_window(&mut self, now: Duration) {
        self.window = Some(now);
        self.world_clock.start = self.world_time(now);
        self.measured.open = true;
        for bot in &mut self.bots {
            bot.open_window(now);
        }
    }

    /// The time of day in the world, as HH:MM, that the first bot with a session knows.
    fn world_time(&self, now: Duration) -> Option<String> {
        let (hours, minutes) = self.bots.iter().find_map(|bot| bot.client().world_time(now))?;
        Some(format!("{hours:02}:{minutes:02}"))
    }

    /// Waits for a datagram, the next timer, the next start, the next telling or the end, whichever is first.
    fn wait(&mut self, now: Duration, end: Option<Duration>, events: &mut Events) -> Result<(), BotsError> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let may_start = self.bots.len() < self.options.count && self.joining < self.options.joins_at_once;
        let start = may_start.then(|| self.next_start());
        let until = [timer, start, end]
            .into_iter()
            .flatten()
            .fold(self.next_tell, Duration::min);
        match self.poll.poll(events, Some(until.saturating_sub(now))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(BotsError::Io(error)),
            _ => Ok(()),
        }
    }

    fn receive(&mut self, events: &Events) {
        for event in events {
            let index = event.token().0;
            let Some(bot) = self.bots.get_mut(index) else {
                continue;
            };
            let before = bot.stage();
            let clock = self.clock;
            bot.receive(|| clock.now(), &mut self.plan, &mut self.measured);
            bot.act(clock.now(), &mut self.plan, &mut self.measured);
            self.note_stage(index, before);
            self.schedule(index);
        }
    }

    fn act(&mut self) {
        let now = self.clock.now();
        while let Some((at, index)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            let Some(bot) = self.bots.get_mut(index) else {
                self.timers.remove(&(at, index));
                continue;
            };
            // A time of zero means at once, and tells nothing about how late the loop is.
            if self.measured.open && at > Duration::ZERO {
                self.measured.lateness.record(now.saturating_sub(at));
            }
            let before = bot.stage();
            bot.act(now, &mut self.plan, &mut self.measured);
            self.note_stage(index, before);
            self.schedule(index);
        }
    }

    /// Hands the bots what their visits to sites ended with.
    fn take_visits(&mut self) {
        while let Some(visited) = self.plan.browser.as_ref().and_then(Browser::back) {
            let Some(bot) = self.bots.get_mut(visited.bot) else {
                continue;
            };
            let before = bot.stage();
            bot.take_visit(visited.outcome, &mut self.measured);
            bot.act(self.clock.now(), &mut self.plan, &mut self.measured);
            self.note_stage(visited.bot, before);
            self.schedule(visited.bot);
        }
    }

    /// Keeps count of how far the bots are; `before` is where this one was.
    fn note_stage(&mut self, index: usize, before: Stage) {
        let Some(after) = self
            .bots
            .get(index)
            .map(Bot::stage)
            .filter(|after| *after != before)
        else {
            return;
        };
        match before {
            Stage::Joining => self.joining -= 1,
            Stage::Joined => self.joined -= 1,
            Stage::Gone => self.gone -= 1,
        }
        match after {
            Stage::Joining => self.joining += 1,
            Stage::Joined => self.joined += 1,
            Stage::Gone => self.gone += 1,
        }
    }

    fn schedule(&mut self, index: usize) {
        let next = self.bots.get(index).and_then(Bot::due);
        let Some(held) = self.due.get_mut(index) else {
            return;
        };
        if let Some(old) = std::mem::replace(held, next) {
            self.timers.remove(&(old, index));
        }
        if let Some(at) = next {
            self.timers.insert((at, index));
        }
    }

    fn nobody_left(&self) -> bool {
        self.gone == self.options.count as u64
    }

    fn tell(&mut self, now: Duration, phase: BotsPhase, progress: &mut dyn Progress) -> ControlFlow<()> {
        if now < self.next_tell {
            return ControlFlow::Continue(());
        }
        self.next_tell = now + TELL_EVERY;
        progress.update(&BotsState {
            phase,
            asked: self.options.count as u64,
            joined: self.joined,
            gone: self.gone,
            playing: self
                .window
                .map_or(Duration::ZERO, |opened| now.saturating_sub(opened)),
            frame_p50_ms: self.measured.frame_relay.quantile_ms(0.5),
            rtt_p50_ms: self.measured.rtt.quantile_ms(0.5),
        })
    }
}
