//! Which attributes a state transition of a queue pair needs and allows (InfiniBand Architecture 1.6, §10.3.1 and table
//! "QP state transition properties" of §11.2.5.2; ibv_modify_qp(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use crate::path::state::QpKind::{self, *};
use crate::path::state::State::{self, *};

/// What a transition needs and what it allows besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub required: c_int,
    pub optional: c_int,
}

const fn needs(required: c_int) -> Attributes {
    Attributes {
        required,
        optional: 0,
    }
}

const fn allows(optional: c_int) -> Attributes {
    needs(0).or(optional)
}

impl Attributes {
    const fn or(self, optional: c_int) -> Attributes {
        Attributes { optional, ..self }
    }
}

const INDEX: c_int = IBV_QP_PKEY_INDEX;
const PORT: c_int = IBV_QP_PORT;
const QKEY: c_int = IBV_QP_QKEY;
const ACCESS: c_int = IBV_QP_ACCESS_FLAGS;
const PATH: c_int = IBV_QP_AV;
const ALTERNATE: c_int = IBV_QP_ALT_PATH;
const MIGRATION: c_int = IBV_QP_PATH_MIG_STATE;
const CURRENT: c_int = IBV_QP_CUR_STATE;
const RNR_TIMER: c_int = IBV_QP_MIN_RNR_TIMER;
/// What the responder side of a reliable queue pair needs, and the requester side.
const RESPONDER: c_int = IBV_QP_MAX_DEST_RD_ATOMIC | RNR_TIMER;
const REQUESTER: c_int =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

/// The attributes of a transition that exists.
pub fn attributes(kind: QpKind, from: State, to: State) -> Option<Attributes> {
    Some(match (from, to) {
        (_, Reset | Err) => needs(0),
        (Reset, Init) => needs(initial(kind)),
        (Init, Init) => allows(initial(kind)),
        (Init, Rtr) => ready_to_receive(kind),
        (Rtr, Rts) => needs(ready_to_send(kind)).or(while_running(kind)),
        (Rts, Rts) | (Sqd, Rts) => allows(while_running(kind)),
        (Rts, Sqd) => allows(IBV_QP_EN_SQD_ASYNC_NOTIFY),
        (Sqd, Sqd) => allows(while_drained(kind)),
        (Sqe, Rts) => match kind {
            Ud => allows(CURRENT | QKEY),
            Uc => allows(CURRENT | ACCESS),
            Rc | XrcSend | XrcRecv => return None,
        },
        _ => return None,
    })
}

fn initial(kind: QpKind) -> c_int {
    match kind {
        Ud => INDEX | PORT | QKEY,
        _ => INDEX | PORT | ACCESS,
    }
}

fn ready_to_receive(kind: QpKind) -> Attributes {
    let connection = PATH | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    match kind {
        Ud => allows(INDEX | QKEY),
        Uc | XrcSend => needs(connection).or(ALTERNATE | ACCESS | INDEX),
        Rc | XrcRecv => needs(connection | RESPONDER).or(ALTERNATE | ACCESS | INDEX),
    }
}

fn ready_to_send(kind: QpKind) -> c_int {
    match kind {
        Ud | Uc => IBV_QP_SQ_PSN,
        Rc | XrcSend => IBV_QP_SQ_PSN | REQUESTER,
        XrcRecv => IBV_QP_SQ_PSN | IBV_QP_TIMEOUT,
    }
}

fn while_running(kind: QpKind) -> c_int {
    let connected = CURRENT | ALTERNATE | ACCESS | MIGRATION;
    match kind {
        Ud => CURRENT | QKEY,
        Uc | XrcSend => connected,
        Rc | XrcRecv => connected | RNR_TIMER,
    }
}

fn while_drained(kind: QpKind) -> c_int {
    let connected = PATH | ALTERNATE | ACCESS | INDEX | MIGRATION;
    match kind {
        Ud => INDEX | QKEY,
        Uc => connected,
        Rc => connected | PORT | REQUESTER | RESPONDER,
        XrcSend => connected | PORT | REQUESTER,
        XrcRecv => connected | PORT | IBV_QP_TIMEOUT | RESPONDER,
    }
}

/// The attributes that count: those of the side that an XRC queue pair does not have are passed over, as the kernel does,
/// so that programs can treat XRC as RC.
pub fn relevant(kind: QpKind, mask: c_int) -> c_int {
    match kind {
        XrcSend => mask & !RESPONDER,
        XrcRecv => mask & !(REQUESTER & !IBV_QP_TIMEOUT),
        Rc | Uc | Ud => mask,
    }
}

/// Whether a modification with `mask` may lead from one state to another.
pub fn is_allowed(kind: QpKind, from: State, to: State, mask: c_int) -> bool {
    if mask & CURRENT != 0 && !from.receives() {
        return false;
    }
    attributes(kind, from, to).is_some_and(|Attributes { required, optional }| {
        mask & required == required && mask & !(required | optional | IBV_QP_STATE) == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks that everybody's connection code uses.
    const INIT: c_int = IBV_QP_STATE | INDEX | PORT | ACCESS;
    const RTR: c_int =
        IBV_QP_STATE | PATH | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | RESPONDER;
    const RTS: c_int = IBV_QP_STATE | IBV_QP_SQ_PSN | REQUESTER;

    #[test]
    fn ordinary_way_of_a_reliable_connection() {
        assert!(is_allowed(Rc, Reset, Init, INIT));
        assert!(is_allowed(Rc, Init, Rtr, RTR));
        assert!(is_allowed(Rc, Rtr, Rts, RTS));
    }

    #[test]
    fn every_required_attribute_is_required() {
        for (from, to, mask) in [(Reset, Init, INIT), (Init, Rtr, RTR), (Rtr, Rts, RTS)] {
            for bit in (0..32).map(|bit| 1 << bit) {
                let needed = mask & bit != 0 && bit != IBV_QP_STATE;
                assert_eq!(
                    is_allowed(Rc, from, to, mask & !bit),
                    !needed,
                    "{from:?} {bit:#x}"
                );
            }
        }
    }

    #[test]
    fn states_are_not_skipped() {
        for kind in QpKind::ALL {
            for (from, to) in [
                (Reset, Rtr),
                (Reset, Rts),
                (Init, Rts),
                (Rts, Init),
                (Err, Init),
                (Rtr, Init),
            ] {
                assert_eq!(attributes(kind, from, to), None, "{kind:?} {from:?} {to:?}");
            }
        }
    }

    #[test]
    fn any_state_leads_to_reset_and_error() {
        for kind in QpKind::ALL {
            for from in State::ALL {
                assert!(is_allowed(kind, from, Reset, IBV_QP_STATE));
                assert!(is_allowed(kind, from, Err, IBV_QP_STATE));
                assert!(!is_allowed(kind, from, Err, IBV_QP_STATE | QKEY));
            }
        }
    }

    #[test]
    fn unreliable_ones_need_less() {
        let connection = RTR & !RESPONDER;
        assert!(is_allowed(Uc, Init, Rtr, connection));
        assert!(!is_allowed(Uc, Init, Rtr, RTR));
        assert!(is_allowed(XrcSend, Init, Rtr, connection));
        assert!(!is_allowed(XrcRecv, Init, Rtr, connection));
        assert!(is_allowed(Ud, Init, Rtr, IBV_QP_STATE));
        assert!(is_allowed(Ud, Rtr, Rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
        assert!(is_allowed(
            XrcRecv,
            Rtr,
            Rts,
            IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT
        ));
    }

    #[test]
    fn xrc_is_modified_as_rc_is() {
        for (from, to, mask) in [(Reset, Init, INIT), (Init, Rtr, RTR), (Rtr, Rts, RTS)] {
            for kind in [XrcSend, XrcRecv] {
                assert!(
                    is_allowed(kind, from, to, relevant(kind, mask)),
                    "{kind:?} {to:?}"
                );
            }
            assert_eq!(relevant(Rc, mask), mask);
        }
    }

    #[test]
    fn current_state_is_only_named_of_running_ones() {
        assert!(is_allowed(Rc, Rtr, Rts, RTS | CURRENT));
        assert!(!is_allowed(Rc, Init, Rtr, RTR | CURRENT));
    }
}
