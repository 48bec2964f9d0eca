//! `random`: chance that nobody can foresee.

use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, param};

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("random"),
        name: "int",
        params: &[param("least", "int"), param("most", "int")],
        optional: 0,
        returns: "int",
        doc: "A whole number from `least` to `most`, both included.",
        example: "let dice = random::int(1, 6);\nchat::broadcast(`A ${dice}!`);",
        run: int,
    },
    Native {
        owner: Owner::Module("random"),
        name: "float",
        params: &[],
        optional: 0,
        returns: "float",
        doc: "A number from 0 up to, and without, 1.",
        example: "if random::float() < 0.1 { world::set_weather(8); }",
        run: |call| Ok(call.desk.random.unit().into()),
    },
    Native {
        owner: Owner::Module("random"),
        name: "pick",
        params: &[param("array", "array")],
        optional: 0,
        returns: "any",
        doc: "One element, each as likely as the others. An empty array is an error.",
        example: "chat::broadcast(random::pick([\"Good morning\", \"Hello\", \"Ahoy\"]));",
        run: pick,
    },
];

fn int(call: &mut Call<'_, '_>) -> Outcome {
    let least = call.integer(0, i64::MIN..=i64::MAX)?;
    let most = call.integer(1, i64::MIN..=i64::MAX)?;
    if least > most {
        return Err(format!("least must not be above most, got {least} and {most}"));
    }
    Ok(call.desk.random.between(least, most).into())
}

fn pick(call: &mut Call<'_, '_>) -> Outcome {
    // Not `array`, which would copy all for one.
    let value = call.any(0);
    let Some(array) = value.read_lock::<rhai::Array>() else {
        return call.array(0).map(Dynamic::from);
    };
    let last = i64::try_from(array.len()).unwrap_or(i64::MAX).saturating_sub(1);
    if last < 0 {
        return Err("array must not be empty".to_owned());
    }
    let index = usize::try_from(call.desk.random.between(0, last)).unwrap_or_default();
    array
        .get(index)
        .cloned()
        .ok_or_else(|| "array must not be empty".to_owned())
}
