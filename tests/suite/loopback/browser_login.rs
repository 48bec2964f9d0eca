//! The whole way in with a real browser: the login page of the sample, the identity site, and back.
//!
//! The test is the game client around the browser's view: it puts `window.decitick` into pages of the server's own files,
//! and carries what pages say to the server and back (docs/login.md).

use std::{net::SocketAddr, sync::mpsc, thread, time::Instant};

use clap::Parser;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    browser::Browser,
    guest::Guest,
    logins::LoginServer,
    server::{PATIENCE, decitick},
    text,
};
use crate::identity_site;

/// What a client puts into the pages of the server's own files, and into no other.
const BRIDGE: &str = r#"
if (location.origin === ORIGIN) {
  const said = [], held = [];
  let hear = null;
  window.bridge = {
    said: () => JSON.stringify(said.splice(0)),
    tell: (value) => { if (hear) hear(value); else held.push(value); },
  };
  window.decitick = {
    send: (value) => said.push({ action: value }),
    assertion: (token) => said.push({ assertion: token }),
    get ondata() { return hear; },
    set ondata(handler) { hear = handler; for (const value of held.splice(0)) handler(value); },
  };
}
"#;

/// A client with a browser that shows the page it was told to show.
struct Screen {
    browser: Browser,
    guest: Guest,
    unsaid: Vec<Value>,
}

impl Screen {
    /// `None` where no browser is installed.
    fn open(host: &LoginServer, name: &str) -> Option<Self> {
        let mut browser = Browser::start_or_skip()?;
        let mut guest = host.guest(name, Some([0x31; 32]));
        let (resource, page) = guest.wait("ViewOpen", |event| match event {
            decitick_protocol::ServerLaneEvent::ViewOpen(open) => {
                Some((open.resource.as_str().to_owned(), open.page.as_str().to_owned()))
            }
            _ => None,
        });
        let origin = format!("http://{}:{}", host.address.ip(), guest.files_port);
        browser.in_every_document(&BRIDGE.replace("ORIGIN", &json!(origin).to_string()));
        browser.go(&format!("{origin}/{resource}/{page}"));
        browser.wait_until("document.readyState === 'complete' && Boolean(window.bridge)");
        guest.loaded();
        Some(Self {
            browser,
            guest,
            unsaid: Vec::new(),
        })
    }

    /// Carries words both ways until `done`.
    fn until(&mut self, what: &str, mut done: impl FnMut(&mut Browser, &mut Guest) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(&mut self.browser, &mut self.guest) {
            assert!(
                Instant::now() < deadline,
                "{what}: the page is {} and reads {}",
                self.browser.value_of("location.href"),
                self.browser.value_of("document.body.innerText")
            );
            self.carry();
        }
    }

    fn carry(&mut self) {
        self.guest.pump();
        self.unsaid.extend(std::iter::from_fn(|| self.guest.heard()));
        if self.browser.value_of("Boolean(window.bridge)") != json!(true) {
            return;
        }
        for value in self.unsaid.drain(..) {
            self.browser.value_of(&format!("window.bridge.tell({value})"));
        }
        let said = self.browser.value_of("window.bridge.said()");
        let said: Vec<Value> = said
            .as_str()
            .and_then(|said| serde_json::from_str(said).ok())
            .unwrap_or_default();
        for word in said {
            match word["assertion"].as_str() {
                Some(token) => self.guest.assert(token),
                None => self.guest.act(&word["action"]),
            }
        }
    }

    fn until_true(&mut self, expression: &str) {
        self.until(expression, |browser, _| {
            browser.value_of(expression) == json!(true)
        });
    }
}

/// Starts the example site with the account of Ada, and with every other under one password; gives where it listens and its
/// line for the configuration.
fn start_site(directory: &TempDir) -> (SocketAddr, String) {
    let key_file = directory.path().join("site.key");
    let options = identity_site::Options::parse_from([
        "identity_site",
        "--listen",
        "127.0.0.1:0",
        "--account",
        "ada:lovelace",
        "--any-account",
        "of-the-bots",
        "--key-file",
        key_file.to_str().unwrap(),
    ]);
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let ended = identity_site::run(options, |address, configuration| {
            tell.send((address, configuration.to_owned())).unwrap();
        });
        if let Err(error) = ended {
            panic!("the site does not run: {error}");
        }
    });
    told.recv_timeout(PATIENCE).expect("the site listens")
}

#[test]
fn bots_log_in_at_the_website() {
    let directory = TempDir::new().unwrap();
    let (site, provider) = start_site(&directory);
    let host = LoginServer::start(&provider, &format!("http://{site}/login"), &[]);
    let address = host.address.to_string();
    let run = |password| {
        let way = ["--login", "web", "--login-password", password];
        decitick(
            &[
                &["bots", &address, "--count", "4", "--seconds", "1"],
                way.as_slice(),
            ]
            .concat(),
        )
    };
    let let_in = run("of-the-bots");
    assert!(let_in.status.success(), "{}", text(&let_in.stdout));
    assert!(
        text(&let_in.stdout).contains("4 by web"),
        "{}",
        text(&let_in.stdout)
    );
    let refused = run("of-nobody");
    assert!(!refused.status.success());
    assert!(
        text(&refused.stdout).contains("--any-account"),
        "{}",
        text(&refused.stdout)
    );
}

#[test]
fn a_browser_logs_in_at_the_website_and_comes_back() {
    let directory = TempDir::new().unwrap();
    let (site, provider) = start_site(&directory);
    let host = LoginServer::start(&provider, &format!("http://{site}/login"), &[]);
    let Some(mut screen) = Screen::open(&host, "Ada") else {
        return;
    };
    screen.until_true("!document.getElementById('web').hidden && !document.getElementById('web').disabled");
    screen.browser.press("web");
    let at_site = format!(
        "location.origin === {} && document.readyState === 'complete' && Boolean(document.getElementById('submit'))",
        json!(format!("http://{site}"))
    );
    screen.until_true(&at_site);
    assert_eq!(
        screen.browser.value_of("typeof window.decitick"),
        "undefined",
        "the site gets no bridge"
    );
    // A wrong password first.
    screen.browser.fill("account", "ada");
    screen.browser.fill("password", "byron");
    screen.browser.press("submit");
    screen.until_true("document.body.innerText.includes('do not match')");
    screen.browser.fill("account", "ada");
    screen.browser.fill("password", "lovelace");
    screen.browser.press("submit");
    screen.until("let in", |_, guest| guest.is_in());
    assert_eq!(
        screen.browser.value_of("location.hash"),
        "",
        "the token is not left in the address"
    );
    let greeting = screen.guest.wait("the greeting", |event| match event {
        decitick_protocol::ServerLaneEvent::ChatMessage(chat) => chat
            .text
            .as_str()
            .strip_prefix("Logged in as ")
            .map(str::to_owned),
        _ => None,
    });
    assert!(greeting.starts_with("example:ada"), "{greeting}");
    assert!(!host.server.log().iter().any(|line| line.contains("script_error")));
}

#[test]
fn a_browser_registers_an_account_and_remembers_the_computer() {
    let host = LoginServer::start("", "", &[]);
    let Some(mut screen) = Screen::open(&host, "Bob") else {
        return;
    };
    screen.until_true("!document.getElementById('login').disabled");
    assert_eq!(
        screen.browser.value_of("document.getElementById('web').hidden"),
        json!(true)
    );
    screen.browser.fill("account", "bob");
    screen.browser.fill("password", "not his password");
    screen.browser.press("login");
    screen.until_true("document.getElementById('status').textContent === 'Wrong account or password'");
    screen.until_true("!document.getElementById('register').disabled");
    screen.browser.fill("account", "bob");
    screen.browser.fill("password", "his own password");
    screen.browser.press("remember");
    screen.browser.press("register");
    screen.until("let in", |_, guest| guest.is_in());
    screen.guest.leave();
    let mut again = host.guest("Bob", Some([0x31; 32]));
    again.let_in();
    assert_eq!(again.view, None);
}
