//! The error state: getting there, and ending what waits (InfiniBand Architecture 1.6, §10.3.1.6).

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::queue_pair::QueuePair;
use super::receiver::Receiver;
use super::state::QpKind;
use crate::fabric::{PATIENT, PushError};

impl QueuePair {
    /// A send request has failed: an unreliable send queue stops, all else is in error. By who executes.
    #[cold]
    pub fn fail_sending(&'static self) {
        if self.begin_failure_of_sending() {
            self.after_failure(None);
        }
    }

    /// The same, as far as the state tells it. Whether [`after_failure`](Self::after_failure) is to follow.
    #[cold]
    pub fn begin_failure_of_sending(&self) -> bool {
        match self.kind {
            QpKind::Uc | QpKind::Ud => {
                let state = &self.record().state;
                let (from, to) = (IBV_QPS_RTS, IBV_QPS_SQE);
                // In any other state it has no send queue that could stop.
                let _ = state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
                false
            }
            _ => self.begin_failure(),
        }
    }

    fn begin_failure(&self) -> bool {
        let record = self.record();
        let running = record.state.load(Ordering::Acquire) != IBV_QPS_RESET;
        running && record.fail(IBV_QPS_ERR)
    }

    /// Brings it into the error state, unless it is there or was reset.
    pub fn fail(&'static self, event: Option<ibv_event_type>) {
        if self.begin_failure() {
            self.after_failure(event);
        }
    }

    /// It is in the error state: what waits is flushed, and the application told.
    pub fn after_failure(&'static self, event: Option<ibv_event_type>) {
        self.flush_receives();
        self.backlog.hurry();
        if !self.backlog.is_empty() {
            self.process.agent().wake();
        }
        if let Some(event) = event {
            self.raise(event);
        }
        if self.has_srq || self.kind == QpKind::XrcRecv {
            self.raise(IBV_EVENT_QP_LAST_WQE_REACHED);
        }
    }

    /// The receiving side, as its own process sees it.
    fn receiver(&self) -> Option<Receiver<'static>> {
        let own = self.process.fabric.own();
        Receiver::of_queue_pair(own, self.record(), self.number)
    }

    /// Ends the receive requests of its own queue, and the one that a message had begun to fill.
    pub fn flush_receives(&self) {
        if !self.kind.has_receive_queue() {
            return;
        }
        let process = self.process;
        let Some(receiver) = self.receiver() else {
            return;
        };
        let flushed = receiver
            .flush_begun(process, PATIENT)
            .and_then(|()| receiver.flush_all(process, PATIENT));
        if let Err(PushError::Overrun { first: true }) = flushed
            && let Some(cq) = self.recv_cq
        {
            cq.events.raise(IBV_EVENT_CQ_ERR);
        }
    }

    /// Forgets receive requests and completions: it is reset.
    pub fn clear(&self) {
        let process = self.process;
        if self.kind.has_receive_queue() {
            let segment = process.own_segment().segment();
            if !self.has_srq
                && let Ok(guard) = segment
                    .receive_ring(self.number.index())
                    .lock(process.fabric.processes(), PATIENT)
            {
                while guard.request().is_some() {
                    guard.discard();
                }
            }
            segment.receiving(self.number).clear();
        }
        for cq in self.send_cq.into_iter().chain(self.recv_cq) {
            cq.sweep(self.number.bits(), || {});
        }
    }

    /// Waits until the agent has ended what was deferred, after the state said so. It takes moments: pieces are short.
    pub fn drain(&self) {
        while !self.backlog.is_empty() {
            self.backlog.hurry();
            self.process.agent().wake();
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Agent: nothing is deferred any more.
    pub fn backlog_is_done(&self) {
        let drained = self.record().state.load(Ordering::Acquire) == IBV_QPS_SQD;
        if drained
            && self.remote_connection.is_drained()
            && self.drain_event.swap(false, Ordering::AcqRel)
        {
            self.raise(IBV_EVENT_SQ_DRAINED);
        }
    }
}
