//! A small identity site, so that a web login can be tried on one machine.
//!
//! It shows a form, checks a password and sends the browser back with a signed assertion for one game server
//! (docs/protocol.md 1.5). It is an example, not a product: accounts come from the command line, and it speaks plain
//! HTTP, so it belongs on a loopback address.
//!
//! - `token`: the key and the assertions, made by a JWT library that shares no code with the server's judge.
//! - `accounts`: who may log in.
//! - `request`: for which server and with which ticket a browser may ask.
//! - `return_place`: where it may be sent back to.
//! - `site`: requests in, answers out, without a socket.
//! - `page`: the HTML.
//! - `http`: the socket, with bounds on time and size.

mod accounts;
mod http;
mod page;
mod request;
mod return_place;
mod site;
mod token;

use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;

use accounts::Accounts;
use return_place::ReturnOrigin;
use site::Site;
use token::SiteKey;

/// An identity site to try web logins with.
#[derive(Parser)]
pub(crate) struct Options {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 7790)))]
    listen: SocketAddr,
    /// The file of the site's key; made on the first start
    #[arg(long, value_name = "FILE", default_value = "identity_site.key")]
    key_file: PathBuf,
    /// What the assertions say who issued them, and what the server's configuration calls this site
    #[arg(long, default_value = "example")]
    id: String,
    /// An account; may be given several times. Without any: ada:lovelace
    #[arg(long = "account", value_name = "NAME:PASSWORD")]
    accounts: Vec<String>,
    /// Take every name with this password, for bots
    #[arg(long, value_name = "PASSWORD")]
    any_account: Option<String>,
    /// An origin that browsers may be sent back to, besides http on a loopback address; may be given several times
    #[arg(long = "return-origin", value_name = "ORIGIN")]
    return_origins: Vec<ReturnOrigin>,
}

fn main() -> ExitCode {
    match run(Options::parse(), announce) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "how a program says why it ends")]
            {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "what whoever started it needs next")]
fn announce(address: SocketAddr, configuration: &str) {
    println!("listening on http://{address}");
    println!("for auth.providers of the server's configuration:");
    println!("{configuration}");
}

/// Runs the site until the process ends; `announce` gets where it listens and its line for the server's configuration.
///
/// # Errors
/// In words, when an option, the key file or the address is not usable.
pub(crate) fn run(
    options: Options,
    announce: impl FnOnce(SocketAddr, &str),
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let accounts = Accounts::new(&options.accounts, options.any_account)?;
    let key = SiteKey::load_or_create(&options.key_file, &options.id)?;
    let configuration = key.configuration();
    let site = Site::new(key, accounts, options.return_origins);
    http::serve(options.listen, site, |address| announce(address, &configuration))?;
    Ok(())
}
