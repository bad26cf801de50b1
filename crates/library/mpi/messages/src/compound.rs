//! Requests that are more than one operation of the engine's, or that are started again and again.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_engine::RequestId;
use weft_error::{Class, Result, argument};
use weft_handle::kind;
use weft_handle::table::{Pinned, Table};
use weft_process::engine::engine;

use super::generalized::Generalized;
use super::partitioned::Partitioned;
use crate::request::{Request, not_a_request};

/// What a request's number says.
pub(crate) enum Form {
    Null,
    /// Complete, its outcome empty: a send that needed no request.
    Done,
    /// Complete: a receive from `MPI_PROC_NULL`.
    FromNull,
    Engine(RequestId),
    Compound(Pinned<'static, Compound>),
}

impl Request {
    /// What the number names, checked.
    #[inline]
    pub(crate) fn form(self) -> Result<Form> {
        if let Some(id) = self.as_engine() {
            return match id {
                RequestId::DONE => Ok(Form::Done),
                _ if self == Request::FROM_NULL => Ok(Form::FromNull),
                _ if engine().exists(id) => Ok(Form::Engine(id)),
                _ => Err(not_a_request()),
            };
        }
        if self == Request::NULL {
            return Ok(Form::Null);
        }
        COMPOUNDS
            .pin(self.0)
            .map(Form::Compound)
            .ok_or_else(not_a_request)
    }
}

pub(crate) static COMPOUNDS: Table<Compound> = Table::new(kind::COMPOUND);

/// The live handle of a compound at an index.
pub fn current(index: u32) -> Option<u64> {
    COMPOUNDS.current(index)
}

/// A request that is more than one operation of the engine's.
pub(crate) enum Compound {
    Persistent(Persistent),
    Pair(Pair),
    Partitioned(Partitioned),
    Generalized(Generalized),
    /// `MPI_Buffer_iflush`: an operation that, unlike others, may be freed under way.
    Flush(RequestId),
}

/// An operation that can be started again and again (MPI-5.0 §3.9).
pub(crate) struct Persistent {
    start: Box<dyn Fn() -> Result<Request> + Send + Sync>,
    active: Active,
}

impl Persistent {
    pub fn new(start: Box<dyn Fn() -> Result<Request> + Send + Sync>) -> Persistent {
        let active = Active(AtomicU64::new(INACTIVE));
        Persistent { start, active }
    }

    /// Starts it; false if it is active.
    pub fn start(&self) -> Result<bool> {
        // Acquire: what the thread that ended it before did with its parts comes first.
        let Active(word) = &self.active;
        let begun = word.compare_exchange(INACTIVE, STARTING, Ordering::Acquire, Ordering::Relaxed);
        if begun.is_err() {
            return Ok(false);
        }
        let started = (self.start)();
        let now = started.as_ref().map_or(INACTIVE, |request| request.0);
        word.store(now, Ordering::Release);
        started.map(|_| true)
    }

    /// The operation under way; none while inactive.
    #[inline]
    pub fn active(&self) -> Option<Request> {
        Active::operation(self.active.0.load(Ordering::Acquire))
    }

    /// Takes the operation under way, which the caller ends: inactive from here on.
    #[inline]
    pub fn end(&self) -> Option<Request> {
        let active = self.active();
        // One thread at a time completes or frees a request (MPI-5.0 §3.7.3).
        if active.is_some() {
            self.active.0.store(INACTIVE, Ordering::Release);
        }
        active
    }
}

/// The operation under way of a persistent request: INACTIVE, STARTING by the thread that started it, or that operation.
struct Active(AtomicU64);

/// Neither is a request: those have their kind in the upper bits.
const INACTIVE: u64 = 0;
const STARTING: u64 = 1;

impl Active {
    fn operation(word: u64) -> Option<Request> {
        (word != INACTIVE && word != STARTING).then_some(Request(word))
    }
}

/// A send and a receive (`MPI_Isendrecv`).
pub(crate) struct Pair {
    pub send: Request,
    pub receive: Request,
    /// Holds the outgoing data of `MPI_Isendrecv_replace`.
    pub outgoing: Mutex<Option<Box<[u8]>>>,
}

impl Compound {
    /// A handle for it.
    pub fn register(self) -> Result<Request> {
        let handle = COMPOUNDS.insert(Arc::new(self)).map(Request);
        handle.ok_or_else(|| argument(Class::NoMem, "request", "too many requests"))
    }
}

impl Generalized {
    /// Ends one that is freed and complete; the handle names nothing after it.
    pub(super) fn end_as(&self, request: Request) -> Result<()> {
        let freed = self.end();
        COMPOUNDS.remove(request.0);
        freed
    }
}
