//! The runtime of the edges that speak TCP: one thread for all of them, beside the tick and never in its way.
//!
//! It knows no edge. Each one hands it a future, which lives until it ends by itself or the server stops.

use std::{
    future::Future,
    io,
    sync::Arc,
    thread::{self, JoinHandle},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::Notify,
};

/// Threads for reads from disk, which the one thread must not wait for.
const DISK_THREADS: usize = 4;

/// The running thread. Dropping it ends it too, without waiting.
#[derive(Debug)]
pub struct EdgeRuntime {
    handle: Handle,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl EdgeRuntime {
    /// Starts the thread `edges`.
    ///
    /// # Errors
    /// When the system gives no thread or no poll.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(DISK_THREADS)
            .thread_name("edges-disk")
            .build()?;
        let handle = runtime.handle().clone();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name("edges".to_owned()).spawn(move || {
            runtime.block_on(stopped.notified());
            // Ends every edge where it stands, and waits for no disk.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            handle,
            stop,
            thread: Some(thread),
        })
    }

    /// Runs an edge beside the others.
    pub fn spawn(&self, edge: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(edge);
    }

    /// Ends every edge and waits for the thread.
    pub fn finish(mut self) {
        self.stop.notify_one();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the edges had panicked");
        }
    }
}

impl Drop for EdgeRuntime {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    struct TellsItsEnd(mpsc::Sender<&'static str>);

    impl Drop for TellsItsEnd {
        fn drop(&mut self) {
            let _ = self.0.send("ended");
        }
    }

    #[test]
    fn edges_run_on_their_thread_and_end_with_it_wherever_they_stand() {
        let runtime = EdgeRuntime::start().unwrap();
        let (tell, told) = mpsc::channel();
        runtime.spawn(async move {
            let end = TellsItsEnd(tell.clone());
            tell.send(if thread::current().name() == Some("edges") {
                "runs"
            } else {
                "elsewhere"
            })
            .unwrap();
            std::future::pending::<()>().await;
            drop(end);
        });
        let next = || told.recv_timeout(Duration::from_secs(30));
        assert_eq!(next(), Ok("runs"));
        runtime.finish();
        assert_eq!(next(), Ok("ended"));
    }

    #[test]
    fn an_edge_that_panics_takes_no_other_with_it() {
        let runtime = EdgeRuntime::start().unwrap();
        let (tell, told) = mpsc::channel();
        runtime.spawn(async { panic!("as meant") });
        runtime.spawn(async move { tell.send(()).unwrap() });
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(()));
        runtime.finish();
    }
}
