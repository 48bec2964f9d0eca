//! Which players or things a viewer ought to see: the nearest of its space within the radius, with enough hysteresis
//! that nobody flickers at the edge (docs/protocol.md 2.4).

use decitick_components::{
    body::{Space, distance_squared},
    grid::Grid,
};
use decitick_protocol::Vec3;

/// Somebody in view leaves past this many radii.
const LEAVE_RADII: f32 = 1.1;
/// Somebody in view leaves a full view when this many nearer ones wait.
const NEARER_WAITING: usize = 4;

/// One that can be seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Member<Id> {
    pub(super) id: Id,
    pub(super) space: Space,
    pub(super) position: Vec3,
}

/// Where a viewer looks from, and how far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewpoint<Id> {
    /// The viewer itself, whom it does not see.
    pub(super) own: Option<Id>,
    pub(super) space: Space,
    pub(super) position: Vec3,
    /// Metres.
    pub(super) radius: f32,
    /// The most in view.
    pub(super) limit: usize,
}

/// The changes of a view, and storage that is used again for the next one.
#[derive(Debug)]
pub(super) struct Choice<Id> {
    /// Who must leave.
    pub(super) leave: Vec<Id>,
    /// Who takes a free place, nearest first.
    pub(super) enter: Vec<Id>,
    /// Who gives its place (the first) to one that is nearer (the second).
    pub(super) swaps: Vec<(Id, Id)>,
    staying: Vec<(u32, Id)>,
    waiting: Vec<(u32, Id)>,
    in_view: Vec<bool>,
}

impl<Id> Default for Choice<Id> {
    fn default() -> Self {
        Self {
            leave: Vec::new(),
            enter: Vec::new(),
            swaps: Vec::new(),
            staying: Vec::new(),
            waiting: Vec::new(),
            in_view: Vec::new(),
        }
    }
}

impl<Id: Copy + Ord> Choice<Id> {
    /// Decides the changes of a view that holds `view`. The items of `grid` are indices of `members`, and `find` gives the
    /// index of an id.
    pub(super) fn decide(
        &mut self,
        viewer: &Viewpoint<Id>,
        view: &[Id],
        members: &[Member<Id>],
        grid: &Grid,
        find: impl Fn(Id) -> Option<usize>,
    ) {
        self.keep(viewer, view, members, &find);
        self.gather(viewer, members, grid);
        for &id in view {
            if let Some(mark) = find(id).and_then(|index| self.in_view.get_mut(index)) {
                *mark = false;
            }
        }
        self.fill(viewer.limit);
        self.swap_farthest();
    }

    /// Who is in view stays within 1.1 radii and leaves otherwise.
    fn keep(
        &mut self,
        viewer: &Viewpoint<Id>,
        view: &[Id],
        members: &[Member<Id>],
        find: &impl Fn(Id) -> Option<usize>,
    ) {
        let most = (viewer.radius * LEAVE_RADII).powi(2);
        self.leave.clear();
        self.enter.clear();
        self.swaps.clear();
        self.staying.clear();
        self.waiting.clear();
        self.in_view.resize(members.len(), false);
        for &id in view {
            let index = find(id);
            if let Some(mark) = index.and_then(|index| self.in_view.get_mut(index)) {
                *mark = true;
            }
            let distance = index
                .and_then(|index| members.get(index))
                .filter(|member| member.space == viewer.space)
                .map(|member| distance_squared(member.position, viewer.position))
                .filter(|distance| *distance <= most);
            match distance {
                Some(distance) => self.staying.push((order(distance), id)),
                None => self.leave.push(id),
            }
        }
    }

    /// Who waits for a place: everybody within the radius, or who is nearer than the farthest when no place is free.
    fn gather(&mut self, viewer: &Viewpoint<Id>, members: &[Member<Id>], grid: &Grid) {
        let Self {
            staying,
            waiting,
            in_view,
            ..
        } = self;
        let farthest = staying.iter().max().filter(|_| staying.len() >= viewer.limit);
        let radius = farthest.map_or(viewer.radius, |&(distance, _)| {
            f32::from_bits(distance).sqrt().min(viewer.radius)
        });
        grid.near(viewer.space, viewer.position, radius, |item, distance| {
            let index = item as usize;
            if let Some(member) = members.get(index)
                && in_view.get(index) == Some(&false)
                && viewer.own != Some(member.id)
            {
                waiting.push((order(distance), member.id));
            }
        });
    }

    /// The nearest that wait take the free places.
    fn fill(&mut self, limit: usize) {
        let room = limit.saturating_sub(self.staying.len());
        if room >= self.waiting.len() {
            self.waiting.sort_unstable();
            self.enter.extend(self.waiting.drain(..).map(|(_, id)| id));
        } else if room > 0 {
            self.waiting.select_nth_unstable(room);
            if let Some(nearest) = self.waiting.get_mut(..room) {
                nearest.sort_unstable();
            }
            self.enter.extend(self.waiting.drain(..room).map(|(_, id)| id));
        }
    }

    /// In a full view the farthest make room for those who wait, as long as enough nearer ones do.
    fn swap_farthest(&mut self) {
        let Some(&farthest) = self.staying.iter().max() else {
            return;
        };
        // Who waits and is not even nearer than the farthest changes nothing; few are left to be sorted.
        self.waiting.retain(|waits| waits.0 < farthest.0);
        if self.waiting.len() < NEARER_WAITING {
            return;
        }
        self.waiting.sort_unstable();
        self.staying.sort_unstable();
        for &(_, nearest) in &self.waiting {
            let Some(&(distance, farthest)) = self.staying.last() else {
                return;
            };
            let nearer = self.waiting.partition_point(|waits| waits.0 < distance);
            if nearer < self.swaps.len() + NEARER_WAITING {
                return;
            }
            self.staying.pop();
            self.swaps.push((farthest, nearest));
        }
    }
}

/// The bits of a float that is not negative order as the float does, and compare exactly.
const fn order(distance: f32) -> u32 {
    distance.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTSIDE: Space = Space {
        dimension: 0,
        area: 0,
    };

    fn member(id: u16, x: f32) -> Member<u16> {
        Member {
            id,
            space: OUTSIDE,
            position: Vec3::new(x, 0.0, 0.0),
        }
    }

    /// What viewer 0, who stands at the origin and sees 100 m, changes: who enters and who leaves, those who swap last.
    fn changes(members: &[Member<u16>], view: &[u16], limit: usize) -> (Vec<u16>, Vec<u16>) {
        let mut grid = Grid::default();
        grid.restart(100.0);
        for (item, member) in (0u32..).zip(members) {
            grid.add(member.space, member.position, item);
        }
        grid.finish();
        let viewer = Viewpoint {
            own: Some(0),
            space: OUTSIDE,
            position: Vec3::ZERO,
            radius: 100.0,
            limit,
        };
        let mut choice = Choice::default();
        for _ in 0..2 {
            // Twice, since nothing of the first time may be left over.
            choice.decide(&viewer, view, members, &grid, |id| {
                members.iter().position(|member| member.id == id)
            });
        }
        let (out, into): (Vec<u16>, Vec<u16>) = choice.swaps.iter().copied().unzip();
        ([choice.enter, into].concat(), [choice.leave, out].concat())
    }

    #[test]
    fn players_enter_at_the_radius_and_leave_past_a_tenth_more() {
        let all = [
            member(0, 0.0),
            member(1, 100.0),
            member(2, 100.5),
            member(3, 109.9),
            member(4, 110.5),
        ];
        assert_eq!(changes(&all, &[3, 4], 10), (vec![1], vec![4]));
    }

    #[test]
    fn the_nearest_enter_first_up_to_the_limit_and_nobody_sees_itself() {
        let all = [member(0, 0.0), member(1, 30.0), member(2, 10.0), member(3, 20.0)];
        assert_eq!(changes(&all, &[], 2).0, [2, 3]);
        assert_eq!(changes(&all, &[], 3).0, [2, 3, 1]);
        assert_eq!(changes(&all, &[], 0).0, [0; 0]);
    }

    #[test]
    fn a_full_view_gives_way_only_when_four_nearer_ones_wait() {
        let mut all = vec![
            member(0, 0.0),
            member(1, 50.0),
            member(2, 60.0),
            member(3, 10.0),
            member(4, 11.0),
            member(5, 12.0),
        ];
        assert_eq!(changes(&all, &[1, 2], 2), (vec![], vec![]));
        all.push(member(6, 13.0));
        assert_eq!(changes(&all, &[1, 2], 2), (vec![3], vec![2]));
        all.push(member(7, 14.0));
        assert_eq!(changes(&all, &[1, 2], 2), (vec![3, 4], vec![2, 1]));
        all.push(member(8, 55.0));
        assert_eq!(
            changes(&all, &[1, 2], 2),
            (vec![3, 4], vec![2, 1]),
            "one farther than the farthest left counts for nobody"
        );
    }

    #[test]
    fn another_space_is_another_world() {
        let elsewhere = Member {
            space: Space { area: 1, ..OUTSIDE },
            ..member(1, 1.0)
        };
        let beside = Member {
            space: Space {
                dimension: 1,
                ..OUTSIDE
            },
            ..member(2, 1.0)
        };
        let all = [member(0, 0.0), elsewhere, beside];
        assert_eq!(changes(&all, &[1, 2], 9), (vec![], vec![1, 2]));
    }

    #[test]
    fn whoever_is_not_there_any_more_leaves() {
        assert_eq!(changes(&[member(0, 0.0)], &[7], 9), (vec![], vec![7]));
    }
}
