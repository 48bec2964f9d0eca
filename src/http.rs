//! What every edge that speaks HTTP shares: a listener with seats, deadlines for slow senders and slow readers, one
//! connection served request by request, and bodies within bounds.
//!
//! It knows no edge: what a request means and what is answered is a function that the edge gives.

mod body;
mod connection;
mod listener;
mod local;
mod pace;
mod seats;

use std::{convert::Infallible, future::Future, time::Duration};

use decitick_components::settings::Settings;
use hyper::{
    Request, Response,
    body::{Body, Incoming},
};

pub(crate) use self::body::{BodyFault, EdgeBody, discard, read};
pub use self::listener::{HttpListener, ListenError, Purpose};
pub(crate) use self::local::{bearer, is_here, is_json, is_local_origin, only};

/// What a server takes and bears at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Connections in all.
    pub connections: usize,
    /// Connections of one IP.
    pub connections_per_ip: usize,
    /// Leading bits of an IPv6 address that count as one IP.
    pub ipv6_prefix: u8,
    /// Whether 127.0.0.0/8 and ::1 are free of the limit per IP.
    pub loopback_exempt: bool,
    /// Bytes of the head of a request.
    pub head_bytes: usize,
    /// How long the head of a request may take, the wait for it included: so long a connection may be idle.
    pub head_time: Duration,
    /// How long a client may take nothing of a response.
    pub stall_time: Duration,
    /// Over how much time of waiting for a client its pace is judged.
    pub pace_time: Duration,
    /// The slowest pace, in bytes a second.
    pub pace_bytes_per_second: u64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_per_ip: 16,
            ipv6_prefix: 64,
            loopback_exempt: true,
            head_bytes: 8 * 1024,
            head_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(15),
            pace_time: Duration::from_secs(30),
            pace_bytes_per_second: 4 * 1024,
        }
    }
}

impl HttpLimits {
    /// The limits of a server with these settings.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Self {
            ipv6_prefix: settings.limits.ipv6_prefix,
            loopback_exempt: settings.limits.loopback_exempt,
            ..Self::default()
        }
    }

    /// The same for an edge that some browsers talk to, each over several connections.
    #[must_use]
    pub const fn for_browsers(self) -> Self {
        Self {
            connections: 128,
            connections_per_ip: 64,
            // Browsers send along the cookies of everything that is served from this machine.
            head_bytes: 64 * 1024,
            ..self
        }
    }

    /// The same for an edge that few programs talk to.
    #[must_use]
    pub const fn for_few(self) -> Self {
        Self {
            connections: 32,
            connections_per_ip: 16,
            ..self
        }
    }
}

/// Takes connections for ever and answers each of their requests with what `answer` makes of it.
pub(crate) async fn serve<A, F, B>(listener: HttpListener, limits: HttpLimits, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let what = listener.purpose().what;
    listener
        .accept(limits, move |stream| {
            let answer = answer.clone();
            connection::run(stream, limits, what, move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            })
        })
        .await;
}
