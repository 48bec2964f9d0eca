//! The driver and the bots over real sockets, against a stand-in of the server.

#[cfg(test)]
mod bots;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod fake_server;
#[cfg(test)]
mod logins;
