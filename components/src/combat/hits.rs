//! The ledger of claimed hits: each either counts or is refused for exactly one reason.

use crate::inspection::summary;
use bevy_ecs::resource::Resource;
use std::collections::BTreeMap;

use crate::reasons::named_reasons;

named_reasons! {
    /// Why a HitReport does not count (docs/protocol.md 2.5), in about the order in which it is judged.
    HitRefusal {
        /// The report is older than a second, or than the attacker's last spawn or teleport.
        Outdated = "outdated",
        /// The attacker has no body, or a dead one.
        AttackerDown = "attacker_down",
        /// Nobody holds the target's id.
        NoSuchTarget = "no_such_target",
        /// The target's generation is not the live one.
        StaleTarget = "stale_target",
        /// Attacker and target are the same.
        Oneself = "oneself",
        /// The target has no body, or a dead one.
        TargetDown = "target_down",
        /// They are in different areas.
        OtherArea = "other_area",
        /// They are in different dimensions.
        OtherDimension = "other_dimension",
        /// The weapon is not in the weapon table.
        UnknownWeapon = "unknown_weapon",
        /// The attacker does not hold the weapon.
        WeaponNotHeld = "weapon_not_held",
        /// The attacker changed its area less than a second before.
        JustArrived = "just_arrived",
        /// The origin of the shot is more than 5 m from the attacker.
        OriginTooFar = "origin_too_far",
        /// The hit is more than 3 m from where the target was shown to the attacker.
        MissedTarget = "missed_target",
        /// The hit is beyond the weapon's range.
        OutOfRange = "out_of_range",
        /// The weapon needs ammunition and has none.
        NoAmmunition = "no_ammunition",
        /// More hits than the weapon can have fired.
        NoCredit = "no_credit",
        /// The gamemode cancelled the damage.
        Cancelled = "cancelled",
    }
}

/// How many claimed hits counted, and how many were refused for which reason.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
pub struct HitTally {
    /// Hits that counted.
    pub counted: u64,
    refused: [u64; HitRefusal::ALL.len()],
}

impl Default for HitTally {
    fn default() -> Self {
        Self {
            counted: 0,
            refused: [0; HitRefusal::ALL.len()],
        }
    }
}

impl HitTally {
    /// Counts a refusal.
    pub fn refuse(&mut self, reason: HitRefusal) {
        if let Some(count) = self.refused.get_mut(reason as usize) {
            *count += 1;
        }
    }

    /// How often a hit was refused for this reason.
    #[must_use]
    pub fn refused(&self, reason: HitRefusal) -> u64 {
        self.refused.get(reason as usize).copied().unwrap_or(0)
    }

    /// Each reason with its count, zeros left out.
    pub fn nonzero(&self) -> impl Iterator<Item = (HitRefusal, u64)> {
        HitRefusal::ALL
            .iter()
            .map(|&reason| (reason, self.refused(reason)))
            .filter(|&(_, count)| count > 0)
    }
}

summary!(|tally: HitTally| {
    counted: u64 = tally.counted,
    refused: BTreeMap<String, u64> = tally
        .nonzero()
        .map(|(reason, count)| (reason.name().to_owned(), count))
        .collect(),
});
