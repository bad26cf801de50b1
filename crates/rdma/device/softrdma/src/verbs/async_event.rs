//! Asynchronous events of a context (ibv_get_async_event(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::acknowledgement::Acknowledged;
use super::context::Context;
use super::cq::Cq;
use super::qp::Qp;
use super::srq::Srq;
use crate::call::status;
use crate::path::event::Element;

fn acknowledged(element: Element, act: impl FnOnce(Acknowledged<'_>)) {
    // SAFETY: the object lives: its event is in the queue, or with the application and not acknowledged.
    unsafe {
        match element {
            Element::Cq(cq) => act(Cq::from_abi(cq).async_acknowledged()),
            Element::Qp(qp) => act(Qp::from_abi(qp).acknowledged()),
            Element::Srq(srq) => act(Srq::from_abi(srq).acknowledged()),
            Element::Port(_) => {}
        }
    }
}

/// # Safety
/// `context` is open, `event` writable.
pub unsafe extern "C" fn ibv_get_async_event(
    context: *mut ibv_context,
    event: *mut ibv_async_event,
) -> c_int {
    // SAFETY: the caller's promise.
    let context = unsafe { Context::from_abi(context) };
    let deliver = |element| acknowledged(element, |object| object.deliver());
    status(context.events.next(deliver).map(|(event_type, element)| {
        let element = match element {
            Element::Cq(cq) => ibv_async_event_element { cq },
            Element::Qp(qp) => ibv_async_event_element { qp },
            Element::Srq(srq) => ibv_async_event_element { srq },
            Element::Port(port) => ibv_async_event_element {
                port_num: c_int::from(port),
            },
        };
        // SAFETY: the caller's promise.
        unsafe {
            event.write(ibv_async_event {
                element,
                event_type,
            });
        }
    }))
}

/// # Safety
/// `event` came from [`ibv_get_async_event`] and is acknowledged once.
pub unsafe extern "C" fn ibv_ack_async_event(event: *mut ibv_async_event) {
    // SAFETY: the caller's promise; the type says which member of the union was set.
    let element = unsafe {
        let event = &*event;
        match event.event_type {
            IBV_EVENT_CQ_ERR => Element::Cq(event.element.cq),
            IBV_EVENT_QP_FATAL
            | IBV_EVENT_QP_REQ_ERR
            | IBV_EVENT_QP_ACCESS_ERR
            | IBV_EVENT_COMM_EST
            | IBV_EVENT_SQ_DRAINED
            | IBV_EVENT_PATH_MIG
            | IBV_EVENT_PATH_MIG_ERR
            | IBV_EVENT_QP_LAST_WQE_REACHED => Element::Qp(event.element.qp),
            IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Element::Srq(event.element.srq),
            _ => return,
        }
    };
    acknowledged(element, |object| object.acknowledge(1));
}
