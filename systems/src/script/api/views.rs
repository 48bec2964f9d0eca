//! Pages on a client, for whoever waits for a login and for players alike: `open_view`, `view_data`, `close_view`.

use std::sync::Arc;

use bevy_ecs::entity::Entity as Connection;
use decitick_components::pages::{OpenViews, ViewRequest, ViewWish};
use decitick_protocol::{EventData, Text};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, Param, log, param};
use crate::script::{data, desk::Desk};

/// Bytes of data of a ViewData.
const MOST_VIEW_BYTES: usize = 1024;

const PAGE: &[Param] = &[param("page", "string")];
const TOLD: &[Param] = &[param("view", "int"), param("data", "data")];
const CLOSED: &[Param] = &[param("view", "int")];

/// The three functions for one kind of receiver.
pub(super) const fn natives(owner: Owner, examples: [&'static str; 3]) -> [Native; 3] {
    let [opens, tells, closes] = examples;
    [
        Native {
            owner,
            name: "open_view",
            params: PAGE,
            optional: 0,
            returns: "int",
            doc: "Shows a page of the resource's folder `client` on the client, and gives the number of the view. At most 16 views are open at once. 0 means that nobody is there any more.",
            example: opens,
            run: open,
        },
        Native {
            owner,
            name: "view_data",
            params: TOLD,
            optional: 0,
            returns: "bool",
            doc: "Tells the page something: data of at most 1,024 bytes once packed, as for `player.send`. `false` when the view is not open any more. What is told before the page is loaded waits for it.",
            example: tells,
            run: tell,
        },
        Native {
            owner,
            name: "close_view",
            params: CLOSED,
            optional: 0,
            returns: "bool",
            doc: "Closes the page. `false` when it was not open any more. A resource reaches only its own views; they close by themselves when it stops.",
            example: closes,
            run: close,
        },
    ]
}

/// Whose client it is; `None` for one who does not wait any more.
fn receiver(call: &Call<'_, '_>) -> Result<Option<Connection>, String> {
    match call.this_newcomer() {
        Ok(newcomer) => Ok(call
            .desk
            .mirror
            .newcomers
            .get(&newcomer.token)
            .map(|copy| copy.entity)),
        Err(_) => {
            let player = call.this_player()?;
            call.desk.connection_of(player).map(Some)
        }
    }
}

fn open(call: &mut Call<'_, '_>) -> Outcome {
    let page: Text<1, 255> = call.parsed(0, Text::parse)?;
    let Some(to) = receiver(call)? else {
        return Ok(Dynamic::from(0_i64));
    };
    warn_of_missing(call.desk, page.as_str())?;
    match wish(call.desk, to, ViewWish::Open(page))? {
        Some(view) => Ok(i64::from(view).into()),
        None => Err(format!(
            "there are {} views open on this client already; close_view some",
            OpenViews::MOST
        )),
    }
}

/// The page is shown by the client, which says so itself when it cannot; but the author should hear of it too.
fn warn_of_missing(desk: &mut Desk, page: &str) -> Result<(), String> {
    let files = &desk.office()?.client_files;
    if files.as_ref().is_some_and(|files| files.files.contains_key(page)) {
        return Ok(());
    }
    let there: Vec<&str> = files
        .iter()
        .flat_map(|files| files.files.keys())
        .map(AsRef::as_ref)
        .filter(|name| name.ends_with(".html"))
        .take(8)
        .collect();
    let problem = if there.is_empty() {
        format!("open_view: there is no file client/{page} in the resource's folder; clients cannot show it")
    } else {
        format!(
            "open_view: there is no file client/{page} in the resource's folder; clients cannot show it (pages there: {})",
            there.join(", ")
        )
    };
    log::write(desk, log::Level::Warn, &problem);
    Ok(())
}

fn tell(call: &mut Call<'_, '_>) -> Outcome {
    let view = view_number(call)?;
    let bytes =
        data::to_message_pack(&call.any(1), MOST_VIEW_BYTES).map_err(|fault| fault.in_words("data"))?;
    let data = EventData::parse(bytes).map_err(|error| format!("data: {error}"))?;
    let Some(to) = receiver(call)? else {
        return Ok(false.into());
    };
    Ok(wish(call.desk, to, ViewWish::Tell(view, Arc::new(data)))?
        .is_some()
        .into())
}

fn close(call: &mut Call<'_, '_>) -> Outcome {
    let view = view_number(call)?;
    let Some(to) = receiver(call)? else {
        return Ok(false.into());
    };
    Ok(wish(call.desk, to, ViewWish::Close(view))?.is_some().into())
}

fn view_number(call: &Call<'_, '_>) -> Result<u16, String> {
    call.fitting::<u16>(0, 0..=i64::from(u16::MAX))
}

/// Leaves the wish; the number of the view, `None` when it can mean nothing.
fn wish(desk: &mut Desk, entity: Connection, wish: ViewWish) -> Result<Option<u16>, String> {
    desk.spend_messages(1)?;
    let request = ViewRequest {
        entity,
        resource: desk.office()?.name.clone(),
        wish,
    };
    let view = desk.mirror.play_view(&request);
    if view.is_some() {
        desk.wishes.views.push(request);
    }
    Ok(view)
}
