//! A real browser, headless, driven over its own pipe: no driver program, no port. Where none is installed, tests that need
//! one say so and pass.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Instant,
};

use base64ct::{Base64, Encoding};
use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::PATIENCE;

/// Chromium and Chrome under the names that distributions give them.
const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// One browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    last_id: u64,
    session: String,
    /// What scripts and the browser itself complained about since it was asked for.
    complaints: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser; `None` where none is installed.
    pub(crate) fn start() -> Option<Self> {
        let program = PROGRAMS.into_iter().find(|program| is_installed(program))?;
        let profile = TempDir::new().unwrap();
        let [to, from] = ["commands", "answers"].map(|name| {
            let path = profile.path().join(name);
            mkfifo(&path, Mode::from_bits_truncate(0o600)).unwrap();
            path
        });
        // The browser reads commands on its third descriptor and answers on its fourth; a shell puts them there.
        let child = Command::new("bash")
            .args(["-c", "exec \"$0\" \"${@:3}\" 3<\"$1\" 4>\"$2\"", program])
            .args([&to, &from])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
            ])
            .arg(format!(
                "--user-data-dir={}",
                profile.path().join("profile").display()
            ))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(&to).unwrap();
        let answers = listen(&from);
        let mut browser = Self {
            child,
            commands,
            answers,
            last_id: 0,
            session: String::new(),
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        );
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// A browser, or why the test is left out; where everything is installed, as in the gate, nothing may be.
    #[expect(
        clippy::print_stdout,
        reason = "whoever reads the output learns what was left out"
    )]
    pub(crate) fn start_or_skip() -> Option<Self> {
        let browser = Self::start();
        if browser.is_none() {
            assert!(
                std::env::var_os("DECITICK_SKIP_NOTHING").is_none(),
                "DECITICK_SKIP_NOTHING is set, and no Chromium is installed"
            );
            println!("skipped: no Chromium is installed (Debian: apt-get install chromium)");
        }
        browser
    }

    /// Gives the page this size in pixels.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}),
        );
    }

    /// The picture of what is to be seen, as a PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        Base64::decode_vec(answer["data"].as_str().unwrap()).unwrap()
    }

    /// Loads the page anew, as F5 does.
    pub(crate) fn reload(&mut self) {
        self.call("Page.reload", json!({}));
    }

    /// Presses and lets go of the first mouse button at a place of the page.
    pub(crate) fn click_at(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}),
            );
        }
    }

    /// Clicks the first element of a selector, which must be there and in sight.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.value_of(&format!(
            "(() => {{ const element = document.querySelector({}); element.scrollIntoView({{block: 'center'}}); \
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        let at = |index: usize| {
            place[index]
                .as_f64()
                .unwrap_or_else(|| panic!("nothing to click: {selector}"))
        };
        self.click_at(at(0), at(1));
    }

    /// What was complained about since the last time.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Runs a script in every document of the page before its own scripts.
    pub(crate) fn in_every_document(&mut self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}));
    }

    /// Goes to an address.
    pub(crate) fn go(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
    }

    /// The value of an expression in the page; null when the page is between two documents.
    pub(crate) fn value_of(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true}),
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn wait_until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.value_of(expression) != json!(true) {
            assert!(
                Instant::now() < deadline,
                "{expression} does not become true; the page is {} and reads {}",
                self.value_of("location.href"),
                self.value_of("document.body.innerText")
            );
            thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Types into a field and presses a button, as a person does.
    pub(crate) fn fill(&mut self, id: &str, text: &str) {
        self.value_of(&format!(
            "(() => {{ const field = document.getElementById({0}); field.focus(); field.value = {1}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()",
            json!(id),
            json!(text)
        ));
    }

    /// Presses a button.
    pub(crate) fn press(&mut self, id: &str) {
        self.value_of(&format!("document.getElementById({}).click()", json!(id)));
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if !self.session.is_empty() && !method.starts_with("Target.") {
            command["sessionId"] = self.session.clone().into();
        }
        let mut bytes = serde_json::to_vec(&command).unwrap();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self
                .answers
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("{method}: the browser does not answer: {error}"));
            if answer["id"] == self.last_id {
                return answer["result"].clone();
            }
            let told = &answer["params"];
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(told["exceptionDetails"].to_string()),
                Some("Log.entryAdded") if told["entry"]["level"] == "error" => {
                    self.complaints.push(told["entry"].to_string());
                }
                _ => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Answers end in a zero byte each.
fn listen(from: &Path) -> Receiver<Value> {
    let (send, answers) = channel();
    let from = from.to_owned();
    thread::spawn(move || {
        let Ok(mut pipe) = File::open(from) else { return };
        let (mut held, mut piece) = (Vec::new(), [0; 64 * 1024]);
        while let Ok(read @ 1..) = pipe.read(&mut piece) {
            held.extend_from_slice(&piece[..read]);
            while let Some(end) = held.iter().position(|&byte| byte == 0) {
                let message: Vec<u8> = held.drain(..=end).collect();
                let Ok(value) = serde_json::from_slice(&message[..end]) else {
                    return;
                };
                if send.send(value).is_err() {
                    return;
                }
            }
        }
    });
    answers
}
