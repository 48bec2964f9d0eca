//! What a test looks at, and the console.

use std::net::SocketAddr;

use bevy_ecs::entity::Entity;
use decitick_components::{
    clock::Clock,
    console::{ConsoleAnswer, ConsoleInbox, ConsoleOutbox, ConsoleRequest},
    lane::{LaneEvent, OutboundLane},
    reasons::DropReason,
    session::{PlayerId, SlotTable},
    tally::Tally,
};
use decitick_protocol::ServerLaneEvent;

use super::Sim;

impl Sim {
    pub(crate) fn tick_number(&self) -> u64 {
        self.app.world().resource::<Clock>().tick
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.app.world().resource::<Tally>()
    }

    /// How often a datagram was dropped for a reason, at the door and in the tick.
    pub(crate) fn dropped(&self, reason: DropReason) -> u64 {
        self.tally().all_drops().count(reason)
    }

    /// The datagrams the last tick sent to an address, signed.
    pub(crate) fn sent_to(&self, to: SocketAddr) -> Vec<&[u8]> {
        self.sent_this_tick
            .iter()
            .filter(|(peer, _)| *peer == to)
            .map(|(_, bytes)| bytes.as_slice())
            .collect()
    }

    /// Everything the last tick sent.
    pub(crate) fn sent(&self) -> &[(SocketAddr, Vec<u8>)] {
        &self.sent_this_tick
    }

    pub(crate) fn slots_taken(&self) -> u16 {
        self.app.world().resource::<SlotTable>().taken()
    }

    /// The connection that holds an id.
    pub(crate) fn entity(&self, player: u16) -> Option<Entity> {
        self.app.world().resource::<SlotTable>().holder(PlayerId(player))
    }

    /// A component of the connection that holds an id.
    pub(crate) fn component<T: bevy_ecs::component::Component>(&self, player: u16) -> &T {
        let entity = self.entity(player).expect("the id is taken");
        self.app
            .world()
            .get::<T>(entity)
            .expect("every connection has it")
    }

    /// Queues an event on the lane of a connection, as any system may.
    pub(crate) fn push_event(&mut self, player: u16, event: &ServerLaneEvent, droppable: bool) {
        let entity = self.entity(player).expect("the id is taken");
        let mut datagram = Vec::new();
        event.encode(0, &mut datagram);
        let mut lane = self
            .app
            .world_mut()
            .get_mut::<OutboundLane>(entity)
            .expect("every connection has a lane");
        // A full lane remembers that it is.
        let _ = lane.push(LaneEvent {
            datagram: datagram.into(),
            droppable,
        });
    }

    /// Runs a console line; its answer comes within half a second.
    pub(crate) fn console(&mut self, line: &str) -> ConsoleAnswer {
        let id = self.console_later(line);
        for _ in 0..5 {
            self.tick();
            if let Some(answer) = self.console_answer(id) {
                return answer;
            }
        }
        panic!("no answer to the console line {line:?}");
    }

    /// Puts a console line before the coming tick. Returns the id of its answer.
    pub(crate) fn console_later(&mut self, line: &str) -> u64 {
        self.console_requests += 1;
        let request = ConsoleRequest {
            id: self.console_requests,
            line: line.to_owned(),
        };
        self.app
            .world_mut()
            .resource_mut::<ConsoleInbox>()
            .0
            .push_back(request);
        self.console_requests
    }

    /// Takes the answer with this id, if it is there.
    pub(crate) fn console_answer(&mut self, id: u64) -> Option<ConsoleAnswer> {
        let answers = &mut self.app.world_mut().resource_mut::<ConsoleOutbox>().0;
        let place = answers.iter().position(|answer| answer.id == id)?;
        Some(answers.swap_remove(place))
    }
}
