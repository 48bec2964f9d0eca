//! What happened in the world becomes calls, in order. What does not fit into a tick waits for the next.

use std::{collections::VecDeque, sync::Arc};

use decitick_components::{script::ResourceName, thing::ThingId};
use decitick_protocol::EntityKind;
use rhai::FnPtr;

use super::{
    Failure, Happened, Host, MOST_PENDING, Spoken, budget::Turn, calls::Target, happened::arguments_of, lock,
    waits::Answer,
};
use crate::script::types::{Newcomer, Player};

/// Lines of chat that go on their way in a tick, above what a thousand players may say.
const LINES_PER_TICK: usize = 256;

/// Something that happened, and who is still to be told.
#[derive(Debug)]
pub(super) struct Event {
    happened: Happened,
    to: VecDeque<ResourceName>,
}

/// A call that waits.
#[derive(Debug)]
pub(super) enum Pending {
    /// `resource_start` of an instance that had no time yet.
    Start {
        resource: ResourceName,
        instance: u64,
    },
    Event(Event),
    Callback {
        resource: ResourceName,
        /// The instance it belongs to; the next one does not know it.
        instance: u64,
        callback: Arc<FnPtr>,
        /// What it is told; made into values when it is called.
        answer: Arc<Answer>,
        /// The timer that went off.
        timer: Option<i64>,
    },
}

impl Host {
    /// Takes something that happened; resources are told in this tick or a later one.
    pub(crate) fn tell(&mut self, happened: Happened) {
        let handler = match &happened {
            Happened::Said { text, .. } if text.starts_with('/') => "player_command",
            other => other.handler(),
        };
        let to = self
            .order
            .iter()
            .filter(|name| {
                self.instances
                    .get(*name)
                    .is_some_and(|instance| !instance.paused && instance.has(handler))
                    && self.concerns(name, &happened)
            })
            .cloned()
            .collect();
        let event = Event { happened, to };
        // Who comes and goes is always told; there cannot be many more of them than there are players.
        let certain = matches!(
            event.happened,
            Happened::Connected(_) | Happened::Disconnected(..) | Happened::LoginBegan(_)
        );
        if self.pending.len() >= MOST_PENDING && !certain {
            if self.lost == 0 {
                tracing::warn!(
                    reason = "script_backlog",
                    "scripts are so far behind that events are lost; `status` shows which resource takes the time"
                );
            }
            self.lost += 1;
            self.finish(event.happened);
            return;
        }
        self.pending.push_back(Pending::Event(event));
    }

    /// Zones and things are their maker's business; those that no resource made are everybody's.
    fn concerns(&self, name: &ResourceName, happened: &Happened) -> bool {
        let desk = lock(&self.toolkit.desk);
        if happened.newcomer().is_some() {
            return desk.facts.auth.as_ref() == Some(name);
        }
        let owner = match happened {
            Happened::ViewReported { of, .. } => return of == name,
            Happened::ZoneEntered(_, zone) | Happened::ZoneLeft(_, zone) => {
                desk.offices.values().find(|office| office.zones.contains(zone))
            }
            Happened::Triggered(_, thing) => {
                desk.offices.values().find(|office| office.things.contains(thing))
            }
            _ => None,
        };
        owner.is_none_or(|office| office.name == *name)
    }

    /// Makes the calls that wait, oldest first, as far as the time of the tick goes. Chat that was held back by a slow
    /// resource does not go to everybody's lane all at once.
    pub(crate) fn work_off(&mut self) {
        while self.spoken.len() < LINES_PER_TICK
            && let Some(next) = self.pending.pop_front()
        {
            let put_back = match next {
                Pending::Start { resource, instance } => {
                    (!self.let_begin(&resource, instance)).then_some(Pending::Start { resource, instance })
                }
                Pending::Event(event) => self.tell_one(event).map(Pending::Event),
                callback @ Pending::Callback { .. } => self.call_back(callback),
            };
            if let Some(again) = put_back {
                self.pending.push_front(again);
                return;
            }
        }
        if !self.pending.is_empty() {
            return;
        }
        if self.lost > 0 {
            tracing::warn!(
                lost = self.lost,
                "scripts have caught up; so many events were lost meanwhile"
            );
        }
        self.lost = 0;
    }

    /// Tells everybody who is still to be told; gives the event back when the time is over.
    fn tell_one(&mut self, mut event: Event) -> Option<Event> {
        while let Some(name) = event.to.front().cloned() {
            let stop = match self.tell_resource(&name, &event.happened) {
                Err(Failure::NotNow) if self.budget.share(Turn::Script).is_none() => return Some(event),
                Err(failure) => {
                    if let (Some(newcomer), Failure::Failed) = (event.happened.newcomer(), failure) {
                        self.login_failed(newcomer);
                    }
                    false
                }
                Ok(stop) => stop,
            };
            event.to.pop_front();
            if stop {
                self.finish_swallowed(event.happened);
                return None;
            }
        }
        self.finish(event.happened);
        None
    }

    /// Tells one resource; whether that was the last one to be told.
    fn tell_resource(&mut self, name: &ResourceName, happened: &Happened) -> Result<bool, Failure> {
        let Some(instance) = self.instances.get(name).filter(|instance| !instance.paused) else {
            return Ok(false);
        };
        let handler = match happened {
            Happened::Said { text, .. } if text.starts_with('/') => "player_command",
            other => other.handler(),
        };
        if !instance.has(handler) {
            return Ok(false);
        }
        if let Some(newcomer) = happened.newcomer()
            && lock(&self.toolkit.desk).mirror.waiting(newcomer.token).is_none()
        {
            // It left, or it is decided what becomes of it.
            return Ok(false);
        }
        let answer = self.call(
            name,
            Turn::Script,
            Target::Handler(handler),
            || arguments_of(happened),
            |value, _| Ok(value.as_bool().ok()),
        )?;
        match (happened, answer) {
            (Happened::Said { text, .. }, answer) => Ok(answer == Some(text.starts_with('/'))),
            (&Happened::Triggered(_, thing), Some(true)) => {
                self.take_pickup(name, thing);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A login whose resource failed is over (docs/protocol.md 1.5).
    fn login_failed(&self, newcomer: Newcomer) {
        use decitick_components::{
            messages::{EndSessionRequest, KickReason},
            reasons::CloseReason,
        };
        let mut desk = lock(&self.toolkit.desk);
        if let Some(entity) = desk.mirror.settle(newcomer.token) {
            desk.wishes.ends.push(EndSessionRequest {
                entity,
                reason: CloseReason::Kick,
                notice: KickReason::parse("login failed").ok(),
            });
        }
    }

    /// What was kept of somebody who left while it waited goes with it.
    pub(crate) fn forget_newcomer(&mut self, player: Player) {
        self.forget(player);
    }

    fn take_pickup(&self, name: &ResourceName, thing: ThingId) {
        use decitick_components::requests::ThingRequest;
        let mut desk = lock(&self.toolkit.desk);
        let request = ThingRequest::Destroy(thing);
        desk.mirror.play_thing(&request);
        desk.wishes.things.push(request);
        if let Some(office) = desk.offices.get_mut(name) {
            office.things.remove(&thing);
        }
    }

    /// Everybody was told.
    fn finish(&mut self, happened: Happened) {
        match happened {
            Happened::Said { connection, text, .. } => self.spoken.push(Spoken { connection, text }),
            Happened::Disconnected(player, _) => self.forget(player),
            _ => {}
        }
    }

    fn finish_swallowed(&mut self, happened: Happened) {
        if let Happened::Disconnected(player, _) = happened {
            self.forget(player);
        }
    }

    /// What was kept of a player goes when everybody knows that it left.
    fn forget(&mut self, player: Player) {
        let mut desk = lock(&self.toolkit.desk);
        desk.mirror.departed.remove(&player.token);
        let names: Vec<ResourceName> = desk.offices.keys().cloned().collect();
        drop(desk);
        for name in names {
            self.freed(&name, |office| {
                office.notes.remove(&player.token);
            });
        }
    }

    fn call_back(&mut self, waiting: Pending) -> Option<Pending> {
        let Pending::Callback {
            resource,
            instance,
            callback,
            answer,
            timer,
        } = waiting
        else {
            return None;
        };
        let running = self.instances.get(&resource);
        let paused = running.filter(|running| running.number == instance)?.paused;
        if !paused && self.budget.share(Turn::Script).is_none() {
            return Some(Pending::Callback {
                resource,
                instance,
                callback,
                answer,
                timer,
            });
        }
        let stands = timer.is_none_or(|timer| self.timer_stands(&resource, timer));
        if !paused && stands {
            if let Some(timer) = timer {
                self.timer_goes_off(&resource, timer);
            }
            // A failure was told of; the timer or the answer is done either way.
            let _ = self.call(
                &resource,
                Turn::Script,
                Target::Callback(&callback),
                || answer.values(),
                |_, _| Ok(()),
            );
        }
        let bytes = answer.bytes();
        self.freed(&resource, |office| {
            drop(callback);
            if timer.is_none() {
                office.settle(bytes);
            }
        });
        None
    }

    /// Calls `tick` of every resource that has it.
    pub(crate) fn tick(&mut self, passed: std::time::Duration) {
        const LONGEST: std::time::Duration = std::time::Duration::from_secs(1);
        self.owes_ticks = false;
        for name in self.order.clone() {
            let Some(instance) = self.instances.get_mut(&name).filter(|it| it.answers("tick")) else {
                continue;
            };
            instance.unticked = instance.unticked.saturating_add(passed).min(LONGEST);
            let dt = instance.unticked.as_secs_f64();
            let called = self.call(
                &name,
                Turn::Script,
                Target::Handler("tick"),
                || vec![dt.into()],
                |_, _| Ok(()),
            );
            if called == Err(Failure::NotNow) {
                self.owes_ticks = true;
            } else if let Some(instance) = self.instances.get_mut(&name) {
                instance.unticked = std::time::Duration::ZERO;
            }
        }
    }

    /// Runs the scripts' step of a tick: what waits, and `tick`; who came too late in the last tick comes first.
    pub(crate) fn run(&mut self, passed: std::time::Duration) {
        if self.owes_ticks {
            self.tick(passed);
            self.work_off();
        } else {
            self.work_off();
            self.tick(passed);
        }
    }

    /// The last turn: everything that waits, within a few ticks' worth of time.
    pub(crate) fn run_to_the_end(&mut self) {
        const TURNS: usize = 5;
        for _ in 0..TURNS {
            self.budget.refill();
            // Nobody is there to read it.
            self.spoken.clear();
            self.work_off();
        }
    }
}

/// Whether the kind of a thing has a handler of its own.
pub(crate) const fn is_pickup(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Pickup)
}
