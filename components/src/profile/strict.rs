//! The strict name policy: no invisible fillers, no unnormalised twins, no look-alikes.

use unicode_normalization::{UnicodeNormalization, is_nfkc};
use unicode_security::skeleton;

use super::StrictFault;

/// Characters that are letters or symbols to Unicode and show as nothing or as a blank.
const FILLERS: &[char] = &[
    '\u{034F}',
    '\u{115F}',
    '\u{1160}',
    '\u{17B4}',
    '\u{17B5}',
    '\u{180B}',
    '\u{180C}',
    '\u{180D}',
    '\u{180F}',
    '\u{2800}',
    '\u{3164}',
    '\u{FFA0}',
    '\u{FFFC}',
    '\u{1D159}',
];

/// Refuses what shows as nothing and what has a normalised twin.
pub(super) fn judge(name: &str) -> Result<(), StrictFault> {
    let invisible = |c: char| {
        FILLERS.contains(&c)
            || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' | '\u{2060}'..='\u{206F}')
    };
    if name.chars().any(invisible) {
        return Err(StrictFault::InvisibleFiller);
    }
    if !is_nfkc(name) {
        return Err(StrictFault::NotNormalised);
    }
    Ok(())
}

/// The key under which names compare: the skeleton of the folded, normalised name, folded once more since a
/// skeleton may bring capitals back.
pub(super) fn key(folded: &str) -> String {
    let normalised: String = folded.nfkc().collect();
    skeleton(&normalised).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_unnormalised_names_are_refused() {
        assert_eq!(judge("abc\u{3164}"), Err(StrictFault::InvisibleFiller));
        assert_eq!(judge("ab\u{FE0F}c"), Err(StrictFault::InvisibleFiller));
        assert_eq!(judge("e\u{301}tienne"), Err(StrictFault::NotNormalised));
        assert_eq!(judge("\u{FF21}bc"), Err(StrictFault::NotNormalised));
        assert_eq!(judge("Étienne Петров"), Ok(()));
    }

    #[test]
    fn names_that_look_alike_share_a_key() {
        assert_eq!(key("paypal"), key("раураl"));
        assert_ne!(key("anna"), key("anne"));
    }
}
