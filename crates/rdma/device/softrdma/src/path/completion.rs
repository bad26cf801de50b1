//! The end of a send request: its completion, and what follows from an error.

use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::queue_pair::QueuePair;
use super::request::Request;
use crate::fabric::{Busy, Completion, POSTING, PushError};

/// Ends the request: its completion, if it is to have one, and after an error the state that follows.
#[inline]
pub fn end(
    qp: &'static QueuePair,
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
        // Who sees the completion finds the state that follows from it.
        let follows = failed && status != IBV_WC_WR_FLUSH_ERR && qp.begin_failure_of_sending();
        let pushed = push(qp, &completion, failed);
        if follows {
            qp.after_failure(None);
        }
        return pushed;
    }
    Ok(())
}

#[inline]
fn push(qp: &'static QueuePair, completion: &Completion, failed: bool) -> Result<(), Busy> {
    let Some(cq) = qp.send_cq else {
        return Ok(());
    };
    let fabric = qp.process.fabric;
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
fn overrun(qp: &'static QueuePair, first: bool) {
    if let (true, Some(cq)) = (first, qp.send_cq) {
        cq.events.raise(IBV_EVENT_CQ_ERR);
    }
    qp.record().failure.store(0, Ordering::Relaxed);
    qp.fail_sending();
}
