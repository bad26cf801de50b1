//! A completion queue of this process, as its queue pairs use it.

use super::event::EventSource;
use super::process::Process;
use crate::fabric::{Cq, ObjectId};
use crate::uar;

pub struct CompletionQueue {
    pub process: &'static Process,
    pub id: ObjectId,
    pub resources: uar::CompletionQueue,
    /// Completions carry the time.
    pub stamped: bool,
    pub events: EventSource,
}

impl CompletionQueue {
    /// The queue in shared memory.
    #[inline]
    pub fn queue(&self) -> Cq<'static> {
        self.process.own_segment().segment().cq(self.id)
    }

    /// Drops the completions of a queue pair that is destroyed or reset, and does what must not meet a poll.
    pub fn sweep(&self, qpn: u32, meanwhile: impl FnOnce()) {
        let _held = self.resources.enter();
        let processes = self.process.fabric.processes();
        // One that cannot be locked in seconds is held by a process that was stopped; its completions stay.
        let _ = self
            .queue()
            .sweep(processes, |completion| completion.qp_num == qpn);
        meanwhile();
    }
}
