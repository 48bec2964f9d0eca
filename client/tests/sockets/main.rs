//! The driver and the bots over real sockets, against a stand-in of the server; downloads, too.

#[cfg(test)]
mod bots;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod fake_server;
#[cfg(test)]
mod files;
#[cfg(test)]
mod logins;
