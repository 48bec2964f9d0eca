//! How a bot talks to the login page: what it does first, what it tries next, and when it gives up. It knows neither
//! packets nor HTTP; `bot/entry.rs` carries out what is decided here.

use std::time::Duration;

use decitick_protocol::escape_for_display;

use super::page::{PageAction, PageState};

/// How long a bot works on its login before it gives up; a little less than servers wait by default.
pub(super) const PATIENCE: Duration = Duration::from_secs(110);
/// Most of a foreign text that a report repeats, in characters.
const SHOWN: usize = 120;

/// How bots log in where the server asks for it (docs/protocol.md 1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// With an account and a password, made when it is missing.
    Password,
    /// With a stored credential: each bot logs in by password once, asks to be remembered, leaves, and comes back. That
    /// second session is the one that is measured.
    Credential,
    /// At the login provider's site, as a browser would.
    Web,
}

impl Login {
    /// Its name, as the command line takes it and reports show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Credential => "credential",
            Self::Web => "web",
        }
    }
}

/// Why a bot's login came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// A stable name, for reports.
    pub(super) reason: &'static str,
    /// What happened and the mend, fit to be shown.
    pub(super) note: String,
}

impl Failure {
    pub(super) fn new(reason: &'static str, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { reason, note }
    }
}

/// What a bot does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// It waits for the server.
    Nothing,
    /// It acts on the page, with this value.
    Act(Vec<u8>),
    /// It visits a site and comes back with a token.
    Visit {
        /// The site's URL.
        site: String,
        /// The ticket to carry there.
        ticket: String,
    },
    /// It gives up.
    Fail(Failure),
}

/// One bot's talk with the page.
pub(super) struct Talk {
    way: Login,
    account: String,
    password: String,
    /// The server's public key in lower-case hex.
    server_key: String,
    step: Step,
    /// When to do the last action again.
    again_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The page has not asked yet.
    Start,
    /// The last action.
    Acted(PageAction),
    /// A site is being visited, or its token judged.
    Away,
}

impl Talk {
    /// A talk that has not begun, for an account of this name.
    pub(super) fn new(way: Login, account: &str, password: &str, server_key: &[u8; 32]) -> Self {
        Self {
            way,
            account: account.to_owned(),
            password: password.to_owned(),
            server_key: crate::client::hex(server_key),
            step: Step::Start,
            again_at: None,
        }
    }

    /// Takes what the page was told at `now`.
    pub(super) fn told(&mut self, now: Duration, data: &[u8]) -> Move {
        let Some(state) = PageState::read(data) else {
            return fail(
                "login_unknown",
                "the login page was told what the bots do not know: they can talk to the sample resource `login` alone",
            );
        };
        match (state, self.step) {
            (PageState::Ask { web, remember }, Step::Start) => self.begin(web, remember),
            // The account may be missing; an unknown account and a wrong password look the same on purpose.
            (PageState::Error { .. }, Step::Acted(PageAction::LogIn)) => self.act(PageAction::Register),
            (PageState::Error { text }, _) => fail(
                "login_error",
                format!("the server said: {}", escape_for_display(&text, SHOWN)),
            ),
            (PageState::Wait { seconds }, _) if seconds >= PATIENCE.as_secs() => fail(
                "login_wait",
                format!("the server wants {seconds} s of waiting before the next attempt"),
            ),
            (PageState::Wait { seconds }, _) => {
                self.again_at = Some(now + Duration::from_secs(seconds));
                Move::Nothing
            }
            (PageState::Web { site, server, ticket }, Step::Acted(PageAction::Web)) => {
                if server != self.server_key {
                    return fail(
                        "login_foreign_server",
                        "the page was told the key of another server",
                    );
                }
                self.step = Step::Away;
                Move::Visit { site, ticket }
            }
            // It may ask again once the page is loaded, and a site that nobody asked for is not visited.
            (PageState::Ask { .. } | PageState::Web { .. }, _) => Move::Nothing,
        }
    }

    /// When [`Talk::again`] is to be called.
    pub(super) const fn due(&self) -> Option<Duration> {
        self.again_at
    }

    /// The last action once more, when the time the server asked for has passed.
    pub(super) fn again(&mut self, now: Duration) -> Move {
        if self.again_at.is_none_or(|at| at > now) {
            return Move::Nothing;
        }
        self.again_at = None;
        match (self.step, self.way) {
            (Step::Acted(action), _) => self.act(action),
            (Step::Away, _) | (Step::Start, Login::Web) => self.act(PageAction::Web),
            (Step::Start, _) => self.act(PageAction::LogIn),
        }
    }

    /// Whether the last thing it did was to make an account.
    pub(super) fn has_registered(&self) -> bool {
        self.step == Step::Acted(PageAction::Register)
    }

    /// Name of the account.
    pub(super) fn account(&self) -> &str {
        &self.account
    }

    /// The server's public key in lower-case hex.
    pub(super) fn server_key(&self) -> &str {
        &self.server_key
    }

    fn begin(&mut self, web: bool, remember: bool) -> Move {
        match self.way {
            Login::Web if !web => fail(
                "login_web_not_offered",
                "the server offers no login at a site: try --login password",
            ),
            Login::Credential if !remember => fail(
                "credential_not_seen",
                "the server was shown a credential and says that there is none to remember",
            ),
            Login::Web => self.act(PageAction::Web),
            Login::Password | Login::Credential => self.act(PageAction::LogIn),
        }
    }

    fn act(&mut self, action: PageAction) -> Move {
        self.step = Step::Acted(action);
        let remember = self.way == Login::Credential;
        Move::Act(action.write(&self.account, &self.password, remember))
    }
}

fn fail(reason: &'static str, note: impl Into<String>) -> Move {
    Move::Fail(Failure::new(reason, note))
}

#[cfg(test)]
mod tests {
    use rmp::encode;

    use super::*;

    const KEY: [u8; 32] = [0xAB; 32];

    fn talk(way: Login) -> Talk {
        Talk::new(way, "bot 1", "secret", &KEY)
    }

    fn told(talk: &mut Talk, texts: &[(&str, &str)], flag: Option<(&str, bool)>) -> Move {
        let mut data = Vec::new();
        encode::write_map_len(&mut data, (texts.len() + flag.iter().count()) as u32).unwrap();
        for text in texts.iter().flat_map(|(key, value)| [key, value]) {
            encode::write_str(&mut data, text).unwrap();
        }
        if let Some((key, value)) = flag {
            encode::write_str(&mut data, key).unwrap();
            encode::write_bool(&mut data, value).unwrap();
        }
        talk.told(Duration::ZERO, &data)
    }

    fn ask(talk: &mut Talk, flag: &str) -> Move {
        told(talk, &[("state", "ask")], Some((flag, true)))
    }

    fn error(talk: &mut Talk) -> Move {
        told(talk, &[("state", "error"), ("text", "no\u{1b}[2J")], None)
    }

    fn wait(talk: &mut Talk, seconds: u32) -> Move {
        let mut data = Vec::new();
        encode::write_map_len(&mut data, 2).unwrap();
        for text in ["state", "wait", "seconds"] {
            encode::write_str(&mut data, text).unwrap();
        }
        encode::write_u32(&mut data, seconds).unwrap();
        talk.told(Duration::from_secs(1), &data)
    }

    fn site(talk: &mut Talk, server: &str) -> Move {
        let texts = [
            ("state", "web"),
            ("site", "http://a/"),
            ("server", server),
            ("ticket", "t"),
        ];
        told(talk, &texts, None)
    }

    fn action(action: PageAction, remember: bool) -> Move {
        Move::Act(action.write("bot 1", "secret", remember))
    }

    fn reason(next: &Move) -> &'static str {
        match next {
            Move::Fail(failure) => failure.reason,
            _ => "none",
        }
    }

    #[test]
    fn a_password_is_tried_first_then_an_account_made_and_then_it_is_over() {
        let mut talk = talk(Login::Password);
        assert_eq!(ask(&mut talk, "web"), action(PageAction::LogIn, false));
        assert_eq!(ask(&mut talk, "web"), Move::Nothing, "asked twice, answered once");
        assert!(!talk.has_registered());
        assert_eq!(error(&mut talk), action(PageAction::Register, false));
        assert!(talk.has_registered());
        let failed = Failure::new("login_error", "the server said: no\\u{1b}[2J");
        assert_eq!(error(&mut talk), Move::Fail(failed));
    }

    #[test]
    fn a_credential_is_to_be_remembered_and_needs_to_be_seen() {
        assert_eq!(
            ask(&mut talk(Login::Credential), "remember"),
            action(PageAction::LogIn, true)
        );
        assert_eq!(
            reason(&ask(&mut talk(Login::Credential), "web")),
            "credential_not_seen"
        );
    }

    #[test]
    fn a_site_is_visited_for_this_server_alone() {
        let key = "ab".repeat(32);
        let mut web = talk(Login::Web);
        assert_eq!(site(&mut web, &key), Move::Nothing, "nobody asked for it");
        assert_eq!(ask(&mut web, "web"), action(PageAction::Web, false));
        let visit = Move::Visit {
            site: "http://a/".to_owned(),
            ticket: "t".to_owned(),
        };
        assert_eq!(site(&mut web, &key), visit);
        assert_eq!(site(&mut web, &key), Move::Nothing, "one visit for one wish");
        assert_eq!(reason(&error(&mut web)), "login_error");

        let mut other = talk(Login::Web);
        ask(&mut other, "web");
        assert_eq!(
            reason(&site(&mut other, &"cd".repeat(32))),
            "login_foreign_server"
        );
        assert_eq!(
            reason(&ask(&mut talk(Login::Web), "remember")),
            "login_web_not_offered"
        );
    }

    #[test]
    fn a_wait_is_sat_out_and_the_same_action_done_again() {
        let mut talk = talk(Login::Password);
        ask(&mut talk, "web");
        error(&mut talk);
        assert_eq!(wait(&mut talk, 5), Move::Nothing);
        assert_eq!(talk.due(), Some(Duration::from_secs(6)));
        assert_eq!(talk.again(Duration::from_millis(5_999)), Move::Nothing);
        assert_eq!(
            talk.again(Duration::from_secs(6)),
            action(PageAction::Register, false)
        );
        assert_eq!((talk.due(), talk.again(Duration::MAX)), (None, Move::Nothing));
        assert_eq!(reason(&wait(&mut talk, 110)), "login_wait");
    }

    #[test]
    fn another_page_is_not_guessed_at() {
        assert_eq!(
            reason(&talk(Login::Password).told(Duration::ZERO, &[0xC0])),
            "login_unknown"
        );
    }
}
