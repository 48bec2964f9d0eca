//! Rows that know when they changed, and what somebody was told of them.
//!
//! A table is filled in samples, numbered from 1. Whoever is told of it keeps a [`Cursor`]: everything up to a sample was
//! told, and where a telling stands that did not fit into one event. So no row is kept twice, however many look.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    ops::Bound,
};

use bevy_ecs::entity::Entity;

use super::super::json;

/// Samples for which a table knows which rows went, and how many rows at most. Who was told nothing for longer is told
/// everything anew.
const REMEMBERED: u64 = 60;
const REMEMBERED_ROWS: usize = 20_000;

/// What names a row.
pub(super) trait Key: Ord + Clone {
    /// Writes it as JSON.
    fn write(&self, out: &mut String);
}

impl Key for Entity {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "\"{self}\"");
    }
}

impl Key for String {
    fn write(&self, out: &mut String) {
        out.push_str(&json::string(self));
    }
}

/// What a row says.
pub(super) trait Facts: PartialEq {
    /// Writes its columns after the key as JSON, a comma before each.
    fn write(&self, out: &mut String);

    /// Whether it differs in nothing but what [`Facts::write_move`] writes.
    fn only_moved(&self, _before: &Self) -> bool {
        false
    }

    /// Writes what a row that only moved has after its key, a comma before each.
    fn write_move(&self, _out: &mut String) {}
}

/// The rows of one subject.
#[derive(Debug)]
pub(super) struct Table<K, F> {
    rows: BTreeMap<K, Row<F>>,
    /// Rows that went, by the sample that did not have them any more.
    gone: VecDeque<(u64, K)>,
    /// How many rows that went were forgotten: the first of `gone` has this number.
    forgotten: u64,
    sample: u64,
}

#[derive(Debug)]
struct Row<F> {
    facts: F,
    /// The sample with which more than its place changed.
    whole: u64,
    /// The sample with which anything changed.
    changed: u64,
    /// The last sample that had it.
    seen: u64,
}

impl<K, F> Default for Table<K, F> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            gone: VecDeque::new(),
            forgotten: 0,
            sample: 0,
        }
    }
}

impl<K: Key, F: Facts> Table<K, F> {
    /// Takes in a sample: all rows there are now.
    pub(super) fn take(&mut self, rows: impl Iterator<Item = (K, F)>) {
        self.sample += 1;
        let sample = self.sample;
        for (key, facts) in rows {
            match self.rows.get_mut(&key) {
                Some(row) => {
                    row.seen = sample;
                    if row.facts != facts {
                        row.changed = sample;
                        if !facts.only_moved(&row.facts) {
                            row.whole = sample;
                        }
                        row.facts = facts;
                    }
                }
                None => {
                    let row = Row {
                        facts,
                        whole: sample,
                        changed: sample,
                        seen: sample,
                    };
                    self.rows.insert(key, row);
                }
            }
        }
        let gone = self.rows.extract_if(.., |_, row| row.seen != sample);
        self.gone.extend(gone.map(|(key, _)| (sample, key)));
        while self.gone.len() > REMEMBERED_ROWS
            || self
                .gone
                .front()
                .is_some_and(|(went, _)| went + REMEMBERED < sample)
        {
            self.gone.pop_front();
            self.forgotten += 1;
        }
    }

    /// How many rows went since the table was made.
    fn went(&self) -> u64 {
        self.forgotten + self.gone.len() as u64
    }
}

/// What somebody was told of a table.
#[derive(Debug)]
pub(super) struct Cursor<K> {
    /// Everything up to this sample was told; 0: nothing.
    told: u64,
    /// How many of the rows that went were told; nothing before the first telling.
    gone: Option<u64>,
    /// A telling that did not fit: up to which sample it tells, and the last row that was told.
    pending: Option<(u64, K)>,
}

impl<K> Default for Cursor<K> {
    fn default() -> Self {
        Self {
            told: 0,
            gone: None,
            pending: None,
        }
    }
}

impl<K: Key> Cursor<K> {
    /// The members of a JSON map that tell what is new, each with a comma before it; empty when nothing is. About `room`
    /// bytes at most.
    pub(super) fn news<F: Facts>(&mut self, table: &Table<K, F>, room: usize) -> String {
        let mut news = String::new();
        let gone = self.gone.filter(|&told| told >= table.forgotten);
        let all_gone = match gone {
            Some(told) => {
                let (told, all) = tell_gone(table, told, room, &mut news);
                self.gone = Some(told);
                all
            }
            None => {
                *self = Self {
                    gone: Some(table.went()),
                    ..Self::default()
                };
                news.push_str(",\"reset\":true");
                true
            }
        };
        let all_rows = self.tell_rows(table, room, &mut news);
        if !(all_gone && all_rows) {
            news.push_str(",\"more\":true");
        }
        news
    }

    /// Whether that was all.
    fn tell_rows<F: Facts>(&mut self, table: &Table<K, F>, room: usize, news: &mut String) -> bool {
        let (target, from) = match self.pending.take() {
            Some((target, last)) => (target, Bound::Excluded(last)),
            None => (table.sample, Bound::Unbounded),
        };
        let (mut rows, mut moves) = (String::new(), String::new());
        let mut last = None;
        for (key, row) in table.rows.range((from, Bound::Unbounded)) {
            if row.changed <= self.told {
                continue;
            }
            if news.len() + rows.len() + moves.len() >= room
                && let Some(last) = last
            {
                self.pending = Some((target, last));
                break;
            }
            let whole = row.whole > self.told;
            let out = if whole { &mut rows } else { &mut moves };
            out.push_str(if out.is_empty() { "[" } else { ",[" });
            key.write(out);
            if whole {
                row.facts.write(out);
            } else {
                row.facts.write_move(out);
            }
            out.push(']');
            last = Some(key.clone());
        }
        for (name, list) in [("rows", rows), ("moves", moves)] {
            if !list.is_empty() {
                let _ = write!(news, ",\"{name}\":[{list}]");
            }
        }
        let all = self.pending.is_none();
        if all {
            self.told = target;
        }
        all
    }
}

/// Tells which rows went after the first `told` of them: how many are told now, and whether that was all.
fn tell_gone<K: Key, F: Facts>(
    table: &Table<K, F>,
    mut told: u64,
    room: usize,
    news: &mut String,
) -> (u64, bool) {
    let begin = usize::try_from(told - table.forgotten)
        .unwrap_or(usize::MAX)
        .min(table.gone.len());
    let mut list = String::new();
    for (_, key) in table.gone.range(begin..) {
        // One always fits, so that it goes on.
        if !list.is_empty() && list.len() >= room / 2 {
            break;
        }
        told += 1;
        // What came back since is there.
        if !table.rows.contains_key(key) {
            list.push(if list.is_empty() { '[' } else { ',' });
            key.write(&mut list);
        }
    }
    if !list.is_empty() {
        let _ = write!(news, ",\"gone\":{list}]");
    }
    (told, told == table.went())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Word(String, i32);

    impl Facts for Word {
        fn write(&self, out: &mut String) {
            let _ = write!(out, ",{},{}", json::string(&self.0), self.1);
        }

        fn only_moved(&self, before: &Self) -> bool {
            self.0 == before.0
        }

        fn write_move(&self, out: &mut String) {
            let _ = write!(out, ",{}", self.1);
        }
    }

    type Rows = BTreeMap<String, Word>;

    fn rows(rows: &[(&str, &str, i32)]) -> Rows {
        rows.iter()
            .map(|(key, word, place)| ((*key).to_owned(), Word((*word).to_owned(), *place)))
            .collect()
    }

    fn take(table: &mut Table<String, Word>, rows: &Rows) {
        table.take(rows.iter().map(|(key, facts)| (key.clone(), facts.clone())));
    }

    fn told(cursor: &mut Cursor<String>, table: &Table<String, Word>, room: usize) -> Value {
        let news = cursor.news(table, room);
        let map = format!("{{{}}}", news.strip_prefix(',').unwrap_or(&news));
        serde_json::from_str(&map).unwrap()
    }

    /// What a page does with what it is told.
    fn apply(shown: &mut Rows, news: &Value) {
        if news["reset"] == true {
            shown.clear();
        }
        for key in news["gone"].as_array().into_iter().flatten() {
            shown.remove(key.as_str().unwrap());
        }
        for row in news["rows"].as_array().into_iter().flatten() {
            let word = Word(
                row[1].as_str().unwrap().to_owned(),
                row[2].as_i64().unwrap() as i32,
            );
            shown.insert(row[0].as_str().unwrap().to_owned(), word);
        }
        for row in news["moves"].as_array().into_iter().flatten() {
            let moved = shown
                .get_mut(row[0].as_str().unwrap())
                .expect("it was told whole before");
            moved.1 = row[1].as_i64().unwrap() as i32;
        }
    }

    #[test]
    fn the_first_telling_is_everything_and_the_next_is_what_changed() {
        let (mut table, mut cursor) = (Table::default(), Cursor::default());
        take(&mut table, &rows(&[("a", "x", 1), ("b", "y", 2), ("c", "z", 3)]));
        assert_eq!(
            told(&mut cursor, &table, 9_999),
            json!({"reset": true, "rows": [["a", "x", 1], ["b", "y", 2], ["c", "z", 3]]})
        );
        assert_eq!(told(&mut cursor, &table, 9_999), json!({}));
        take(&mut table, &rows(&[("a", "x", 1), ("b", "y", 5), ("d", "w", 4)]));
        assert_eq!(
            told(&mut cursor, &table, 9_999),
            json!({"gone": ["c"], "rows": [["d", "w", 4]], "moves": [["b", 5]]})
        );
    }

    #[test]
    fn what_does_not_fit_comes_with_the_next_telling_and_says_so() {
        let (mut table, mut cursor) = (Table::default(), Cursor::default());
        let all = rows(&[("a", "x", 1), ("b", "y", 2), ("c", "z", 3)]);
        take(&mut table, &all);
        let mut shown = Rows::new();
        for turn in 0..3 {
            let news = told(&mut cursor, &table, 0);
            assert_eq!(news["rows"].as_array().unwrap().len(), 1, "one row always fits");
            assert_eq!(news["more"] == true, turn < 2);
            apply(&mut shown, &news);
        }
        assert_eq!(shown, all);
    }

    #[test]
    fn who_was_told_nothing_for_long_is_told_everything_anew() {
        let (mut table, mut cursor) = (Table::default(), Cursor::default());
        take(&mut table, &rows(&[("a", "x", 1), ("b", "y", 2)]));
        told(&mut cursor, &table, 9_999);
        for _ in 0..REMEMBERED + 2 {
            take(&mut table, &rows(&[("b", "y", 2)]));
        }
        assert_eq!(
            told(&mut cursor, &table, 9_999),
            json!({"reset": true, "rows": [["b", "y", 2]]})
        );
        assert!(table.gone.len() <= 1);
    }

    #[test]
    fn rows_that_went_are_told_within_the_room_too() {
        let (mut table, mut cursor) = (Table::default(), Cursor::default());
        let all: Rows = (0..500)
            .map(|n| (format!("{n:03}"), Word("x".to_owned(), n)))
            .collect();
        let mut shown = Rows::new();
        take(&mut table, &all);
        apply(&mut shown, &told(&mut cursor, &table, 99_999));
        take(&mut table, &Rows::new());
        let mut tellings = 0;
        while !shown.is_empty() {
            let news = told(&mut cursor, &table, 1_000);
            assert!(news.to_string().len() < 1_100, "{news}");
            assert_eq!(
                news["more"] == true,
                news["gone"].as_array().unwrap().len() < shown.len()
            );
            apply(&mut shown, &news);
            tellings += 1;
        }
        assert!(tellings > 4, "{tellings}");
        for sample in 0..50 {
            let many: Rows = (0..900)
                .map(|n| (format!("{sample}/{n}"), Word("x".to_owned(), n)))
                .collect();
            take(&mut table, &many);
        }
        assert!(table.gone.len() <= REMEMBERED_ROWS);
        assert_eq!(told(&mut cursor, &table, 99)["reset"], true);
    }

    proptest! {
        #[test]
        fn whoever_is_told_all_along_sees_what_there_is(
            samples in prop::collection::vec(
                prop::collection::btree_map("[a-h]", ("[xy]", 0..3i32), 0..8), 1..40),
            rooms in prop::collection::vec(0..120usize, 1..7),
            skips in prop::collection::vec(any::<bool>(), 1..5),
        ) {
            let (mut table, mut cursor, mut shown) = (Table::default(), Cursor::default(), Rows::new());
            let mut last = Rows::new();
            for (turn, sample) in samples.into_iter().enumerate() {
                last = sample.into_iter().map(|(key, (word, place))| (key, Word(word, place))).collect();
                take(&mut table, &last);
                if !skips[turn % skips.len()] {
                    apply(&mut shown, &told(&mut cursor, &table, rooms[turn % rooms.len()]));
                }
            }
            // At rest the rest comes: one telling to end what is under way, one for what changed before it.
            for _ in 0..40 {
                apply(&mut shown, &told(&mut cursor, &table, 0));
            }
            prop_assert_eq!(shown, last);
        }
    }
}
