//! Operations: futures that go on while any thread makes progress, and for which a request stands.
//!
//! A future is made of messages, waiting for each as it needs it. It is polled by whoever makes progress on the engine
//! (a call that tests or waits, for whatever) once what it waits for has come; there is no executor and no waker.
//! 1. What a future waits for stands in its [`Awaited`], which it writes before it returns `Pending`: a request, or
//!    to be told ([`Engine::tell`]). Until then it is not polled.
//! 2. A future is polled under the mutex that holds it, by one thread at a time; a thread that finds it held passes on.
//!    No other lock is held while it is polled, so it may begin further operations.
//! 3. Nobody sleeps on news for an operation: before the watcher sleeps, it leaves its parker in each request that an
//!    operation waits for, and does not sleep if one of them has come. Who begins, polls or tells an operation while
//!    the watcher sleeps rings for it, and so it looks again. List and [`Awaited`] are changed before `asleep` is
//!    read, and the watcher sets `asleep` before it reads them (Dekker's protocol).
//! 4. The request that stands for it is one that is completed from outside (`external.rs`), so waiting for an operation
//!    is waiting for a request.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use weft_sync::Parker;
use weft_transport::Fabric;

use crate::slot::{COMPLETE, Role};
use crate::slots::RequestId;
use crate::status::Status;
use crate::{Engine, Exhausted};

/// What an operation's future waits for (rule 1): shared by it and those who poll it.
#[derive(Clone, Default)]
pub struct Awaited(Arc<AtomicU64>);

impl Awaited {
    /// Poll it again.
    const NOTHING: u64 = 0;
    /// To be told. No request's number is as large.
    const TOLD: u64 = u64::MAX;

    /// The future waits for this request, which it found pending.
    pub fn request(&self, id: RequestId) {
        self.0.store(id.bits(), Ordering::SeqCst);
    }

    /// Ready once `met`: asked now, and again after each [`Engine::tell`], which comes after what makes it true.
    pub fn told<T>(&self, met: impl FnOnce() -> Option<T>) -> Poll<T> {
        // First this: who tells between the two stores its word over ours.
        self.0.store(Awaited::TOLD, Ordering::SeqCst);
        met().map_or(Poll::Pending, Poll::Ready)
    }

    /// What it waits for, if that is a request.
    fn id(&self) -> Option<RequestId> {
        match self.0.load(Ordering::SeqCst) {
            Awaited::NOTHING | Awaited::TOLD => None,
            bits => Some(RequestId::from_bits(bits)),
        }
    }
}

type Running = Pin<Box<dyn Future<Output = Status> + Send>>;

pub(crate) struct Operation {
    /// None once it is over (rule 2).
    future: Mutex<Option<Running>>,
    awaited: Awaited,
    request: RequestId,
    /// Where it stands in the list, under whose mutex this is.
    place: AtomicUsize,
}

/// The operations under way.
#[derive(Default)]
pub(crate) struct Active {
    list: Mutex<Vec<Arc<Operation>>>,
    /// The list's length, for those who pass by. Written under the mutex.
    count: AtomicUsize,
}

impl Active {
    /// Whether there is any. One load.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn add(&self, operation: Arc<Operation>) {
        let mut list = self.list.lock();
        operation.place.store(list.len(), Ordering::Relaxed);
        list.push(operation);
        self.count.store(list.len(), Ordering::SeqCst);
    }

    fn remove(&self, operation: &Arc<Operation>) {
        let mut list = self.list.lock();
        let place = operation.place.load(Ordering::Relaxed);
        list.swap_remove(place);
        if let Some(moved) = list.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        self.count.store(list.len(), Ordering::SeqCst);
    }
}

impl<F: Fabric> Engine<F> {
    /// Begins an operation: `make` is given what the future writes before it is pending. The request is
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
        let request = self.open(Role::Operation, lane, context)?;
        let awaited = Awaited::default();
        let mut future: Running = Box::pin(make(awaited.clone()));
        if let Poll::Ready(status) = poll(&mut future) {
            self.close(Role::Operation, request, status);
            if status == Status::EMPTY {
                self.finish(request);
                return Ok(RequestId::DONE);
            }
            return Ok(request);
        }
        self.operations.add(Arc::new(Operation {
            future: Mutex::new(Some(future)),
            awaited,
            request,
            place: AtomicUsize::new(0),
        }));
        self.ring_if_asleep();
        Ok(request)
    }

    /// Has the operation polled that waits to be told; nothing if it does not.
    pub fn tell(&self, awaited: &Awaited) {
        awaited.0.store(Awaited::NOTHING, Ordering::SeqCst);
        self.ring_if_asleep();
    }

    /// The status of a request that an operation waits for, which uses it up; while it is pending, the operation's
    /// future is to return that.
    pub fn poll_request(&self, awaited: &Awaited, id: RequestId) -> Poll<Status> {
        if id == RequestId::DONE || self.is_complete(id) {
            return Poll::Ready(self.finish(id));
        }
        awaited.request(id);
        Poll::Pending
    }

    /// Whether a request stands for an operation that is under way.
    pub fn is_operation(&self, id: RequestId) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return false;
        };
        let mut state = lane.enter_soon();
        let pending = self.slots.at(index).state.load(Ordering::Acquire) != COMPLETE;
        let found = pending && state.core.cells(index).role == Role::Operation;
        self.leave(lane, state);
        found
    }

    /// Polls the operations for which something has come. Whether there were any.
    #[cold]
    pub(crate) fn turn_operations(&self) -> bool {
        // Who holds the list looks through it, as we would.
        let Some(list) = self.operations.list.try_lock() else {
            return false;
        };
        let ready: Vec<_> = list
            .iter()
            .filter(|operation| self.is_ready(operation))
            .cloned()
            .collect();
        drop(list);
        let mut moved = false;
        for operation in ready {
            moved |= self.turn_operation(&operation);
        }
        moved
    }

    fn is_ready(&self, operation: &Operation) -> bool {
        match operation.awaited.0.load(Ordering::SeqCst) {
            Awaited::NOTHING => true,
            Awaited::TOLD => false,
            bits => self.is_complete(RequestId::from_bits(bits)),
        }
    }

    /// Polls one operation. False if another thread is at it.
    fn turn_operation(&self, operation: &Arc<Operation>) -> bool {
        let Some(mut held) = operation.future.try_lock() else {
            return false;
        };
        let Some(future) = held.as_mut() else {
            return false;
        };
        let Poll::Ready(status) = poll(future) else {
            drop(held);
            self.ring_if_asleep();
            return true;
        };
        let over = held.take();
        drop(held);
        // What it held is let go before anyone learns that it is over.
        drop(over);
        self.operations.remove(operation);
        self.close(Role::Operation, operation.request, status);
        true
    }

    /// Rule 3: the watcher is to look at the operations again.
    fn ring_if_asleep(&self) {
        if self.watch.is_asleep() {
            self.fabric.wake();
        }
    }

    /// Leaves the watcher's parker where news for operations come (rule 3). True if some have come.
    #[cold]
    pub(crate) fn watch_operations(&self, parker: &Arc<Parker>) -> bool {
        let list: Vec<_> = self.operations.list.lock().clone();
        let mut news = false;
        for operation in &list {
            if let Some(id) = operation.awaited.id() {
                self.leave_parker(id, parker);
            }
            news |= self.is_ready(operation);
        }
        news
    }
}

fn poll(future: &mut Running) -> Poll<Status> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}
