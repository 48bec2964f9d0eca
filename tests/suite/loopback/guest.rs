//! Somebody who logs in over a real socket, page by page: what a client program does around its browser view.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    time::{Duration, Instant},
};

use decitick_client::{
    client::{ClientConfig, ClientNotice, EndReason, PinnedServer},
    driver::UdpDriver,
};
use decitick_protocol::{
    AuthAssertion, ClientLaneEvent, CompactJwt, EventData, PlayerName, ServerLaneEvent, ViewAction,
    ViewState, ViewStatus,
};
use serde_json::Value;

use super::{message_pack, server::PATIENCE};

/// A client whose login is under way or done.
pub(crate) struct Guest {
    driver: UdpDriver,
    unread: VecDeque<ServerLaneEvent>,
    pub(crate) view: Option<u16>,
    pub(crate) files_port: u16,
    pub(crate) server_key: [u8; 32],
    end: Option<EndReason>,
}

impl Guest {
    /// Starts to join; with a credential seed, as the computer that holds it.
    pub(crate) fn connect(
        address: SocketAddr,
        key: [u8; 32],
        name: &str,
        credential: Option<[u8; 32]>,
    ) -> Self {
        let server = PinnedServer {
            credential_seed: credential,
            ..PinnedServer::new(key)
        };
        let config = ClientConfig::new(&PlayerName::parse(name).unwrap()).pinned_to(server);
        let mut guest = Self {
            driver: UdpDriver::connect(address, config).unwrap(),
            unread: VecDeque::new(),
            view: None,
            files_port: 0,
            server_key: key,
            end: None,
        };
        let deadline = Instant::now() + PATIENCE;
        while guest.driver.client().welcome().is_none() {
            guest.pump();
            assert!(Instant::now() < deadline, "no ServerHello: {:?}", guest.end);
        }
        guest.files_port = guest.driver.client().welcome().unwrap().client_files_port;
        guest
    }

    /// Lets a little time pass.
    pub(crate) fn pump(&mut self) {
        match self.driver.next_notice(Duration::from_millis(20)).unwrap() {
            Some(ClientNotice::Event { event, .. }) => {
                match &event {
                    ServerLaneEvent::ViewOpen(open) => self.view = Some(open.view_id),
                    ServerLaneEvent::ViewClose(_) => self.view = None,
                    _ => {}
                }
                self.unread.push_back(event);
            }
            Some(ClientNotice::Breach(breach)) => panic!("the server broke a rule: {breach:?}"),
            Some(ClientNotice::Ended(reason)) => self.end = Some(reason),
            _ => {}
        }
    }

    /// The next event of which `pick` makes something; those before it are let go.
    #[track_caller]
    pub(crate) fn wait<T>(&mut self, what: &str, mut pick: impl FnMut(&ServerLaneEvent) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Some(event) = self.unread.pop_front() {
                if let Some(picked) = pick(&event) {
                    return picked;
                }
            }
            assert!(self.end.is_none(), "{what}: the session ended: {:?}", self.end);
            assert!(Instant::now() < deadline, "{what} did not come");
            self.pump();
        }
    }

    /// The next value that the page is told.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Value {
        self.wait("ViewData", |event| match event {
            ServerLaneEvent::ViewData(data) => Some(message_pack::unpack(data.data.as_bytes())),
            _ => None,
        })
    }

    /// A value that the page is told, if one is there.
    pub(crate) fn heard(&mut self) -> Option<Value> {
        let place = self
            .unread
            .iter()
            .position(|event| matches!(event, ServerLaneEvent::ViewData(_)))?;
        match self.unread.remove(place)? {
            ServerLaneEvent::ViewData(data) => Some(message_pack::unpack(data.data.as_bytes())),
            _ => None,
        }
    }

    /// Says that the page is shown.
    pub(crate) fn loaded(&mut self) {
        let status = ViewStatus {
            view_id: self.view.expect("a view is open"),
            status: ViewState::Loaded,
        };
        self.send(ClientLaneEvent::ViewStatus(status));
    }

    /// The page says something.
    pub(crate) fn act(&mut self, value: &Value) {
        let action = ViewAction {
            view_id: self.view.expect("a view is open"),
            data: EventData::parse(message_pack::pack(value)).unwrap(),
        };
        self.send(ClientLaneEvent::ViewAction(action));
    }

    /// Hands the server a token.
    pub(crate) fn assert(&mut self, token: &str) {
        let jwt = CompactJwt::parse(token).unwrap();
        self.send(ClientLaneEvent::AuthAssertion(AuthAssertion { jwt }));
    }

    /// Says something in the chat.
    pub(crate) fn say(&mut self, text: &str) {
        self.driver.client().send_chat(text).unwrap();
    }

    fn send(&mut self, event: ClientLaneEvent) {
        self.driver.client().send_lane(&event).unwrap();
    }

    /// Waits until it is let in.
    #[track_caller]
    pub(crate) fn let_in(&mut self) {
        self.wait("AuthAccepted", |event| {
            matches!(event, ServerLaneEvent::AuthAccepted(_)).then_some(())
        });
    }

    /// Whether it was let in, as far as has been heard.
    pub(crate) fn is_in(&mut self) -> bool {
        !self.driver.client().is_auth_pending()
    }

    /// Why the session ended; it is to end in time.
    pub(crate) fn end(&mut self) -> EndReason {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(end) = &self.end {
                return end.clone();
            }
            assert!(Instant::now() < deadline, "the session goes on");
            self.pump();
        }
    }

    /// Says goodbye.
    pub(crate) fn leave(mut self) {
        self.driver.client().bye();
        self.end();
    }
}
