//! What is posted to a send queue.

use crate::host::{Atomic, Host, Immediate, LocalError, SendDone, Sge, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// With immediate data, or with a key of the peer's to be invalidated.
    Send {
        immediate: Immediate,
    },
    Write {
        address: u64,
        rkey: u32,
        immediate: Option<u32>,
    },
    Read {
        address: u64,
        rkey: u32,
    },
    Atomic {
        address: u64,
        rkey: u32,
        atomic: Atomic,
    },
}

/// The bytes of a request: where they are taken from, or put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    Gather(Vec<Sge>),
    /// Copied when posted (`IBV_SEND_INLINE`).
    Inline(Vec<u8>),
}

impl Payload {
    pub fn bytes(&self) -> u64 {
        match self {
            Payload::Gather(list) => list.iter().map(|sge| u64::from(sge.length)).sum(),
            Payload::Inline(data) => data.len() as u64,
        }
    }

    /// The bytes from `offset` on.
    pub(crate) fn read(
        &self,
        offset: u64,
        out: &mut [u8],
        host: &mut impl Host,
    ) -> Result<(), LocalError> {
        match self {
            Payload::Gather(list) => host.gather(list, offset, out),
            Payload::Inline(data) => {
                let start = offset as usize;
                out.copy_from_slice(&data[start..start + out.len()]);
                Ok(())
            }
        }
    }

    pub(crate) fn write(
        &self,
        offset: u64,
        data: &[u8],
        host: &mut impl Host,
    ) -> Result<(), LocalError> {
        match self {
            Payload::Gather(list) => host.scatter(list, offset, data),
            Payload::Inline(_) => Err(LocalError::Protection),
        }
    }
}

/// A send request. On UC only SEND (without a key to invalidate) and WRITE may be posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Given back by [`Host::send_done`].
    pub token: u64,
    pub operation: Operation,
    pub payload: Payload,
    pub solicited: bool,
    /// Not before all READs and atomics posted earlier are done.
    pub fence: bool,
    /// XRC: the number of the peer's shared receive queue.
    pub xrc_srq: u32,
}

impl Work {
    pub fn bytes(&self) -> u64 {
        self.payload.bytes()
    }

    pub(crate) fn flushed(&self) -> SendDone {
        SendDone {
            token: self.token,
            status: Status::Flushed,
            bytes: 0,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self.operation, Operation::Read { .. })
    }

    /// Is it ended by a response rather than by an acknowledgement?
    pub(super) fn awaits_response(&self) -> bool {
        matches!(
            self.operation,
            Operation::Read { .. } | Operation::Atomic { .. }
        )
    }
}
