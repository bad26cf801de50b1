//! Operations: futures that go on while any thread makes progress, and for which a request stands.
//!
//! A future is made of messages, waiting for each as it needs it. It is polled by a thread that makes progress on the engine
//! (a call that tests or waits, for whatever) once what it waits for has come; there is no executor.
//! 1. Before a future returns `Pending` it leaves its [`Awaited`] in the request that it waits for
//!    ([`Engine::await_request`]). The thread that completes the request then calls the operation: it is listed as ready, and polled by
//!    the thread that takes it from the list, one at a time (`weft_sync::TaskState`). A turn of progress so costs what is ready, not
//!    what is under way.
//! 2. No lane's section is held while it is polled, so it may begin further operations.
//! 3. No thread sleeps on news for an operation: the watcher does not while one is ready, and a thread that calls, begins or
//!    polls one while the watcher sleeps rings the doorbell for it (`weft_sync::Ready`, rule 5). It also looks then at lanes that were made meanwhile.
//! 4. The request that stands for it is one that is completed from outside (`external.rs`), so waiting for an operation
//!    is waiting for a request.

use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use weft_sync::TaskState;
use weft_transport::Fabric;

use crate::engine::{Engine, Exhausted};
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::Role;
use crate::status::Status;
use crate::waiter::{Operation, Running, Waiter};

/// Operations that a thread polls before it looks again at what it waits for.
const AT_ONCE: usize = 16;

thread_local! {
    /// Whether this is the background thread, which polls operations that say so, and no others though it waits in one.
    pub(crate) static IS_BACKGROUND: Cell<bool> = const { Cell::new(false) };
}

/// What an operation's future leaves in the request that it waits for (rule 1).
#[derive(Clone)]
pub struct Awaited(pub(crate) Arc<Waiter>);

impl Awaited {
    /// Has the operation polled in the next turn of progress, as if what it waits for had come. No thread that sleeps is woken for it.
    pub fn call(&self) {
        self.0.tell();
    }
}

impl<F: Fabric> Engine<F> {
    /// Begins an operation: `make` is given what the future leaves in requests. The request is
    /// [`RequestId::DONE`] if it is over already and its outcome is empty. `context` is told with a failure.
    pub fn begin<T>(
        &self,
        lane: u32,
        context: u32,
        make: impl FnOnce(Awaited) -> T,
    ) -> Result<RequestId, Exhausted>
    where
        T: Future<Output = Status> + Send + 'static,
    {
        self.begin_operation(lane, context, false, make)
    }

    /// As [`begin`](Self::begin), of one that calls nothing of the program's: the background thread polls it too.
    pub fn begin_in_background<T>(
        &self,
        lane: u32,
        context: u32,
        make: impl FnOnce(Awaited) -> T,
    ) -> Result<RequestId, Exhausted>
    where
        T: Future<Output = Status> + Send + 'static,
    {
        self.begin_operation(lane, context, true, make)
    }

    fn begin_operation<T>(
        &self,
        lane: u32,
        context: u32,
        in_background: bool,
        make: impl FnOnce(Awaited) -> T,
    ) -> Result<RequestId, Exhausted>
    where
        T: Future<Output = Status> + Send + 'static,
    {
        let request = self.open(Role::Operation, lane, context)?;
        let operation = Arc::new(Operation {
            future: Mutex::new(None),
            state: TaskState::running(),
            request,
            in_background,
            question: Mutex::new(None),
            ready: self.operations.ready.clone(),
        });
        let awaited = Awaited(Arc::new(Waiter::Operation(operation.clone())));
        let mut future: Running = Box::pin(make(awaited));
        if let Poll::Ready(status) = poll(&mut future) {
            drop(future);
            self.operations.asking.remove(&operation);
            self.close(Role::Operation, request, status);
            if status == Status::EMPTY {
                self.finish(request);
                return Ok(RequestId::DONE);
            }
            return Ok(request);
        }
        *operation.future.lock() = Some(future);
        self.operations.count.fetch_add(1, Ordering::Relaxed);
        operation.rest();
        self.ring_if_asleep();
        Ok(request)
    }

    /// Has the operation polled when the request completes. False if it is complete, or finished.
    pub fn await_request(&self, awaited: &Awaited, id: RequestId) -> bool {
        self.leave_waiter(id, &awaited.0)
    }

    /// The status of a request that an operation waits for, which uses it up; while it is pending, the operation's
    /// future is to return that.
    pub fn poll_request(&self, awaited: &Awaited, id: RequestId) -> Poll<Status> {
        match self.await_request(awaited, id) {
            true => Poll::Pending,
            false => Poll::Ready(self.finish(id)),
        }
    }

    /// Whether a request stands for an operation that is under way.
    pub fn is_operation(&self, id: RequestId) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return false;
        };
        let mut state = lane.enter_soon();
        // SAFETY: pending on this lane, whose section is held.
        let slot = (!self.slots.at(index).is_complete()).then(|| unsafe { Pending::new(index) });
        let found = slot.is_some_and(|slot| state.core.cells(slot).role == Role::Operation);
        self.leave(lane, state);
        found
    }

    /// Before a sleep: whether no operation is ready that this thread polls.
    pub(crate) fn prepare_operations(&self) -> bool {
        let ready = &self.operations.ready;
        match IS_BACKGROUND.get() {
            true => {
                ready.prepare_sleep_without(|operation: &Arc<Operation>| operation.in_background)
            }
            false => ready.prepare_sleep(),
        }
    }

    /// Polls some of the operations for which something has come. Whether there were any.
    #[cold]
    #[inline(never)]
    pub(crate) fn turn_operations(&self) -> bool {
        let ready = &self.operations.ready;
        let ready = match IS_BACKGROUND.get() {
            true => ready.take_those(AT_ONCE, |operation| operation.in_background),
            false => ready.take(AT_ONCE).into(),
        };
        ready
            .iter()
            .for_each(|operation| self.turn_operation(operation));
        !ready.is_empty()
    }

    /// Polls one that was taken from the list.
    fn turn_operation(&self, operation: &Arc<Operation>) {
        operation.state.take();
        let mut held = operation.future.lock();
        let Some(status) = held.as_mut().map(poll) else {
            return;
        };
        let Poll::Ready(status) = status else {
            drop(held);
            operation.rest();
            self.ring_if_asleep();
            return;
        };
        let over = held.take();
        drop(held);
        // What it held is let go before anyone learns that it is over.
        drop(over);
        self.operations.asking.remove(operation);
        self.operations.count.fetch_sub(1, Ordering::Relaxed);
        self.close(Role::Operation, operation.request, status);
    }

    /// Rule 3: the watcher is to look again.
    pub(crate) fn ring_if_asleep(&self) {
        if self.operations.ready.is_asleep() {
            self.fabric.wake();
        }
    }
}

fn poll(future: &mut Running) -> Poll<Status> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}
