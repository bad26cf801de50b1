//! One step of a send request.

use std::time::Duration;

use weft_verbs_abi::*;

use super::between_hosts::connection;
use super::datagram;
use super::execute::{Outcome, Requester};
use super::pieces::Pieces;
use super::proxied_step::ProxiedStep;
use super::queue_pair::QueuePair;
use super::request::{Payload, Request};
use super::state::QpKind;
use super::window;
use crate::fabric::POSTING;
use weft_roce::MAX_MESSAGE_BYTES;
use weft_roce::timing::ack_timeout_ns;

/// How a request is tried.
pub struct Attempt<'a> {
    /// Bytes that earlier steps moved.
    pub done: u64,
    /// For locks.
    pub patience: Duration,
    /// For asking the target's agent; the poster leaves that to its own agent.
    pub proxied: Option<&'a mut ProxiedStep>,
}

impl Attempt<'_> {
    /// The poster's.
    #[inline]
    pub fn first() -> Self {
        Attempt {
            done: 0,
            patience: POSTING,
            proxied: None,
        }
    }
}

/// Executes the request, or its next piece.
///
/// # Safety
/// The caller is the one who executes (`backlog`, rule 3); elements that need no key are readable.
#[inline]
pub unsafe fn step(
    qp: &'static QueuePair,
    request: &Request,
    payload: Payload<'_>,
    attempt: Attempt<'_>,
) -> Outcome {
    if request.operation.is_local() {
        return window::execute(qp, request);
    }
    let process = qp.process;
    if qp.is_remote() {
        return connection::post(qp, request, payload);
    }
    let mut local = Pieces::new();
    if qp.gather(request, payload, &mut local).is_err() {
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
    let outcome = match attempt.proxied {
        Some(proxied) if proxied.is_out() => look(qp, &requester, proxied),
        proxied if qp.kind == QpKind::Ud => {
            return datagram::send(qp, &requester, payload, proxied);
        }
        // SAFETY: the caller is the one who executes.
        proxied => match unsafe { qp.route() } {
            Some(route) if process.link_is_up(qp.device) => {
                match (requester.execute(route), proxied) {
                    (Outcome::ByAgent, Some(proxied)) => proxied.send(&requester, route),
                    (outcome, _) => outcome,
                }
            }
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
fn look(qp: &QueuePair, requester: &Requester<'_>, proxied: &mut ProxiedStep) -> Outcome {
    let timeout = ack_timeout_ns(qp.attributes().timeout);
    proxied.look(requester, timeout.unwrap_or(0))
}
