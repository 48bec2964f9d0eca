//! The VALUE of `set`: RON, or a bare word that stands for a text or a variant.

use std::time::Duration;

use bevy_reflect::{
    PartialReflect, ReflectMut,
    enums::{DynamicEnum, DynamicVariant},
};
use decitick_components::console::Shown;
use decitick_protocol::{Vec3, escape_for_display, is_control_or_format};

use super::Found;

/// A value as it was written, without blanks around it.
#[derive(Clone, Copy)]
pub(super) struct Given<'a>(pub(super) &'a str);

impl Given<'_> {
    /// For an answer.
    pub(super) fn shown(self) -> String {
        escape_for_display(self.0, 64)
    }

    /// A whole number between two, both included.
    pub(super) fn whole<T>(self, least: T, most: T) -> Found<T>
    where
        T: TryFrom<i128> + Copy + Into<i128>,
    {
        let (least, most): (i128, i128) = (least.into(), most.into());
        let number = self.0.replace('_', "").parse::<i128>().ok();
        number
            .filter(|number| (least..=most).contains(number))
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("{} is no whole number from {least} to {most}", self.shown()))
    }

    /// A finite number.
    pub(super) fn number(self) -> Found<f64> {
        let number = self.0.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("{} is no number", self.shown()))
    }

    pub(super) fn single(self) -> Found<f32> {
        let number = self.number()? as f32;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(format!("{} is too large", self.shown()))
        }
    }

    /// A text: in double quotes, or as it stands.
    pub(super) fn text(self, most_bytes: usize) -> Found<String> {
        let text = if self.0.starts_with('"') {
            ron::from_str::<String>(self.0)
                .map_err(|_| format!("{} is no text in double quotes", self.shown()))?
        } else {
            self.0.to_owned()
        };
        if text.len() > most_bytes {
            return Err(format!(
                "the text has {} bytes; at most {most_bytes} are taken",
                text.len()
            ));
        }
        if text.chars().any(is_control_or_format) {
            return Err("the text has a control or format character; take it out".to_owned());
        }
        Ok(text)
    }

    /// `(x: 1.0, y: 2.0, z: 3.0)` or `(1.0, 2.0, 3.0)`.
    pub(super) fn place(self) -> Found<Vec3> {
        #[derive(serde::Deserialize)]
        struct Named {
            x: f32,
            y: f32,
            z: f32,
        }
        ron::from_str::<Named>(self.0)
            .map(|Named { x, y, z }| Vec3::new(x, y, z))
            .or_else(|_| ron::from_str::<(f32, f32, f32)>(self.0).map(|(x, y, z)| Vec3::new(x, y, z)))
            .map_err(|_| format!("{} is no place; write (x: 1.0, y: 2.0, z: 3.0)", self.shown()))
    }

    /// `[1, 2, 3]`, exactly so many.
    pub(super) fn numbers<const N: usize>(self) -> Found<[u16; N]> {
        ron::from_str::<Vec<u16>>(self.0)
            .ok()
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or_else(|| format!("{} is no list of {N} numbers; write [1, 2, ...]", self.shown()))
    }

    /// Writes it into a value of one piece.
    pub(super) fn write(self, value: &mut dyn PartialReflect) -> Found<()> {
        macro_rules! whole {
            ($($kind:ty),*) => {
                $(if let Some(held) = value.try_downcast_mut::<$kind>() {
                    *held = self.whole(<$kind>::MIN, <$kind>::MAX)?;
                    return Ok(());
                })*
            };
        }
        whole!(u8, u16, u32, u64, i8, i16, i32, i64);
        if let Some(held) = value.try_downcast_mut::<f32>() {
            *held = self.single()?;
        } else if let Some(held) = value.try_downcast_mut::<f64>() {
            *held = self.number()?;
        } else if let Some(held) = value.try_downcast_mut::<bool>() {
            *held = self
                .0
                .parse()
                .map_err(|_| format!("{} is neither true nor false", self.shown()))?;
        } else if let Some(held) = value.try_downcast_mut::<String>() {
            *held = self.text(usize::MAX)?;
        } else if let Some(held) = value.try_downcast_mut::<Duration>() {
            *held = Duration::try_from_secs_f64(self.number()?)
                .map_err(|_| format!("{} is no number of seconds", self.shown()))?;
        } else {
            return self.write_variant(value);
        }
        Ok(())
    }

    fn write_variant(self, value: &mut dyn PartialReflect) -> Found<()> {
        let refused = format!(
            "{} is no value for it; set a field inside it, one at a time",
            self.shown()
        );
        let info = value
            .get_represented_type_info()
            .and_then(|info| info.as_enum().ok());
        let ReflectMut::Enum(held) = value.reflect_mut() else {
            return Err(refused);
        };
        let Some(info) = info else { return Err(refused) };
        let known = info
            .variant(self.0)
            .is_some_and(|variant| variant.as_unit_variant().is_ok());
        if !known {
            let names: Vec<&str> = info.variant_names().to_vec();
            return Err(format!("{} is none of {}", self.shown(), names.join(", ")));
        }
        let variant = DynamicEnum::new(self.0, DynamicVariant::Unit);
        held.try_apply(&variant).map_err(|error| error.to_string())
    }

    /// What it stands for when nothing is to be there.
    pub(super) fn is_none(self) -> bool {
        self.0 == Shown::Nothing.line() || self.0 == "None"
    }
}

#[cfg(test)]
mod tests {
    use bevy_reflect::Reflect;

    use super::*;

    #[derive(Reflect, PartialEq, Debug)]
    enum Colour {
        Red,
        Green,
        Mixed(u8),
    }

    #[test]
    fn values_are_read_by_the_type_they_are_for() {
        assert_eq!(Given("200").whole(0_u8, 200), Ok(200));
        assert_eq!(Given("-9_000").whole(i64::MIN, i64::MAX), Ok(-9_000));
        for bad in [
            "201",
            "-1",
            "1.5",
            "x",
            "",
            "99999999999999999999999999999999999999999",
        ] {
            assert!(Given(bad).whole(0_u8, 200).is_err(), "{bad}");
        }
        for bad in ["inf", "NaN", "1e400", "x"] {
            assert!(Given(bad).number().is_err(), "{bad}");
        }
        assert!(Given("1e300").single().is_err());
        assert_eq!(
            Given("\"two \\\"words\\\"\"").text(32),
            Ok("two \"words\"".to_owned())
        );
        assert_eq!(Given("Bob").text(32), Ok("Bob".to_owned()));
        assert!(Given("four").text(3).is_err() && Given("\"\\u{1b}\"").text(9).is_err());
        assert_eq!(
            Given("(x: 1, y: -2.5, z: 3)").place(),
            Ok(Vec3::new(1.0, -2.5, 3.0))
        );
        assert_eq!(Given("(1, 2, 3)").place(), Ok(Vec3::new(1.0, 2.0, 3.0)));
        assert!(Given("(1, 2)").place().is_err());
        assert_eq!(Given("[1, 2]").numbers::<2>(), Ok([1, 2]));
        assert!(Given("[1, 70000]").numbers::<2>().is_err() && Given("[1]").numbers::<2>().is_err());
    }

    #[test]
    fn a_word_is_a_variant_and_nothing_else_is() {
        let mut colour = Colour::Mixed(1);
        assert_eq!(Given("Green").write(&mut colour), Ok(()));
        assert_eq!(colour, Colour::Green);
        for bad in ["Blue", "Mixed", "1"] {
            assert!(Given(bad).write(&mut colour).is_err(), "{bad}");
        }
        assert_eq!(colour, Colour::Green);
        let mut span = Duration::ZERO;
        assert_eq!(Given("1.5").write(&mut span), Ok(()));
        assert_eq!(span, Duration::from_millis(1_500));
        assert!(Given("-1").write(&mut span).is_err());
    }
}
