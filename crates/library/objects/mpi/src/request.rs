//! Requests: those of the engine, and those made of several or started again and again.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_engine::{Failure, RequestId};

use crate::error::handler::argument;
use crate::error::{Class, Error, Result};
use crate::generalized::Generalized;
use crate::partitioned::Partitioned;
use crate::process::{kind, process};
use crate::table::Pinned;
use crate::{ANY_SOURCE, ANY_TAG, PROC_NULL};

/// Names a request, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Request(pub(crate) u64);

impl Request {
    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees a partitioned operation of this handle: threads that mark partitions
    /// use it without keeping it alive, and freeing an active one is an error (MPI-5.0 §4.2.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> Request {
        Request(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

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

const INDEX_BITS: u64 = (1 << 60) - 1;
const ENGINE: u64 = (kind::REQUEST as u64) << 60;

impl Request {
    /// `MPI_REQUEST_NULL`, with the ABI's number so that arrays of handles can be worked on in place.
    pub const NULL: Request = Request(0x180);
    /// An operation that completed within its call and has no status to tell.
    pub const COMPLETE: Request = Request(ENGINE | RequestId::DONE.bits());
    const FROM_NULL: Request = Request(ENGINE | 0xffff_fffe);

    #[inline]
    pub(crate) fn engine(id: RequestId) -> Request {
        Request(ENGINE | id.bits())
    }

    /// A receive from `MPI_PROC_NULL` (MPI-5.0 §3.10).
    #[inline]
    pub(crate) fn from_null() -> Request {
        Request::FROM_NULL
    }

    /// A send to `MPI_PROC_NULL`, or one that completed at once.
    #[inline]
    pub(crate) fn done() -> Request {
        Request::COMPLETE
    }

    /// The engine's request, if it is one and exists.
    #[inline]
    pub(crate) fn as_engine(self) -> Option<RequestId> {
        (self.0 >> 60 == u64::from(kind::REQUEST))
            .then(|| RequestId::from_bits(self.0 & INDEX_BITS))
    }

    /// What the number names, checked.
    #[inline]
    pub(crate) fn form(self) -> Result<Form> {
        if let Some(id) = self.as_engine() {
            return match id {
                RequestId::DONE => Ok(Form::Done),
                _ if self == Request::FROM_NULL => Ok(Form::FromNull),
                _ if process().engine.exists(id) => Ok(Form::Engine(id)),
                _ => Err(not_a_request()),
            };
        }
        if self == Request::NULL {
            return Ok(Form::Null);
        }
        process()
            .compounds
            .pin(self.0)
            .map(Form::Compound)
            .ok_or_else(not_a_request)
    }
}

#[cold]
pub(crate) fn not_a_request() -> Error {
    argument(
        Class::Request,
        "request",
        "not a request, or one that completed before",
    )
}

/// The outcome of an operation. Empty (MPI-5.0 §3.7.3) for all but receives and probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub source: i32,
    pub tag: i32,
    /// Success, or why the operation failed.
    pub class: Class,
    /// The class's number, or what a function of the program's returned.
    pub code: i32,
    /// Packed length of what was received.
    pub bytes: u64,
    pub cancelled: bool,
    /// Of a failed operation.
    pub(crate) context: u32,
}

impl Status {
    pub const EMPTY: Status = Status {
        source: ANY_SOURCE,
        tag: ANY_TAG,
        class: Class::Success,
        code: Class::Success as i32,
        bytes: 0,
        cancelled: false,
        context: 0,
    };

    /// Of a receive or probe from `MPI_PROC_NULL` (MPI-5.0 §3.10).
    pub const FROM_NULL: Status = Status {
        source: PROC_NULL,
        ..Status::EMPTY
    };

    /// Of a generalized request: what its query function said.
    pub fn said(source: i32, tag: i32, bytes: u64, cancelled: bool) -> Status {
        Status {
            source,
            tag,
            bytes,
            cancelled,
            ..Status::EMPTY
        }
    }

    #[inline]
    pub(crate) fn of(status: weft_engine::Status) -> Status {
        let class = match status.failure {
            None => Class::Success,
            Some(Failure::Truncated) => Class::Truncate,
            Some(Failure::PeerLost) => Class::ProcAborted,
            Some(Failure::Operation(number)) => {
                Class::numbered(number.into()).unwrap_or(Class::Other)
            }
        };
        let (cancelled, context) = (status.cancelled, status.context);
        if !status.receive || cancelled {
            return Status {
                class,
                code: class as i32,
                cancelled,
                context,
                ..Status::EMPTY
            };
        }
        let (source, tag, bytes) = (status.source, status.tag, status.bytes);
        Status {
            source,
            tag,
            class,
            code: class as i32,
            bytes,
            cancelled,
            context,
        }
    }

    /// The operation's error, if it failed.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.class == Class::Success {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    #[cold]
    fn error(&self) -> Error {
        let message = match self.class {
            Class::Truncate if self.source >= 0 => format!(
                "the message from rank {} with tag {} is longer than the receive buffer of {} bytes",
                self.source, self.tag, self.bytes
            ),
            Class::ProcAborted => {
                "a process that this waits for is lost, or failed for that reason".to_owned()
            }
            _ => "a nonblocking operation failed".to_owned(),
        };
        Error::new(self.class, message)
            .with_code(self.code)
            .on(process()
                .contexts
                .comm(crate::comm::number_of(self.context)))
    }
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
        let handle = process().compounds.insert(Arc::new(self)).map(Request);
        handle.ok_or_else(|| argument(Class::NoMem, "request", "too many requests"))
    }
}
