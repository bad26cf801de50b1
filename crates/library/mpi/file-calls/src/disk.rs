//! Where a collective access does its reading and writing: in the call, or by the pool's threads while other threads make
//! progress.

use std::future::poll_fn;
use std::sync::Arc;

use parking_lot::Mutex;
use weft_messages::operation::Awaited;
use weft_process::engine::engine;

use super::pool;

#[derive(Clone, Copy)]
pub(super) enum Disk<'a> {
    Here,
    /// For an operation on a lane.
    Pool(&'a Awaited, u32),
}

impl Disk<'_> {
    /// Does the work, and gives what it returns.
    pub async fn run<T: Send + 'static>(self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let Disk::Pool(awaited, lane) = self else {
            return work();
        };
        let Ok(done) = engine().external(lane) else {
            // There are no more requests to wait for.
            return work();
        };
        let place = Arc::new(Mutex::new(None));
        let result = place.clone();
        pool::submit(move || {
            let outcome = work();
            *result.lock() = Some(outcome);
            engine().complete_external(done);
        });
        poll_fn(|_| engine().poll_request(awaited, done)).await;
        let outcome = place.lock().take();
        outcome.expect("the work was over before its request")
    }
}
