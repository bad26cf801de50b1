//! What a request is called, and the outcome of an operation.

use weft_engine::{Failure, RequestId};
use weft_error::{Class, Error, Object, Result, argument};
use weft_handle::kind;
use weft_objects::comm::number_of;
use weft_objects::{ANY_SOURCE, ANY_TAG, PROC_NULL};

/// Names a request, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Request(pub u64);

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

const INDEX_BITS: u64 = (1 << 60) - 1;
const ENGINE: u64 = (kind::REQUEST as u64) << 60;

impl Request {
    /// `MPI_REQUEST_NULL`, with the ABI's number so that arrays of handles can be worked on in place.
    pub const NULL: Request = Request(0x180);
    /// An operation that completed within its call and has no status to tell.
    pub const COMPLETE: Request = Request(ENGINE | RequestId::DONE.bits());
    pub const FROM_NULL: Request = Request(ENGINE | 0xffff_fffe);

    #[inline]
    pub fn engine(id: RequestId) -> Request {
        Request(ENGINE | id.bits())
    }

    /// A receive from `MPI_PROC_NULL` (MPI-5.0 §3.10).
    #[inline]
    pub fn from_null() -> Request {
        Request::FROM_NULL
    }

    /// A send to `MPI_PROC_NULL`, or one that completed at once.
    #[inline]
    pub fn done() -> Request {
        Request::COMPLETE
    }

    /// The engine's request, if it is one and exists.
    #[inline]
    pub fn as_engine(self) -> Option<RequestId> {
        (self.0 >> 60 == u64::from(kind::REQUEST))
            .then(|| RequestId::from_bits(self.0 & INDEX_BITS))
    }
}

#[cold]
pub fn not_a_request() -> Error {
    argument(
        Class::Request,
        "request",
        "not a request, or one that completed before",
    )
}

/// In place of a class's number in a failure: the message does not come, since its sender's collective operation had another length.
pub const APART: u8 = u8::MAX;

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
    pub context: u32,
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
    pub fn from_engine(status: weft_engine::Status) -> Status {
        let class = match status.failure {
            None => Class::Success,
            Some(Failure::Truncated) => Class::Truncate,
            Some(Failure::PeerLost) => Class::ProcAborted,
            Some(Failure::Revoked) => Class::Revoked,
            Some(Failure::NoMemory) => Class::NoMem,
            Some(Failure::Operation(APART)) => Class::Truncate,
            Some(Failure::Operation(number)) => Class::of_mark(number).unwrap_or(Class::Other),
        };
        let (cancelled, context) = (status.cancelled, status.context);
        let is_apart = status.failure == Some(Failure::Operation(APART));
        if !status.receive || cancelled || is_apart {
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

    /// Of a failed receive of an operation's: whether its message does not come as lengths differ ([`APART`]). No message that came is without a
    /// source.
    #[cold]
    pub fn is_apart(&self) -> bool {
        self.class == Class::Truncate && self.source == ANY_SOURCE
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
            Class::Revoked => "its communicator is revoked".to_owned(),
            _ => "a nonblocking operation failed".to_owned(),
        };
        Error::new(self.class, message)
            .with_code(self.code)
            .on(Object::CommNumbered(number_of(self.context)))
    }
}
