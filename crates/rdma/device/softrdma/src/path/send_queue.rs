//! One step of a send request, and its end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::clock;
use super::datagram;
use super::errand::Errand;
use super::execute::{Outcome, Requester};
use super::pieces::{Pieces, ProtectionError};
use super::post::Payload;
use super::request::Request;
use super::{between_hosts, window};
use crate::fabric::{Busy, Completion, POSTING, PushError};
use crate::verbs::{Element, Qp, QpKind};
use weft_roce::MAX_MESSAGE_BYTES;

/// How a request is tried.
pub struct Attempt<'a> {
    /// Bytes that earlier steps moved.
    pub done: u64,
    /// For locks.
    pub patience: Duration,
    /// For asking the target's agent; the poster leaves that to its own agent.
    pub errand: Option<&'a mut Errand>,
}

impl Attempt<'_> {
    /// The poster's.
    #[inline]
    pub fn first() -> Self {
        Attempt {
            done: 0,
            patience: POSTING,
            errand: None,
        }
    }
}

/// Executes the request, or its next piece.
///
/// # Safety
/// The caller is the one who executes (`backlog`, rule 3); elements that need no key are readable.
#[inline]
pub unsafe fn step(
    qp: &'static Qp,
    request: &Request,
    payload: Payload<'_>,
    attempt: Attempt<'_>,
) -> Outcome {
    if request.operation.is_local() {
        return window::execute(qp, request);
    }
    let process = qp.context.process;
    if qp.is_remote() {
        return between_hosts::post(qp, request, payload);
    }
    let mut local = Pieces::new();
    if gather(qp, request, payload, &mut local).is_err() {
        return Outcome::Failed(IBV_WC_LOC_PROT_ERR);
    }
    if request.operation.is_atomic() && local.bytes() != 8 || local.bytes() > MAX_MESSAGE_BYTES {
        return Outcome::Failed(IBV_WC_LOC_LEN_ERR);
    }
    let requester = Requester {
        process,
        qpn: qp.number.bits(),
        sender: qp.sender_word(),
        lid: qp.lid,
        request,
        local: &local,
        done: attempt.done,
        patience: attempt.patience,
    };
    let outcome = match attempt.errand {
        Some(errand) if errand.is_out() => look(qp, &requester, errand),
        errand if qp.kind == QpKind::Ud => {
            return datagram::send(qp, &requester, payload, errand);
        }
        // SAFETY: the caller is the one who executes.
        errand => match unsafe { qp.route() } {
            Some(route) if process.link_is_up() => match (requester.execute(route), errand) {
                (Outcome::ByAgent, Some(errand)) => errand.send(&requester, route),
                (outcome, _) => outcome,
            },
            _ => Outcome::Silent,
        },
    };
    match (qp.kind, outcome) {
        // What an unreliable responder does not take is lost, and the requester does not hear of it.
        (
            QpKind::Uc | QpKind::Ud,
            Outcome::Silent | Outcome::NotReady { .. } | Outcome::Failed(_),
        ) => Outcome::Done(local.bytes()),
        _ => outcome,
    }
}

/// What the target's agent, which was asked, has done.
#[cold]
fn look(qp: &Qp, requester: &Requester<'_>, errand: &mut Errand) -> Outcome {
    let timeout = clock::ack_timeout(qp.attributes().timeout);
    errand.look(requester, timeout.unwrap_or_default())
}

/// Adds the memory of this process that the request names.
#[inline]
pub fn gather(
    qp: &Qp,
    request: &Request,
    payload: Payload<'_>,
    local: &mut Pieces,
) -> Result<(), ProtectionError> {
    match payload {
        Payload::Elements(elements) if request.has(IBV_SEND_INLINE) => {
            local.add_unchecked(elements);
        }
        Payload::Elements(elements) => {
            let segment = qp.context.process.fabric.segment();
            local.add_elements(segment, qp.pd_key, elements, request.operation.fetches())?;
        }
        Payload::Inline(bytes) => local.push(bytes.as_ptr() as u64, bytes.len() as u64),
    }
    Ok(())
}

/// Ends the request: its completion, if it is to have one, and after an error the state that follows.
#[inline]
pub fn end(
    qp: &'static Qp,
    request: &Request,
    status: ibv_wc_status,
    bytes: u64,
) -> Result<(), Busy> {
    let failed = status != IBV_WC_SUCCESS;
    if qp.signals_all || failed || request.has(IBV_SEND_SIGNALED) {
        let completion = Completion {
            wr_id: request.wr_id,
            status: status as u16,
            opcode: request.operation.completion() as u16,
            byte_len: bytes as u32,
            qp_num: qp.number.bits(),
            send_index: request.index,
            timestamp_ns: qp.send_stamp(),
            ..Completion::default()
        };
        push(qp, &completion, failed)?;
    }
    if failed && status != IBV_WC_WR_FLUSH_ERR {
        qp.fail_sending();
    }
    Ok(())
}

#[inline]
fn push(qp: &'static Qp, completion: &Completion, failed: bool) -> Result<(), Busy> {
    let Some(cq) = qp.send_cq else {
        return Ok(());
    };
    let fabric = &qp.context.process.fabric;
    match cq
        .queue()
        .push(fabric.processes(), completion, failed, POSTING)
    {
        Ok(pushed) => {
            if let Some(channel) = pushed.notify {
                fabric.notify(fabric.own(), channel, cq.id);
            }
            Ok(())
        }
        Err(PushError::Busy) => Err(Busy),
        Err(error) => {
            overrun(qp, matches!(error, PushError::Overrun { first: true }));
            Ok(())
        }
    }
}

/// The completion is lost, and the queue pair with it.
#[cold]
fn overrun(qp: &'static Qp, first: bool) {
    if let (true, Some(cq)) = (first, qp.send_cq) {
        cq.context
            .events
            .raise(IBV_EVENT_CQ_ERR, Element::Cq(cq.as_abi()));
    }
    qp.record().failure.store(0, Ordering::Relaxed);
    qp.fail_sending();
}
