//! The types of queue pairs that the device has, and their states.

use weft_verbs_abi::*;

use QpKind::*;
use State::*;

/// Queue pair states, numbered as the ABI does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    Reset = IBV_QPS_RESET,
    Init = IBV_QPS_INIT,
    Rtr = IBV_QPS_RTR,
    Rts = IBV_QPS_RTS,
    Sqd = IBV_QPS_SQD,
    Sqe = IBV_QPS_SQE,
    Err = IBV_QPS_ERR,
}

impl State {
    pub const ALL: [State; 7] = [Reset, Init, Rtr, Rts, Sqd, Sqe, Err];

    #[inline]
    pub fn from_abi(value: u32) -> Option<State> {
        State::ALL.get(value as usize).copied()
    }

    /// Whether send requests can be posted; in some of these they are flushed, or wait.
    #[inline]
    pub fn takes_sends(self) -> bool {
        matches!(self, Rts | Sqd | Sqe | Err)
    }

    /// Whether what arrives is executed.
    #[inline]
    pub fn receives(self) -> bool {
        matches!(self, Rtr | Rts | Sqd | Sqe)
    }
}

/// The types of queue pairs that the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QpKind {
    Rc = IBV_QPT_RC,
    Uc = IBV_QPT_UC,
    Ud = IBV_QPT_UD,
    XrcSend = IBV_QPT_XRC_SEND,
    XrcRecv = IBV_QPT_XRC_RECV,
}

impl QpKind {
    pub const ALL: [QpKind; 5] = [Rc, Uc, Ud, XrcSend, XrcRecv];

    pub fn from_abi(value: u32) -> Option<QpKind> {
        QpKind::ALL.into_iter().find(|kind| *kind as u32 == value)
    }

    /// Whether a lost or refused message is an error of the sender's.
    pub fn is_reliable(self) -> bool {
        matches!(self, Rc | XrcSend | XrcRecv)
    }

    pub fn has_send_queue(self) -> bool {
        self != XrcRecv
    }

    pub fn has_receive_queue(self) -> bool {
        matches!(self, Rc | Uc | Ud)
    }
}
