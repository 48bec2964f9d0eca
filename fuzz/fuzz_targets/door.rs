//! A door with a few known peers and any traffic: one verdict each, no reply longer than its request, no state
//! past its bounds.
#![no_main]

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use arbitrary::Arbitrary;
use decitick_components::{mailbox::DoorNotice, settings::LimitSettings, tally::DoorTally};
use decitick_fuzz::{COOKIE_SEED, HelloPlan, PEERS, SERVER_SEED, SessionPlan, Standing, address, query};
use decitick_protocol::{CookieKey, MAX_PACKET, PROTOCOL_VERSION, QueryBody, ServerIdentity, ShownText};
use decitick_systems::door::{Door, DoorVerdict, count};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Step {
    Wait {
        milliseconds: u16,
    },
    Jump {
        seconds: u16,
    },
    Open {
        peer: u8,
    },
    Close {
        peer: u8,
    },
    Show {
        name: String,
        players: u16,
    },
    Raw {
        peer: u8,
        bytes: Vec<u8>,
    },
    Long {
        peer: u8,
        first: u8,
        length: u16,
    },
    Hello {
        peer: u8,
        plan: HelloPlan,
    },
    Query {
        peer: u8,
        length: u16,
    },
    Queries {
        from: u16,
        count: u8,
    },
    Session {
        peer: u8,
        wrong_token: bool,
        plan: SessionPlan,
    },
    Flood {
        peer: u8,
        count: u16,
    },
    Tidy,
}

#[derive(Arbitrary, Debug)]
struct Plan {
    loopback_exempt: bool,
    ipv6_prefix: u8,
    packets_per_second: u8,
    packet_burst: u8,
    steps: Vec<Step>,
}

struct Run {
    door: Door,
    now: Duration,
    tally: DoorTally,
    standings: [Standing; PEERS],
    flooding: Vec<SocketAddr>,
}

fuzz_target!(|plan: Plan| {
    let limits = LimitSettings {
        loopback_exempt: plan.loopback_exempt,
        ipv6_prefix: plan.ipv6_prefix.clamp(1, 128),
        packets_per_second: u32::from(plan.packets_per_second).max(1),
        packet_burst: u32::from(plan.packet_burst).max(1),
        ..LimitSettings::default()
    };
    let identity = ServerIdentity::from_seed(&SERVER_SEED);
    let door = Door::new(identity, CookieKey::new(COOKIE_SEED), limits, body("", 0));
    let mut run = Run {
        door,
        now: Duration::from_secs(1),
        tally: DoorTally::default(),
        standings: [Standing::default(); PEERS],
        flooding: Vec::new(),
    };
    for step in &plan.steps {
        run.take(step);
    }
    let tally = &run.tally;
    assert_eq!(
        tally.received,
        tally.handled + tally.passed + tally.dropped.total()
    );
    assert!(run.flooding.len() <= plan.steps.len());
});

impl Run {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Wait { milliseconds } => self.now += Duration::from_millis(u64::from(*milliseconds)),
            Step::Jump { seconds } => self.now += Duration::from_secs(u64::from(*seconds)),
            Step::Open { peer } => self.open(*peer),
            Step::Close { peer } => {
                self.standings[index(*peer)] = Standing::default();
                self.door
                    .learn(DoorNotice::Closed { peer: address(*peer) }, self.now);
            }
            Step::Show { name, players } => {
                self.door
                    .learn(DoorNotice::Query(Box::new(body(name, *players))), self.now);
            }
            Step::Raw { peer, bytes } => _ = self.send(address(*peer), bytes),
            Step::Long { peer, first, length } => {
                let mut bytes = vec![0; usize::from(*length).min(2048)];
                if let Some(byte) = bytes.first_mut() {
                    *byte = *first;
                }
                let verdict = self.send(address(*peer), &bytes);
                if bytes.len() > MAX_PACKET {
                    assert!(matches!(verdict, DoorVerdict::Drop(_)));
                }
            }
            Step::Hello { peer, plan } => {
                let from = address(*peer);
                let datagram = plan.datagram(self.now, from, None);
                self.send(from, &datagram);
            }
            Step::Query { peer, length } => _ = self.send(address(*peer), &query(*peer, length % 1300)),
            Step::Queries { from, count } => {
                for n in 0..*count {
                    let ip = Ipv4Addr::from(0x0a00_0000 + u32::from(from.wrapping_add(u16::from(n))));
                    self.send(SocketAddr::new(IpAddr::V4(ip), 9), &query(n, 512));
                }
            }
            Step::Session {
                peer,
                wrong_token,
                plan,
            } => self.session(*peer, *wrong_token, plan),
            Step::Flood { peer, count } => {
                let plan = SessionPlan::Pong(true);
                for _ in 0..count % 300 {
                    self.session(*peer, false, &plan);
                }
                self.door.take_flooding(&mut self.flooding);
            }
            Step::Tidy => self.door.tidy(self.now),
        }
    }

    fn open(&mut self, peer: u8) {
        let session_token = (0x0101_0101 << 16) + u64::from(peer);
        self.standings[index(peer)] = Standing {
            token: session_token,
            ..Standing::default()
        };
        self.door.learn(
            DoorNotice::Opened {
                peer: address(peer),
                session_token,
            },
            self.now,
        );
    }

    /// Only the right token of a known address may pass.
    fn session(&mut self, peer: u8, wrong_token: bool, plan: &SessionPlan) {
        let known = self.standings[index(peer)].token != 0;
        let mut standing = self.standings[index(peer)];
        if wrong_token {
            standing.token ^= 1 << (peer % 64);
        }
        let Some(datagram) = plan.datagram(&mut standing) else {
            return;
        };
        let verdict = self.send(address(peer), &datagram);
        if verdict == DoorVerdict::PassSession {
            assert!(known && !wrong_token, "a stranger's datagram passed");
        }
    }

    fn send(&mut self, from: SocketAddr, datagram: &[u8]) -> DoorVerdict {
        let mut reply = b"before".to_vec();
        let verdict = self.door.answer(self.now, from, datagram, &mut reply);
        count(&mut self.tally, verdict, datagram.len());
        let reply = reply.strip_prefix(b"before").expect("a reply is appended");
        assert_eq!(verdict == DoorVerdict::Reply, !reply.is_empty());
        assert!(
            reply.len() <= datagram.len(),
            "a reply of {} to {} bytes",
            reply.len(),
            datagram.len()
        );
        for table in self.door.tables() {
            assert!(
                table.entries <= table.capacity,
                "{} is past its bound",
                table.name
            );
        }
        verdict
    }
}

fn index(peer: u8) -> usize {
    usize::from(peer) % PEERS
}

fn body(name: &str, players: u16) -> QueryBody {
    QueryBody {
        protocol_version: PROTOCOL_VERSION,
        server_version: ShownText::parse("0.1.0").unwrap_or_default(),
        minimum_client_version: ShownText::default(),
        name: ShownText::parse(name).unwrap_or_default(),
        mode: ShownText::default(),
        players,
        max_players: 1000,
        flags: 0,
    }
}
