//! What a client says while it logs in, and to the pages it was told to show (docs/protocol.md 1.5, 2.3).

use decitick_protocol::{
    AuthAssertion, ClientLaneEvent, CompactJwt, EventData, ViewAction, ViewState, ViewStatus,
};

use super::{Client, SendError};

impl Client {
    /// Hands the server the token of a login provider and gives the event id. A token has at most 1,024 bytes of
    /// `A-Z a-z 0-9 - _ .` in three parts; what it says is the server's to judge. The server takes three at once and then
    /// one per 2 s, at most ten, and only while the login is undecided.
    ///
    /// # Errors
    /// [`SendError`]: no session, a login that is decided, a text that is no token, or a full lane.
    pub fn send_assertion(&mut self, token: &str) -> Result<u32, SendError> {
        if !self.session_mut()?.auth_pending {
            return Err(SendError::LoginDecided);
        }
        let jwt = CompactJwt::parse(token).map_err(|fault| SendError::BadEvent {
            fault: fault.to_string(),
        })?;
        self.send_lane(&ClientLaneEvent::AuthAssertion(AuthAssertion { jwt }))
    }

    /// Tells the server what became of a view, and gives the event id. After `Failed` or `Closed` the view is no longer
    /// among the open ones, and what the server still sends to it is not told.
    ///
    /// # Errors
    /// [`SendError`]: no session, a view that is not open, `Loaded` of a view whose page is not safe, or a full lane.
    pub fn view_status(&mut self, view_id: u16, status: ViewState) -> Result<u32, SendError> {
        let views = &self.session_mut()?.views;
        let may_tell = match status {
            ViewState::Loaded => views.is_shown(view_id),
            ViewState::Failed | ViewState::Closed => views.is_open(view_id),
        };
        if !may_tell {
            return Err(SendError::ViewNotOpen { view_id });
        }
        let event_id = self.send_lane(&ClientLaneEvent::ViewStatus(ViewStatus { view_id, status }))?;
        if status != ViewState::Loaded {
            self.session_mut()?.views.hide(view_id);
        }
        Ok(event_id)
    }

    /// Sends what the player did in a view, and gives the event id. `data` is one MessagePack value of at most 1,024
    /// bytes. The server takes ten at once and five a second.
    ///
    /// # Errors
    /// [`SendError`]: no session, a view that is not shown, a value that cannot be sent, or a full lane.
    pub fn view_action(&mut self, view_id: u16, data: &[u8]) -> Result<u32, SendError> {
        if !self.session_mut()?.views.is_shown(view_id) {
            return Err(SendError::ViewNotOpen { view_id });
        }
        let data = EventData::parse(data.to_vec()).map_err(|fault| SendError::BadEvent {
            fault: fault.to_string(),
        })?;
        self.send_lane(&ClientLaneEvent::ViewAction(ViewAction { view_id, data }))
    }
}
