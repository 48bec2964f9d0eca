//! Somebody who looks: what they want to see, and what they were told of it.

use std::fmt::Write as _;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    clock::Clock,
    live::{HealthHistory, LiveRequest, LogLine, RecentLog},
    remote::RemoteSlow,
};

use super::{
    EVENT_BYTES, PERIOD,
    board::{Board, space},
    health::write_second,
    table::Cursor,
    values::Values,
};
use crate::remote::json;

/// Somebody who looks.
pub(in super::super) struct Viewer {
    id: u64,
    pub(super) request: LiveRequest,
    /// The tick in which it is told next.
    next: u64,
    server_told: bool,
    /// The last second of the history that was told.
    second: u64,
    players: Cursor<Entity>,
    scripts: Cursor<String>,
    marks: Cursor<Entity>,
    zones: Cursor<Entity>,
    spaces: String,
    /// The last line of the log that was told.
    line: u64,
    values: Option<Values>,
}

impl Viewer {
    /// One that is told in this tick or the next few: viewers are spread over them.
    pub(in super::super) fn new(id: u64, request: LiveRequest, world: &World) -> Self {
        let tick = world.resource::<Clock>().tick;
        Self {
            id,
            request,
            next: tick + 1 + (id + PERIOD - tick % PERIOD) % PERIOD,
            server_told: false,
            second: 0,
            players: Cursor::default(),
            scripts: Cursor::default(),
            marks: Cursor::default(),
            zones: Cursor::default(),
            spaces: String::new(),
            line: 0,
            values: request.inspect.map(|entity| Values::of(entity.0)),
        }
    }

    pub(super) const fn is_due(&self, tick: u64) -> bool {
        tick >= self.next
    }

    /// What it is told in this tick, if it is its turn. Whoever has not taken yet what was told before waits, and is
    /// told then what is new by then.
    pub(in super::super) fn event(&mut self, world: &World, board: &Board) -> Option<String> {
        let clock = world.resource::<Clock>();
        if !self.is_due(clock.tick) || world.resource::<RemoteSlow>().0.contains(&self.id) {
            return None;
        }
        self.next = clock.tick + PERIOD;
        let mut event = String::with_capacity(1024);
        let _ = write!(
            event,
            r#"{{"tick":{},"unix_ms":{},"uptime_s":{:.1}"#,
            clock.tick,
            clock.unix.as_millis(),
            clock.since_start.as_secs_f64()
        );
        if !std::mem::replace(&mut self.server_told, true) {
            let _ = write!(event, r#","server":{}"#, board.server);
        }
        self.tell_health(world, board, &mut event);
        let room = half_of_what_is_left(&event);
        if let Some(news) = self.values.as_mut().and_then(|values| values.news(world, room)) {
            let _ = write!(event, r#","inspect":{news}"#);
        }
        if self.request.log {
            self.tell_log(world.resource::<RecentLog>(), &mut event);
        }
        self.tell_tables(board, &mut event);
        event.push('}');
        Some(event)
    }

    fn tell_health(&mut self, world: &World, board: &Board, event: &mut String) {
        let Some(now) = board.health.as_ref().filter(|_| self.request.health) else {
            return;
        };
        let _ = write!(event, r#","health":{{"now":{},"seconds":["#, now.value.0);
        let history = world.resource::<HealthHistory>();
        for (index, second) in history.after(self.second).enumerate() {
            if index > 0 {
                event.push(',');
            }
            write_second(second, event);
        }
        if let Some(newest) = history.newest(1).next() {
            self.second = newest.at_s;
        }
        event.push_str("]}");
    }

    fn tell_log(&mut self, log: &RecentLog, event: &mut String) {
        let mut lines = log.after(self.line).peekable();
        let Some(first) = lines.peek() else { return };
        let missed = if self.line == 0 {
            0
        } else {
            first.number.saturating_sub(self.line + 1)
        };
        let room = half_of_what_is_left(event);
        event.push_str(r#","log":{"lines":["#);
        let begin = event.len();
        for line in lines {
            if event.len() - begin > room {
                break;
            }
            if event.len() > begin {
                event.push(',');
            }
            write_line(line, event);
            self.line = line.number;
        }
        event.push(']');
        if missed > 0 {
            let _ = write!(event, r#","skipped":{missed}"#);
        }
        event.push('}');
    }

    fn tell_tables(&mut self, board: &Board, event: &mut String) {
        if let Some(scripts) = board.scripts.as_ref().filter(|_| self.request.scripts) {
            let news = self.scripts.news(&scripts.value, half_of_what_is_left(event));
            write_news("scripts", &news, event);
        }
        if let Some(players) = board.players.as_ref().filter(|_| self.request.players) {
            let news = self.players.news(&players.value, half_of_what_is_left(event));
            write_news("players", &news, event);
        }
        let Some(map) = self.request.map.and_then(|of| board.maps.get(&space(of))) else {
            return;
        };
        let zones = self.zones.news(&map.value.zones, half_of_what_is_left(event));
        let room = EVENT_BYTES.saturating_sub(event.len() + zones.len());
        let mut news = self.marks.news(&map.value.marks, room);
        if !zones.is_empty() {
            news.push(',');
            write_member("zones", &zones, &mut news);
        }
        if let Some(spaces) = board.spaces.as_ref().filter(|spaces| spaces.value != self.spaces) {
            self.spaces.clone_from(&spaces.value);
            let _ = write!(news, r#","spaces":{}"#, self.spaces);
        }
        write_news("map", &news, event);
    }
}

/// Whoever comes first leaves as much to those that follow, so that none is kept out for ever.
const fn half_of_what_is_left(event: &str) -> usize {
    EVENT_BYTES.saturating_sub(event.len()) / 2
}

fn write_news(name: &str, news: &str, event: &mut String) {
    if !news.is_empty() {
        event.push(',');
        write_member(name, news, event);
    }
}

/// Members with a comma before each, as a map under a name.
fn write_member(name: &str, members: &str, out: &mut String) {
    let _ = write!(
        out,
        "\"{name}\":{{{}}}",
        members.strip_prefix(',').unwrap_or(members)
    );
}

fn write_line(line: &LogLine, out: &mut String) {
    let LogLine {
        number,
        unix_ms,
        level,
        target,
        message,
        fields,
    } = line;
    let [target, message, fields] = [target, message, fields].map(|text| json::string(text));
    let _ = write!(
        out,
        "[{number},{unix_ms},\"{level}\",{target},{message},{fields}]"
    );
}
