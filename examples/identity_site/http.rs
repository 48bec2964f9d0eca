//! The socket under the site: HTTP/1.1 with bounds on connections, time and size.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};

use super::site::{Asked, BODY_MAX, Site, problem};

/// Connections at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(10);
/// How long a connection may last, whatever happens on it.
const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// How long to wait after a failed accept, which mostly means that files have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves the site until the process ends; `listening` is told where, once that is known.
pub(crate) fn serve(listen: SocketAddr, site: Site, listening: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            io::Error::other(format!(
                "cannot listen on {listen}: {error}; name another with --listen"
            ))
        })?;
        listening(listener.local_addr()?);
        accept_all(&listener, &Arc::new(site)).await
    })
}

async fn accept_all(listener: &TcpListener, site: &Arc<Site>) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = Arc::clone(&places)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let site = Arc::clone(site);
        tokio::spawn(async move {
            let service = service_fn(move |request| respond(Arc::clone(&site), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(16 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            // Whoever is cut off or speaks no HTTP has no way to hear of it.
            let _ = timeout(CONNECTION_TIME, connection).await;
            drop(place);
        });
    }
}

type Answer = Result<Response<Full<Bytes>>, Infallible>;

fn respond(site: Arc<Site>, request: Request<Incoming>) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
    Box::pin(async move {
        let (head, body) = request.into_parts();
        let response = match timeout(BODY_TIME, Limited::new(body, BODY_MAX).collect()).await {
            Ok(Ok(body)) => {
                let content_type = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
                site.answer(&Asked {
                    method: &head.method,
                    path: head.uri.path(),
                    query: head.uri.query().unwrap_or_default(),
                    content_type: content_type.unwrap_or_default(),
                    body: &body.to_bytes(),
                })
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => problem(
                StatusCode::PAYLOAD_TOO_LARGE,
                "Too much",
                "A form of this site has at most 8 KiB.",
            ),
            Ok(Err(_)) => problem(StatusCode::BAD_REQUEST, "Unreadable", "The request broke off."),
            Err(_) => problem(
                StatusCode::REQUEST_TIMEOUT,
                "Too slow",
                "The request took too long.",
            ),
        };
        Ok(response.map(|body| Full::new(Bytes::from(body))))
    })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{Ipv4Addr, TcpStream},
        sync::mpsc,
        thread,
    };

    use super::super::{accounts::Accounts, token::SiteKey};
    use super::*;

    /// A site on a port of its own, which lives as long as the process.
    fn start() -> SocketAddr {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let site = Site::new(
                SiteKey::from_seed([7; 32], "example"),
                Accounts::new(&[], None).unwrap(),
                Vec::new(),
            );
            serve((Ipv4Addr::LOCALHOST, 0).into(), site, |address| {
                sender.send(address).unwrap();
            })
        });
        receiver.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    fn exchange(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn post(address: SocketAddr, body: &str) -> String {
        exchange(
            address,
            &format!(
                "POST /login HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: \
                 application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
        )
    }

    #[test]
    fn a_browser_goes_from_the_form_to_the_place_it_came_from() {
        let address = start();
        let request = format!(
            "server={}&ticket=t-1&return=http%3A%2F%2F127.0.0.1%3A7778%2F",
            "a5".repeat(32)
        );
        let get = |path: &str| {
            exchange(
                address,
                &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
            )
        };
        let form = get(&format!("/login?{request}"));
        assert!(
            form.starts_with("HTTP/1.1 200 ") && form.contains("id=\"submit\""),
            "{form}"
        );
        assert!(get("/site.css").contains("text/css"));
        assert!(get("/login").starts_with("HTTP/1.1 400 "));
        assert!(post(address, &format!("{request}&account=ada&password=x")).starts_with("HTTP/1.1 401 "));
        let back = post(address, &format!("{request}&account=ada&password=lovelace"));
        assert!(back.starts_with("HTTP/1.1 303 "), "{back}");
        assert!(
            back.contains("location: http://127.0.0.1:7778/#token=ey"),
            "{back}"
        );
    }

    #[test]
    fn a_body_over_8_kib_is_refused() {
        let address = start();
        let fields = |length: usize| format!("pad={}", "x".repeat(length - 4));
        assert!(post(address, &fields(BODY_MAX)).starts_with("HTTP/1.1 400 "));
        assert!(post(address, &fields(BODY_MAX + 1)).starts_with("HTTP/1.1 413 "));
    }
}
