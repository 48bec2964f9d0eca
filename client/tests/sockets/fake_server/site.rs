//! A login provider's site of a few lines: one page with a form, one way back. What it issues is no real token; the
//! stand-in of the server takes it all the same.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::Gate;

const PATH: &str = "/sign/in";

pub(super) struct Site {
    listener: TcpListener,
    refuses: bool,
}

impl Site {
    pub(super) fn open(gate: &Gate) -> Option<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        gate.site.then_some(Self {
            listener,
            refuses: gate.site_refuses,
        })
    }

    /// The URL of its page; it has a query of its own.
    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}?lang=en", self.listener.local_addr().unwrap())
    }

    /// Answers who is there.
    pub(super) fn serve(&self) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let Some(request) = read_request(&mut stream) else {
                continue;
            };
            let answer = self.answer(&request);
            let _ = write!(stream, "HTTP/1.1 {answer}");
        }
    }

    fn answer(&self, request: &Request) -> String {
        let page = |status: &str| {
            let body = "<form method=post>";
            let length = body.len();
            format!(
                "{status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
        };
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let fields = fields(if request.method == "GET" {
            query
        } else {
            &request.body
        });
        let field = |name: &str| fields.get(name).map_or("", String::as_str);
        let complete = ["server", "ticket", "return"]
            .iter()
            .all(|name| !field(name).is_empty());
        if path != PATH || !complete || field("server").len() != 64 {
            return page("404 Not Found");
        }
        if request.method == "GET" {
            // The site's own part of its URL is to be kept.
            return page(if field("lang") == "en" {
                "200 OK"
            } else {
                "404 Not Found"
            });
        }
        let known = field("account").starts_with("bot_") && field("password") == "decitick-bot";
        if self.refuses || !known || !query.is_empty() {
            return page("200 OK");
        }
        let location = format!("{}#token=header.{}.signature", field("return"), field("ticket"));
        format!("303 See Other\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }
}

struct Request {
    method: String,
    target: String,
    body: String,
}

/// A request with a body as long as it says; `None` when it does not come in time.
fn read_request(stream: &mut impl Read) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    loop {
        let text = String::from_utf8(bytes.clone()).unwrap();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.trim().parse().unwrap());
            if body.len() >= length {
                let is_form = lower.contains("application/x-www-form-urlencoded");
                assert!(length == 0 || is_form, "{head}");
                let mut words = head.split(' ');
                return Some(Request {
                    method: words.next()?.to_owned(),
                    target: words.next()?.to_owned(),
                    body: body.to_owned(),
                });
            }
        }
        match stream.read(&mut room) {
            Ok(length @ 1..) => bytes.extend_from_slice(&room[..length]),
            _ => return None,
        }
    }
}

fn fields(text: &str) -> BTreeMap<String, String> {
    text.split('&')
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}
