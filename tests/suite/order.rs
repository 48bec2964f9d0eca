//! The order of a tick: free of ambiguity, written down in docs/tick.md, and with nothing left open that shows on the
//! wire.
//!
//! `DECITICK_BLESS=1 cargo test -p decitick --test suite order` writes the tables of docs/tick.md anew.

use std::{fmt::Write as _, fs, path::PathBuf};

use bevy_app::App;
use bevy_ecs::{
    schedule::{
        InternedSystemSet, IntoScheduleConfigs, Schedule, ScheduleBuildError, Schedules, SystemSet,
        SystemWithAccess,
    },
    system::{ResMut, SystemAccess},
    world::World,
};
use decitick::{
    ServerParts, build_app, console::ConsoleEdgePlugin, metrics::MetricsEdgePlugin, page::LiveEdgePlugin,
    remote::RemoteEdgePlugin, socket::SocketPlugin, worker::WorkerPlugin,
};
use decitick_components::{
    bans::BanList, combat::WeaponTable, mailbox::Outbox, settings::Settings, thing::PlacedThings,
    world::SpawnPoints,
};
use decitick_systems::tick::{Tick, TickSystems};

use crate::determinism::eventful_minute;

const BEGIN: &str = "<!-- systems: held equal to the schedule by tests/suite/order.rs -->\n";
const END: &str = "<!-- end of systems -->\n";

const STEPS: [(TickSystems, &str); 13] = [
    (TickSystems::Receive, "Receive"),
    (TickSystems::Decode, "Decode"),
    (TickSystems::Acknowledge, "Acknowledge"),
    (TickSystems::Admit, "Admit"),
    (TickSystems::Authenticate, "Authenticate"),
    (TickSystems::Script, "Script"),
    (TickSystems::Apply, "Apply"),
    (TickSystems::Simulate, "Simulate"),
    (TickSystems::Expire, "Expire"),
    (TickSystems::Deliver, "Deliver"),
    (TickSystems::Encode, "Encode"),
    (TickSystems::Transmit, "Transmit"),
    (TickSystems::Inspect, "Inspect"),
];

/// The App of the program with the systems of its edges.
fn whole_app() -> App {
    let mut app = build_app(ServerParts {
        server_key: [0; 32],
        settings: Settings::default(),
        spawns: SpawnPoints::default(),
        weapons: WeaponTable::default(),
        things: PlacedThings::default(),
        bans: BanList::default(),
    });
    app.add_plugins((SocketPlugin, WorkerPlugin, ConsoleEdgePlugin))
        .add_plugins((MetricsEdgePlugin, RemoteEdgePlugin, LiveEdgePlugin));
    app
}

fn built(app: &mut App) -> Result<Schedule, ScheduleBuildError> {
    let mut schedule = app
        .world_mut()
        .resource_mut::<Schedules>()
        .remove(Tick)
        .expect("there is a Tick schedule");
    schedule.initialize(app.world_mut())?;
    Ok(schedule)
}

#[test]
fn the_order_of_a_tick_leaves_nothing_open_that_matters() {
    built(&mut whole_app()).expect("no two systems of one step depend on an order that nobody wrote down");
}

#[test]
fn a_system_whose_order_matters_and_is_not_written_down_is_an_error() {
    fn meddle(mut outbox: ResMut<'_, Outbox>) {
        outbox.clear();
    }
    let mut app = whole_app();
    app.add_systems(Tick, meddle.in_set(TickSystems::Encode));
    assert!(built(&mut app).is_err());
}

#[test]
fn docs_tick_md_shows_the_systems_in_their_real_order_with_what_they_read_and_write() {
    let mut app = whole_app();
    let schedule = built(&mut app).unwrap();
    let tables = tables(&schedule, app.world());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/tick.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has the begin mark");
    let (shown, after) = rest.split_once(END).expect("the page has the end mark");
    if std::env::var_os("DECITICK_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).unwrap();
        return;
    }
    assert!(
        shown == tables,
        "docs/tick.md does not show the schedule. It shows:\n{shown}\nThe schedule is:\n{tables}\n\
         DECITICK_BLESS=1 cargo test -p decitick --test suite order writes the page anew."
    );
}

fn tables(schedule: &Schedule, world: &World) -> String {
    let mut text = String::new();
    for (step, name) in STEPS {
        let set: InternedSystemSet = step.intern();
        let Ok(members) = schedule.graph().systems_in_set(set) else {
            continue;
        };
        let rows: Vec<String> = schedule
            .systems_with_access()
            .unwrap()
            .filter(|(key, _)| members.contains(key))
            .map(|(_, system)| row(system, world))
            .collect();
        if rows.is_empty() {
            continue;
        }
        write!(
            text,
            "\n### {name}\n\n| system | reads | writes |\n| --- | --- | --- |\n"
        )
        .unwrap();
        text.extend(rows);
    }
    text.push('\n');
    text
}

fn row(system: &SystemWithAccess, world: &World) -> String {
    let name = system.system().name().to_string();
    let name = name
        .trim_start_matches("decitick_systems::")
        .trim_start_matches("decitick::");
    let SystemAccess::Shared(set) = system.access() else {
        return format!("| `{name}` | the whole world | the whole world |\n");
    };
    let access = set.combined_access();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for kind in access
        .try_iter_access()
        .expect("no system asks for everything but two")
    {
        let id = *kind.index();
        let Some(info) = world.components().get_info(id) else {
            continue;
        };
        let word = format!("`{}`", short(&info.name().to_string()));
        if access.has_write(id) {
            writes.push(word);
        } else {
            reads.push(word);
        }
    }
    reads.sort();
    writes.sort();
    format!("| `{name}` | {} | {} |\n", reads.join(" "), writes.join(" "))
}

/// A type without the paths in front of its names.
fn short(name: &str) -> String {
    let mut words = String::new();
    for part in name.split_inclusive(['<', '>', ',', ' ']) {
        words.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    words
}

#[test]
fn other_orders_that_the_constraints_allow_send_the_same_bytes() {
    let reference = eventful_minute(7, None);
    for shuffle_seed in [1, 2, 3] {
        let shuffled = eventful_minute(7, Some(shuffle_seed));
        assert!(
            reference == shuffled,
            "another order under shuffle seed {shuffle_seed} shows on the wire"
        );
    }
}
