//! What a process of a run is told to do.

use serde::{Deserialize, Serialize};

use crate::device::Choice;
use crate::{contexts, global_array, rate, stencil, target};

/// What a process is told first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub device: Choice,
    pub part: Part,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Part {
    /// Tells which device it would take.
    Probe,
    Target(target::Job),
    Initiator(rate::Job),
    Server(global_array::job::Product),
    Client(global_array::job::ClientJob),
    Rank(stencil::job::Job),
    Sender(contexts::job::Shape),
    Receiver(contexts::job::Shape),
}
