//! Changes of the ban list on their way to disk, as data: what waits, what is being written, what was settled.
//!
//! It writes nothing itself; a system hands lists to a worker and brings them into force (docs/protocol.md 1.6).

use crate::inspection::summary;
use bevy_ecs::resource::Resource;

use crate::bans::{Ban, BanList, BanRange};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BanChange {
    /// Adds a ban, or replaces the one of the same range.
    Ban(Ban),
    /// Lifts the ban of exactly this range.
    Unban(BanRange),
}

/// Who wants to know what became of a change: the console request it came from.
pub type Asker = u64;

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Who asked.
    pub asker: Asker,
    /// The change.
    pub change: BanChange,
    /// Whether it is on disk and in force, or why not.
    pub result: Result<(), String>,
}

/// Changes that wait, and those that are being written.
#[derive(Resource, Debug, Default)]
pub struct BanChanges {
    waiting: Vec<(Asker, BanChange)>,
    writing: Option<Writing>,
    settled: Vec<Settled>,
    requests: u64,
}

#[derive(Debug)]
struct Writing {
    request: u64,
    list: BanList,
    changes: Vec<(Asker, BanChange)>,
    result: Option<Result<(), String>>,
}

impl BanChanges {
    /// Queues a change. What became of it is in [`BanChanges::take_settled`] some ticks later.
    pub fn request(&mut self, asker: Asker, change: BanChange) {
        self.waiting.push((asker, change));
    }

    /// The worker wrote the list of `request`, or could not.
    pub fn saved(&mut self, request: u64, result: Result<(), String>) {
        if let Some(writing) = &mut self.writing
            && writing.request == request
        {
            writing.result = Some(result);
        }
    }

    /// The list to write next, with the number of its request: `current` without what has ended, and everything
    /// that waits applied. `None` while another list is being written, or when nothing waits.
    pub fn start_writing(&mut self, current: &BanList, now_unix: u64) -> Option<(u64, BanList)> {
        if self.writing.is_some() || self.waiting.is_empty() {
            return None;
        }
        let mut list = current.clone();
        list.prune(now_unix);
        let changes = std::mem::take(&mut self.waiting);
        for (_, change) in &changes {
            apply(&mut list, change);
        }
        self.requests += 1;
        self.writing = Some(Writing {
            request: self.requests,
            list: list.clone(),
            changes,
            result: None,
        });
        Some((self.requests, list))
    }

    /// The list and the bans that are in force now, if a write succeeded since the last call. What became of each
    /// change, of a failed write too, is in [`BanChanges::take_settled`] from now on.
    pub fn finish_writing(&mut self) -> Option<(BanList, Vec<Ban>)> {
        let writing = self.writing.take_if(|writing| writing.result.is_some())?;
        let result = writing.result?;
        let mut bans = Vec::new();
        for (asker, change) in writing.changes {
            if let BanChange::Ban(ban) = &change {
                bans.push(ban.clone());
            }
            self.settled.push(Settled {
                asker,
                change,
                result: result.clone(),
            });
        }
        result.is_ok().then_some((writing.list, bans))
    }

    /// What was settled since the last call.
    pub fn take_settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// Whether exactly this range will be banned once everything that was asked for is in force; by it an unban is
    /// judged.
    #[must_use]
    pub fn will_hold(&self, range: BanRange, current: &BanList) -> bool {
        let newest = self.waiting.iter().rev().find_map(|(_, change)| match change {
            BanChange::Ban(ban) => (ban.range == range).then_some(true),
            BanChange::Unban(lifted) => (*lifted == range).then_some(false),
        });
        let settled = self.writing.as_ref().map_or(current, |writing| &writing.list);
        newest.unwrap_or_else(|| settled.iter().any(|ban| ban.range == range))
    }
}

fn apply(list: &mut BanList, change: &BanChange) {
    match change {
        BanChange::Ban(ban) => {
            list.insert(ban.clone());
        }
        BanChange::Unban(range) => {
            list.remove(*range);
        }
    }
}

summary!(|changes: BanChanges| {
    waiting: usize = changes.waiting.len(),
    writing: bool = changes.writing.is_some(),
    settled: usize = changes.settled.len(),
    requests: u64 = changes.requests,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bans::BanReason;

    fn ban(range: &str) -> BanChange {
        let range = BanRange::parse(range).unwrap();
        BanChange::Ban(Ban {
            range,
            reason: BanReason::parse("cheat").unwrap(),
            expiry: None,
        })
    }

    fn finds(list: &BanList, ip: &str) -> bool {
        list.find(ip.parse().unwrap(), 0).is_some()
    }

    #[test]
    fn what_is_asked_for_counts_before_it_is_written() {
        let mut changes = BanChanges::default();
        changes.request(1, ban("192.0.2.1"));
        changes.start_writing(&BanList::default(), 0).unwrap();
        changes.request(2, ban("192.0.2.2"));
        changes.request(3, BanChange::Unban(BanRange::parse("192.0.2.1").unwrap()));
        let holds = |range| changes.will_hold(BanRange::parse(range).unwrap(), &BanList::default());
        assert!(!holds("192.0.2.1") && holds("192.0.2.2") && !holds("192.0.2.3"));
    }

    #[test]
    fn a_change_counts_only_once_it_is_on_disk() {
        let mut changes = BanChanges::default();
        changes.request(1, ban("192.0.2.1"));
        let (request, list) = changes.start_writing(&BanList::default(), 0).unwrap();
        assert!(finds(&list, "192.0.2.1"));
        assert!(changes.finish_writing().is_none());
        changes.saved(request + 1, Ok(()));
        assert!(changes.finish_writing().is_none(), "an answer to another request");
        changes.saved(request, Ok(()));
        let (_, bans) = changes.finish_writing().unwrap();
        assert_eq!(bans.len(), 1);
        assert_eq!(changes.take_settled()[0].result, Ok(()));
    }

    #[test]
    fn a_failed_write_changes_nothing_and_says_why() {
        let mut changes = BanChanges::default();
        changes.request(7, ban("192.0.2.1"));
        let (request, _) = changes.start_writing(&BanList::default(), 0).unwrap();
        changes.saved(request, Err("disk full".to_owned()));
        assert!(changes.finish_writing().is_none());
        let settled = changes.take_settled();
        assert_eq!(
            (settled[0].asker, settled[0].result.clone()),
            (7, Err("disk full".to_owned()))
        );
        assert!(changes.start_writing(&BanList::default(), 0).is_none());
    }

    #[test]
    fn changes_that_come_during_a_write_are_written_together() {
        let mut changes = BanChanges::default();
        changes.request(1, ban("192.0.2.1"));
        let (request, list) = changes.start_writing(&BanList::default(), 0).unwrap();
        changes.request(2, ban("192.0.2.2"));
        changes.request(3, ban("192.0.2.3"));
        assert!(changes.start_writing(&list, 0).is_none());
        changes.saved(request, Ok(()));
        let (list, _) = changes.finish_writing().unwrap();
        let (_, list) = changes.start_writing(&list, 0).unwrap();
        assert_eq!(list.len(), 3);
    }
}
