//! Values as text.
//!
//! The engine falls back to an unbounded form when one of these functions fails, so none does: what is too long or too
//! deep is cut and ends in `...`.

use std::sync::Arc;

use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map, Module, NativeCallContext};

use super::{DEEPEST, LONGEST_TEXT, bytes_as_operations, function};
use crate::script::{
    fuse::Fuse,
    state::State,
    types::{Entity, Player, Zone},
};

/// What stands for the rest.
const REST: &str = "...";

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    for name in ["to_string", "to_debug", "print", "debug"] {
        let own = Arc::clone(fuse);
        function!(
            module,
            name,
            ["array: Array", "String"],
            move |context: NativeCallContext<'_>, array: &mut Array| {
                let mut printer = Printer::new(&context);
                printer.array(array, DEEPEST);
                printer.finish(&own)
            }
        );
        let own = Arc::clone(fuse);
        function!(
            module,
            name,
            ["map: Map", "String"],
            move |context: NativeCallContext<'_>, map: &mut Map| {
                let mut printer = Printer::new(&context);
                printer.map(map, DEEPEST);
                printer.finish(&own)
            }
        );
        function!(
            module,
            name,
            ["function: FnPtr", "String"],
            |function: &mut FnPtr| { ImmutableString::from(function_text(function)) }
        );
    }
    for name in ["to_debug", "debug"] {
        let own = Arc::clone(fuse);
        function!(
            module,
            name,
            ["string: &str", "String"],
            move |context: NativeCallContext<'_>, text: &str| {
                let mut printer = Printer::new(&context);
                printer.quoted(text);
                printer.finish(&own)
            }
        );
    }
}

/// A value as the server itself shows it: a string as it is, anything else as in a script.
pub(super) fn shown(value: &Dynamic) -> String {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return text.to_string();
    }
    if let Some(state) = value.read_lock::<State>() {
        return shown(&Dynamic::from(state.to_map()));
    }
    let mut printer = Printer {
        context: None,
        text: String::new(),
        full: false,
    };
    printer.value(value, DEEPEST);
    printer.text
}

/// A value as `print` shows it: a string as it is, anything else as in a script.
pub(super) fn printed(context: &NativeCallContext<'_>, value: &Dynamic, fuse: &Fuse) -> ImmutableString {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return text.clone();
    }
    if value.is_unit() {
        return ImmutableString::new();
    }
    let mut printer = Printer::new(context);
    printer.value(value, DEEPEST);
    printer.finish(fuse)
}

fn function_text(function: &FnPtr) -> String {
    if function.is_anonymous() {
        "Fn(closure)".to_owned()
    } else {
        format!("Fn({})", function.fn_name())
    }
}

struct Printer<'c, 'e> {
    /// Where the call came from; `None` when the server itself shows a value.
    context: Option<&'c NativeCallContext<'e>>,
    text: String,
    full: bool,
}

impl<'c, 'e> Printer<'c, 'e> {
    fn new(context: &'c NativeCallContext<'e>) -> Self {
        Self {
            context: Some(context),
            text: String::new(),
            full: false,
        }
    }

    fn finish(self, fuse: &Fuse) -> ImmutableString {
        fuse.charge(bytes_as_operations(self.text.len()));
        self.text.into()
    }

    fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        let room = (LONGEST_TEXT - REST.len()).saturating_sub(self.text.len());
        let end = text.floor_char_boundary(room);
        self.text.push_str(text.get(..end).unwrap_or_default());
        if end < text.len() {
            self.full = true;
            self.text.push_str(REST);
        }
    }

    fn quoted(&mut self, text: &str) {
        // No more is looked at than could be shown.
        let shown = text
            .get(..text.floor_char_boundary(LONGEST_TEXT))
            .unwrap_or_default();
        self.push("\"");
        self.push(&shown.escape_debug().to_string());
        self.push("\"");
    }

    fn array(&mut self, array: &Array, depth_left: usize) {
        self.push("[");
        for (index, item) in array.iter().enumerate() {
            if self.full {
                return;
            }
            if index > 0 {
                self.push(", ");
            }
            self.value(item, depth_left);
        }
        self.push("]");
    }

    fn map(&mut self, map: &Map, depth_left: usize) {
        self.push("#{");
        for (index, (key, item)) in map.iter().enumerate() {
            if self.full {
                return;
            }
            if index > 0 {
                self.push(", ");
            }
            self.quoted(key);
            self.push(": ");
            self.value(item, depth_left);
        }
        self.push("}");
    }

    fn value(&mut self, value: &Dynamic, depth_left: usize) {
        let Some(inner) = depth_left.checked_sub(1) else {
            self.push(REST);
            return;
        };
        if let Some(array) = value.read_lock::<Array>() {
            self.array(&array, inner);
        } else if let Some(map) = value.read_lock::<Map>() {
            self.map(&map, inner);
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            self.quoted(&text);
        } else if let Some(function) = value.read_lock::<FnPtr>() {
            self.push(&function_text(&function));
        } else {
            self.other(value);
        }
    }

    /// A value that holds no others.
    fn other(&mut self, value: &Dynamic) {
        if let Some(blob) = value.read_lock::<Blob>() {
            self.push(&format!("blob of {} bytes", blob.len()));
        } else if let Some(handle) = handle_text(value) {
            self.push(&handle);
        } else if let Some(context) = self.context {
            let mut own = value.flatten_clone();
            let shown = context.call_native_fn_raw("to_debug", true, &mut [&mut own]);
            match shown.ok().and_then(|shown| shown.into_immutable_string().ok()) {
                Some(shown) => self.push(&shown),
                None => self.push(value.type_name().rsplit("::").next().unwrap_or_default()),
            }
        } else {
            self.push(&value.to_string());
        }
    }
}

/// A player, an entity or a zone by its number.
pub(super) fn handle_text(value: &Dynamic) -> Option<String> {
    if let Some(player) = value.read_lock::<Player>() {
        return Some(format!("player {}", player.id));
    }
    if let Some(entity) = value.read_lock::<Entity>() {
        return Some(format!("entity {}", entity.id));
    }
    value.read_lock::<Zone>().map(|zone| format!("zone {}", zone.id))
}
