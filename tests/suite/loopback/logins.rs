//! The sample `login` in a real server: registering, logging in, being remembered, a website; what it refuses; and that
//! nothing secret is told to anybody.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use decitick_client::{
    client::EndReason,
    driver::{DownloadLimits, download_files, query},
};
use decitick_protocol::ServerLaneEvent;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    guest::Guest,
    server::{Server, decitick},
    text,
};
use crate::tokens;

/// The key of the identity site that the servers here know.
const SITE: [u8; 32] = [3; 32];

/// A running server with the sample login.
pub(super) struct LoginServer {
    directory: TempDir,
    pub(super) server: Server,
    pub(super) address: SocketAddr,
    pub(super) key: [u8; 32],
}

impl LoginServer {
    /// Starts one that knows this provider, and sends players to `site` for it.
    pub(super) fn start(provider: &str, site: &str, arguments: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().to_str().unwrap();
        assert!(decitick(&["init", path]).status.success());
        let settings = format!(
            "(resources: [\"freeroam\"], auth: Some((resource: \"login\", providers: [{provider}])))"
        );
        fs::write(directory.path().join("assets/server.ron"), settings).unwrap();
        set_site(directory.path(), site);
        let check = decitick(&["check", path]);
        assert!(check.status.success(), "{}", text(&check.stdout));
        let server = Server::start(directory.path(), arguments);
        let address = server.addresses()[0];
        let key = query(address).unwrap().info.server_key;
        Self {
            directory,
            server,
            address,
            key,
        }
    }

    fn with_site_key(arguments: &[&str]) -> Self {
        let provider = &tokens::providers(&[("example", SITE)])[0];
        let key: String = provider.key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::start(
            &format!("(id: \"example\", key: \"{key}\")"),
            "http://127.0.0.1:1/login",
            arguments,
        )
    }

    pub(super) fn guest(&self, name: &str, credential: Option<[u8; 32]>) -> Guest {
        Guest::connect(self.address, self.key, name, credential)
    }

    /// A guest that was asked who it is.
    fn asked(&self, name: &str, credential: Option<[u8; 32]>) -> Guest {
        let mut guest = self.guest(name, credential);
        let asked = guest.hear();
        assert_eq!(asked["state"], "ask");
        assert_eq!(asked["remember"], credential.is_some());
        guest.loaded();
        guest
    }
}

fn set_site(directory: &Path, site: &str) {
    let main = directory.join("scripts/login/main.rhai");
    let script = fs::read_to_string(&main).unwrap();
    assert!(script.contains("const SITE = \"\";"));
    fs::write(
        &main,
        script.replace("const SITE = \"\";", &format!("const SITE = \"{site}\";")),
    )
    .unwrap();
}

fn enter(what: &str, account: &str, password: &str) -> Value {
    json!({"do": what, "account": account, "password": password, "remember": false})
}

/// A token of the site for this guest's ticket.
fn token(guest: &Guest, ticket: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    tokens::signed(
        &SITE,
        &tokens::claims(&guest.server_key, "example", ticket, now + 120),
    )
}

/// Asks for a ticket.
fn ticket(guest: &mut Guest) -> String {
    guest.act(&json!({"do": "web", "remember": false}));
    let sent = guest.hear();
    assert_eq!(
        (&sent["state"], &sent["site"]),
        (&json!("web"), &json!("http://127.0.0.1:1/login"))
    );
    sent["ticket"].as_str().unwrap().to_owned()
}

#[test]
fn an_account_is_registered_logged_into_and_guarded() {
    let host = LoginServer::with_site_key(&[]);
    let mut ada = host.asked("Ada", None);
    ada.act(&enter("register", "Ada.1", "correct horse"));
    ada.let_in();
    // Twice the same account, in other letters.
    let mut eve = host.asked("Eve", None);
    eve.act(&enter("register", "ada.1", "something else"));
    assert_eq!(
        eve.hear(),
        json!({"state": "error", "text": "This account name is taken"})
    );
    // A wrong password and no such account are answered alike.
    let wrong = json!({"state": "error", "text": "Wrong account or password"});
    eve.act(&enter("login", "ada.1", "wrong horse battery"));
    assert_eq!(eve.hear(), wrong);
    eve.act(&enter("login", "nobody", "wrong horse battery"));
    assert_eq!(eve.hear(), wrong);
    // Whoever knows the password comes in, and the one before goes.
    eve.act(&enter("login", "ADA.1", "correct horse"));
    eve.let_in();
    let EndReason::Kicked { reason } = ada.end() else {
        panic!("{:?}", ada.end());
    };
    assert!(reason.contains("elsewhere"), "{reason}");
    eve.leave();
}

#[test]
fn a_client_fetches_the_announced_files_while_it_waits_and_again_when_they_change() {
    let host = LoginServer::with_site_key(&[]);
    let mut ada = host.guest("Ada", None);
    let kept = TempDir::new().unwrap();
    let announced = |guest: &mut Guest| {
        guest.wait("FilesManifest", |event| match event {
            ServerLaneEvent::FilesManifest(files) if files.resource.as_str() == "login" => Some(files.sha256),
            _ => None,
        })
    };
    let fetch = |guest: &Guest, sha256| {
        let address = SocketAddr::new(host.address.ip(), guest.files_port);
        download_files(address, "login", &sha256, kept.path(), &DownloadLimits::default()).unwrap();
    };
    let served = host.directory.path().join("scripts/login/client");
    let same = |name: &str| fs::read(kept.path().join(name)).unwrap() == fs::read(served.join(name)).unwrap();
    let first = announced(&mut ada);
    fetch(&ada, first);
    assert!(["login.html", "login.css", "login.js"].into_iter().all(same));
    fs::write(served.join("login.css"), "body { color: red; }").unwrap();
    let second = announced(&mut ada);
    assert_ne!(first, second);
    fetch(&ada, second);
    assert!(same("login.css"));
    assert!(!ada.is_in(), "the login goes on: the scripts were left alone");
    ada.act(&enter("register", "ada", "correct horse"));
    ada.let_in();
}

#[test]
fn one_account_plays_once_even_after_a_reload() {
    let host = LoginServer::with_site_key(&[]);
    let mut ada = host.asked("Ada", None);
    ada.act(&enter("register", "ada", "correct horse"));
    ada.let_in();
    let restarted = host.server.console("resource restart login");
    assert!(restarted.status.success(), "{}", text(&restarted.stderr));
    let mut twin = host.asked("Twin", None);
    twin.act(&enter("login", "ada", "correct horse"));
    twin.let_in();
    assert!(matches!(ada.end(), EndReason::Kicked { reason } if reason.contains("elsewhere")));
}

#[test]
fn on_a_server_that_does_not_ask_for_logins_the_resource_leaves_everybody_alone() {
    let directory = TempDir::new().unwrap();
    assert!(
        decitick(&["init", directory.path().to_str().unwrap()])
            .status
            .success()
    );
    fs::write(
        directory.path().join("assets/server.ron"),
        "(resources: [\"login\", \"freeroam\"])",
    )
    .unwrap();
    let server = Server::start(directory.path(), &[]);
    server.wait_for_line("judges_nobody");
    let address = server.addresses()[0].to_string();
    let run = decitick(&["bots", &address, "--count", "3", "--seconds", "1"]);
    assert!(run.status.success(), "{}", text(&run.stdout));
    assert!(!server.log().iter().any(|line| line.contains("script_error")));
}

#[test]
fn what_is_no_name_or_no_password_is_told_and_too_many_mistakes_end_it() {
    let host = LoginServer::with_site_key(&[]);
    let mut eve = host.asked("Eve", None);
    for (account, password, part) in [
        ("ab", "long enough", "account name"),
        ("a:b", "long enough", "account name"),
        ("fine", "short", "password"),
    ] {
        eve.act(&enter("register", account, password));
        let told = eve.hear();
        assert!(told["text"].as_str().unwrap().contains(part), "{told}");
    }
    // Values of other kinds than the page sends change nothing.
    eve.act(&json!(["login"]));
    eve.act(&json!({"do": 5}));
    eve.act(&json!({"do": "register", "account": 7, "password": {"a": 1}}));
    assert_eq!(eve.hear()["state"], "error");
    eve.act(&enter("login", "nobody", "long enough"));
    assert!(
        matches!(eve.end(), EndReason::LoginRefused { reason: Some(reason) } if reason == "Too many failed attempts")
    );
    assert!(
        !host.server.log().iter().any(|line| line.contains("script_error")),
        "{:#?}",
        host.server.log()
    );
}

#[test]
fn attempts_on_one_account_are_limited_over_all_connections() {
    let host = LoginServer::with_site_key(&[]);
    let mut attempts = 0;
    for round in 0..3 {
        let mut eve = host.asked(&format!("Eve {round}"), None);
        for _ in 0..3 {
            eve.act(&enter("login", "victim", "some password"));
            let told = eve.hear();
            if told["state"] == "wait" {
                let seconds = told["seconds"].as_i64().unwrap();
                assert!((1..=30).contains(&seconds), "{told}");
                assert_eq!(attempts, 5);
                // Another account is not held up by it.
                eve.act(&enter("register", "other", "some password"));
                eve.let_in();
                return;
            }
            attempts += 1;
        }
        eve.leave();
    }
    panic!("{attempts} attempts, and no limit");
}

#[test]
fn a_remembered_computer_is_let_in_without_a_page_until_it_is_forgotten() {
    let host = LoginServer::with_site_key(&[]);
    let seed = [0x77; 32];
    let mut ada = host.asked("Ada", Some(seed));
    ada.act(&json!({"do": "register", "account": "ada", "password": "correct horse", "remember": true}));
    ada.let_in();
    ada.leave();
    let mut again = host.guest("Ada", Some(seed));
    again.let_in();
    assert_eq!(again.view, None, "no page was shown");
    // Another computer is asked.
    host.asked("Eve", Some([0x78; 32])).leave();
    again.say("/forget");
    again.wait("the answer", |event| match event {
        ServerLaneEvent::ChatMessage(chat) => chat.text.as_str().contains("forgotten").then_some(()),
        _ => None,
    });
    again.leave();
    host.asked("Ada", Some(seed)).leave();
}

#[test]
fn the_word_of_a_website_makes_an_account_of_its_own() {
    let host = LoginServer::with_site_key(&[]);
    let mut ada = host.asked("Ada", None);
    let ticket = ticket(&mut ada);
    ada.assert("e30.e30.e30");
    assert!(ada.hear()["text"].as_str().unwrap().contains("not valid"));
    let token = token(&ada, &ticket);
    ada.assert(&token);
    assert!(ada.hear()["text"].as_str().unwrap().contains("used before"));
    let fresh = self::ticket(&mut ada);
    let token = self::token(&ada, &fresh);
    ada.assert(&token);
    ada.let_in();
    let greeting = ada.wait("the greeting", |event| match event {
        ServerLaneEvent::ChatMessage(chat) => chat
            .text
            .as_str()
            .strip_prefix("Logged in as ")
            .map(str::to_owned),
        _ => None,
    });
    assert_eq!(greeting, "example:ada");
    // With a password nobody reaches it.
    let mut eve = host.asked("Eve", None);
    eve.act(&enter("login", "example:ada", "some password"));
    assert!(eve.hear()["text"].as_str().unwrap().contains("account name"));
}

#[test]
fn bots_log_in_every_way_they_can_without_a_website() {
    let host = LoginServer::with_site_key(&[]);
    let address = host.address.to_string();
    for login in ["password", "password", "credential"] {
        let run = decitick(&[
            "bots",
            &address,
            "--count",
            "4",
            "--seconds",
            "1",
            "--login",
            login,
            "--json",
        ]);
        let report = text(&run.stdout);
        assert!(run.status.success(), "{login}: {report} {}", text(&run.stderr));
    }
    let run = decitick(&["bots", &address, "--count", "1", "--seconds", "1"]);
    assert!(!run.status.success());
    let told = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert!(told.contains("--login"), "{told}");
}

#[test]
fn nothing_secret_is_in_any_log_answer_or_file_that_others_read() {
    let host = LoginServer::with_site_key(&["--set", "log.filter=\"trace\""]);
    let seed = [0x55; 32];
    let (right, wrong) = ("quite-a-secret-1", "quite-a-secret-2");
    let mut ada = host.asked("Ada", Some(seed));
    ada.act(&enter("login", "ada", wrong));
    ada.hear();
    ada.act(&json!({"do": "register", "account": "ada", "password": right, "remember": true}));
    ada.let_in();
    let mut bob = host.asked("Bob", None);
    let stale = ticket(&mut bob);
    let good = ticket(&mut bob);
    let token = token(&bob, &good);
    bob.assert(&token);
    bob.let_in();
    let mut eve = host.asked("Eve", Some(seed.map(|byte| byte ^ 1)));
    let unused = ticket(&mut eve);
    let mut told = String::new();
    for command in [
        "help",
        "status",
        "status --json",
        "players",
        "players --json",
        "drops",
        "limits",
        "bans",
        "identity",
        "resource list",
        "resource list --json",
        "eval players::all()",
        "eval @login players::all().len()",
        "kick 2 enough",
    ] {
        let answer = host.server.console(command);
        told.push_str(&text(&answer.stdout));
        told.push_str(&text(&answer.stderr));
    }
    host.server.console("resource restart login");
    ada.leave();
    bob.leave();
    host.server.signal(nix::sys::signal::Signal::SIGTERM);
    let directory = host.directory;
    let (code, log) = host.server.wait();
    assert_eq!(code, Some(0));
    told.push_str(&log.join("\n"));
    assert!(
        told.contains("login began") && told.contains("receive buffer"),
        "the log is whole"
    );
    let public = decitick_protocol::credential::public_key(&seed);
    let id = decitick_protocol::credential::credential_id(&public);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let signature = token.rsplit('.').next().unwrap().to_owned();
    let secrets = [
        right.to_owned(),
        wrong.to_owned(),
        stale,
        good,
        unused,
        token,
        signature,
        hex(&id),
        hex(&public),
        hex(&seed),
        "$argon2".to_owned(),
    ];
    for secret in &secrets {
        assert!(!told.contains(secret.as_str()), "{secret} was told");
    }
    // The history of the console and whatever else lies in the directory, but for the database of accounts.
    for entry in files_of(directory.path()) {
        if entry
            .extension()
            .is_some_and(|extension| extension.to_string_lossy().starts_with("sqlite"))
        {
            continue;
        }
        let held = fs::read(&entry).unwrap();
        for secret in secrets.iter().filter(|secret| *secret != "$argon2") {
            let found = held
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", entry.display());
        }
    }
}

fn files_of(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(files_of(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}
