//! One call of an API function: its arguments, judged with words that name the one that is wrong.

use std::{ops::RangeInclusive, sync::Arc};

use decitick_protocol::{POSITION_LIMIT, Vec3};
use rhai::{Dynamic, FnPtr, ImmutableString, Map};

use super::Param;
use crate::script::{
    desk::Desk,
    fuse::Fuse,
    mirror::{PlayerCopy, ThingCopy},
    types::{ENTITY, Entity, Newcomer, PENDING, PLAYER, Player, ZONE, Zone},
};

/// What a function gives back, or what is wrong in words for the author of the script.
pub(crate) type Outcome = Result<Dynamic, String>;

/// A place with what may be said about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub position: Vec3,
    pub heading: Option<f32>,
    pub area: Option<u8>,
    pub dimension: Option<u32>,
}

/// A call under way.
pub(crate) struct Call<'a, 'b> {
    pub desk: &'a mut Desk,
    params: &'static [Param],
    args: &'a mut [&'b mut Dynamic],
    /// How many arguments stand before the parameters: the object before the dot.
    before: usize,
    fuse: &'a Fuse,
    /// Bytes that this call lets the resource hold on the desk.
    kept: i64,
}

impl<'a, 'b> Call<'a, 'b> {
    pub(super) fn new(
        desk: &'a mut Desk,
        params: &'static [Param],
        args: &'a mut [&'b mut Dynamic],
        before: usize,
        fuse: &'a Fuse,
    ) -> Self {
        Self {
            desk,
            params,
            args,
            before,
            fuse,
            kept: 0,
        }
    }

    /// Does something whose bytes are the resource's, and stay so when the call is over: what it keeps on the desk.
    pub(crate) fn keep<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.fuse.growth();
        let done = work(self);
        let change = self.fuse.growth().saturating_sub(before);
        self.kept = self.kept.saturating_add(change);
        done
    }

    /// Bytes that the resource keeps on the desk more than before the call.
    pub(super) const fn kept(&self) -> i64 {
        self.kept
    }

    /// How many arguments were given, without the object.
    pub(crate) fn count(&self) -> usize {
        self.args.len().saturating_sub(self.before)
    }

    /// An argument as it is; `()` when it was left out.
    pub(crate) fn any(&self, index: usize) -> Dynamic {
        self.args
            .get(self.before.saturating_add(index))
            .map_or(Dynamic::UNIT, |argument| argument.flatten_clone())
    }

    fn name(&self, index: usize) -> &'static str {
        self.params.get(index).map_or("value", |param| param.name)
    }

    fn wrong(&self, index: usize, wanted: &str) -> String {
        must_be(self.name(index), wanted, &self.any(index))
    }

    /// The player before the dot.
    pub(crate) fn this_player(&self) -> Result<Player, String> {
        self.this()
    }

    /// Whoever waits for a login, before the dot.
    pub(crate) fn this_newcomer(&self) -> Result<Newcomer, String> {
        self.this()
    }

    /// The entity before the dot.
    pub(crate) fn this_entity(&self) -> Result<Entity, String> {
        self.this()
    }

    /// The zone before the dot.
    pub(crate) fn this_zone(&self) -> Result<Zone, String> {
        self.this()
    }

    fn this<T: Clone + Send + Sync + 'static>(&self) -> Result<T, String> {
        self.args
            .first()
            .and_then(|argument| argument.read_lock::<T>().map(|value| value.clone()))
            .ok_or_else(|| "called on something else than it belongs to".to_owned())
    }

    /// What the server knows of the player before the dot, who may have left just now.
    pub(crate) fn this_copy(&self) -> Result<&PlayerCopy, String> {
        let player = self.this_player()?;
        self.desk
            .mirror
            .player_or_departed(player.id, player.token)
            .ok_or_else(|| format!("player {} is not on any more; ask player.online first", player.id))
    }

    /// What the server knows of the entity before the dot.
    pub(crate) fn this_thing(&self) -> Result<&ThingCopy, String> {
        let Entity { id } = self.this_entity()?;
        self.desk
            .mirror
            .things
            .get(&id)
            .ok_or_else(|| format!("entity {id} is gone; ask entity.exists first"))
    }

    pub(crate) fn player(&self, index: usize) -> Result<Player, String> {
        self.any(index)
            .try_cast::<Player>()
            .ok_or_else(|| self.wrong(index, "a Player"))
    }

    pub(crate) fn bool(&self, index: usize) -> Result<bool, String> {
        self.any(index)
            .as_bool()
            .map_err(|_| self.wrong(index, "true or false"))
    }

    pub(crate) fn integer(&self, index: usize, range: RangeInclusive<i64>) -> Result<i64, String> {
        whole(self.name(index), &self.any(index), range)
    }

    /// A whole number that fits the type it is wanted in.
    pub(crate) fn fitting<T: TryFrom<i64>>(
        &self,
        index: usize,
        range: RangeInclusive<i64>,
    ) -> Result<T, String> {
        let (least, most) = (*range.start(), *range.end());
        let number = self.integer(index, range)?;
        T::try_from(number).map_err(|_| self.wrong(index, &format!("an integer from {least} to {most}")))
    }

    pub(crate) fn number(&self, index: usize) -> Result<f64, String> {
        number(self.name(index), &self.any(index))
    }

    /// A number above 0, at most `most`.
    pub(crate) fn positive(&self, index: usize, most: f32) -> Result<f32, String> {
        let wanted = format!("a number above 0, at most {most}");
        let value = single(self.number(index)?);
        if value > 0.0 && value <= most {
            Ok(value)
        } else {
            Err(self.wrong(index, &wanted))
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<ImmutableString, String> {
        self.any(index)
            .into_immutable_string()
            .map_err(|_| self.wrong(index, "a string"))
    }

    /// A text of a number of bytes within bounds.
    pub(crate) fn text_of(
        &self,
        index: usize,
        bytes: RangeInclusive<usize>,
    ) -> Result<ImmutableString, String> {
        let text = self.text(index)?;
        if bytes.contains(&text.len()) {
            return Ok(text);
        }
        Err(format!(
            "{} must have {} to {} bytes, it has {}",
            self.name(index),
            bytes.start(),
            bytes.end(),
            text.len()
        ))
    }

    /// A text that a parser of the server takes, whose complaint is passed on.
    pub(crate) fn parsed<T, E: std::fmt::Display>(
        &self,
        index: usize,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, String> {
        parse(&self.text(index)?).map_err(|error| format!("{}: {error}", self.name(index)))
    }

    /// A function that is kept until it is called. What it carries along is the resource's memory.
    pub(crate) fn callback(&mut self, index: usize) -> Result<Arc<FnPtr>, String> {
        self.keep(|call| call.any(index).try_cast::<FnPtr>().map(Arc::new))
            .ok_or_else(|| self.wrong(index, "a function, as in |answer| { ... }"))
    }

    pub(crate) fn array(&self, index: usize) -> Result<rhai::Array, String> {
        self.any(index)
            .into_array()
            .map_err(|_| self.wrong(index, "an array"))
    }

    pub(crate) fn map(&self, index: usize) -> Result<Map, String> {
        self.any(index)
            .try_cast::<Map>()
            .ok_or_else(|| self.wrong(index, "a map, as in #{x: 0, y: 0, z: 5}"))
    }

    /// A place: a map with x, y and z, or a player or an entity that is somewhere.
    pub(crate) fn place(&self, index: usize) -> Result<Place, String> {
        let value = self.any(index);
        if let Some(map) = value.read_lock::<Map>() {
            return place_of(&map);
        }
        if let Some(&Player { id, token }) = value.read_lock::<Player>().as_deref() {
            let copy = self
                .desk
                .mirror
                .player_or_departed(id, token)
                .ok_or_else(|| format!("{}: player {id} is not on any more", self.name(index)))?;
            return Ok(Place {
                position: copy.motion.position,
                heading: Some(copy.motion.heading),
                area: Some(copy.motion.area),
                dimension: Some(copy.dimension),
            });
        }
        if let Some(&Entity { id }) = value.read_lock::<Entity>().as_deref() {
            let thing = self
                .desk
                .mirror
                .things
                .get(&id)
                .ok_or_else(|| format!("{}: entity {id} is gone", self.name(index)))?;
            return Ok(Place {
                position: thing.position,
                heading: Some(thing.heading),
                area: Some(thing.area),
                dimension: Some(thing.dimension),
            });
        }
        Err(self.wrong(index, "a position, as in #{x: 0, y: 0, z: 5}"))
    }
}

/// The place that a map says.
pub(crate) fn place_of(map: &Map) -> Result<Place, String> {
    let coordinate = |name: &str| -> Result<f32, String> {
        let value = map.get(name).unwrap_or(&Dynamic::UNIT);
        let number = number(name, value)?;
        let limit = f64::from(POSITION_LIMIT);
        if (-limit..=limit).contains(&number) {
            Ok(single(number))
        } else {
            Err(format!("{name} must be from -{limit} to {limit}, got {number}"))
        }
    };
    Ok(Place {
        position: Vec3::new(coordinate("x")?, coordinate("y")?, coordinate("z")?),
        heading: map
            .get("heading")
            .map(|value| heading("heading", value))
            .transpose()?,
        area: fitting_key(map, "area", 0..=255)?,
        dimension: fitting_key(map, "dimension", 0..=i64::from(u32::MAX))?,
    })
}

/// A whole number under a key of a map; `None` when the key is not there.
pub(crate) fn fitting_key<T: TryFrom<i64>>(
    map: &Map,
    key: &str,
    range: RangeInclusive<i64>,
) -> Result<Option<T>, String> {
    let Some(value) = map.get(key) else {
        return Ok(None);
    };
    T::try_from(whole(key, value, range)?)
        .map(Some)
        .map_err(|_| format!("{key} is out of its range"))
}

/// A heading in radians.
pub(crate) fn heading(name: &str, value: &Dynamic) -> Result<f32, String> {
    let number = number(name, value)?;
    if number.abs() <= 1.0e6 {
        Ok(decitick_protocol::normalise_heading(single(number)))
    } else {
        Err(format!("{name} must be an angle in radians, got {number}"))
    }
}

/// A number, whole or not.
pub(crate) fn number(name: &str, value: &Dynamic) -> Result<f64, String> {
    let number = value
        .as_float()
        .or_else(|_| value.as_int().map(float_of))
        .map_err(|_| must_be(name, "a number", value))?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(format!("{name} must be a finite number, got {number}"))
    }
}

/// A whole number within bounds.
pub(crate) fn whole(name: &str, value: &Dynamic, range: RangeInclusive<i64>) -> Result<i64, String> {
    match value.as_int() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(number) => Err(format!(
            "{name} must be from {} to {}, got {number}",
            range.start(),
            range.end()
        )),
        Err(_) => Err(must_be(name, "an integer", value)),
    }
}

/// "z must be a number, got ()".
pub(crate) fn must_be(name: &str, wanted: &str, got: &Dynamic) -> String {
    let shown = match (got.as_int(), got.as_float()) {
        (Ok(number), _) => number.to_string(),
        (_, Ok(number)) => number.to_string(),
        _ => type_word(got).to_owned(),
    };
    format!("{name} must be {wanted}, got {shown}")
}

/// What kind of value it is, in the words of docs/scripting.md.
pub(crate) fn type_word(value: &Dynamic) -> &'static str {
    if value.is_unit() {
        "()"
    } else if value.is_bool() {
        "bool"
    } else if value.is_int() {
        "int"
    } else if value.is_float() {
        "float"
    } else if value.is_string() {
        "string"
    } else if value.is_char() {
        "char"
    } else if value.is_array() {
        "array"
    } else if value.is_map() {
        "map"
    } else if value.is_blob() {
        "blob"
    } else if value.is_fnptr() {
        "function"
    } else if value.read_lock::<Player>().is_some() {
        PLAYER
    } else if value.read_lock::<Newcomer>().is_some() {
        PENDING
    } else if value.read_lock::<Entity>().is_some() {
        ENTITY
    } else if value.read_lock::<Zone>().is_some() {
        ZONE
    } else {
        "value"
    }
}

/// A script's number as the world keeps it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the world's numbers are single floats; what is too large becomes infinite and is refused by range"
)]
pub(crate) const fn single(number: f64) -> f32 {
    number as f32
}

/// A whole number as a float, as scripts convert it.
#[expect(clippy::cast_precision_loss, reason = "that is what a float of it is")]
pub(crate) const fn float_of(number: i64) -> f64 {
    number as f64
}
