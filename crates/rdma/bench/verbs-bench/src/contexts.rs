//! One sender that drives several contexts in turn (Zambre, *Evaluating Multiple Endpoints for MPI with libibverbs*).
//!
//! Each context has a queue pair and a completion queue. The sender fills each queue pair, one request a call, and looks for
//! completions; every request asks for one. The receiver takes completions and posts a new receive for each.

mod receiver;
mod sender;
mod table;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use receiver::receive;
pub use sender::send;

use crate::catalog::Settings;
use crate::cycles;
use crate::device::Choice;
use crate::part::{Job, Part};
use crate::party::{Failure, Launcher};
use crate::pins::Placement;
use crate::report::Report;
use crate::rounds::{Progress, in_turn};
use weft_endpoint::Card;

/// What both sides know before they begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    pub contexts: usize,
    /// Requests that a queue pair has room for.
    pub depth: usize,
    pub bytes: usize,
    /// Of two threads, the sender's first.
    pub placement: Placement,
}

/// What the sender is told to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Round {
    pub seconds: f64,
    /// Reads the counter before and after every call.
    pub is_measured: bool,
}

/// Calls, and the cycles spent in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub count: u64,
    pub cycles: u64,
}

impl Calls {
    fn add(&mut self, cycles: u64) {
        self.count += 1;
        self.cycles += cycles;
    }

    /// Cycles a call.
    pub fn mean(self) -> f64 {
        self.cycles as f64 / self.count as f64
    }
}

/// What a round gave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub completed: u64,
    pub seconds: f64,
    /// From the first post to the last poll.
    pub cycles: u64,
    pub posts: Calls,
    /// By the number of completions that a call gave: the paper's Figure 3.
    pub polls: Vec<Calls>,
}

impl Tally {
    pub fn rate(&self) -> f64 {
        self.completed as f64 / self.seconds
    }

    fn all_polls(&self) -> Calls {
        self.polls
            .iter()
            .fold(Calls::default(), |sum, calls| Calls {
                count: sum.count + calls.count,
                cycles: sum.cycles + calls.cycles,
            })
    }
}

/// The same with and without measuring inside: the paper's rates are those without.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    pub plain: Tally,
    pub measured: Tally,
}

/// As deep as the paper's queues may have been; it does not say.
const DEPTH: usize = 64;
const BYTES: usize = 2;

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let placement = Placement::of(2, &settings.processors());
    let shape = |contexts| Shape {
        contexts,
        depth: settings.depth.unwrap_or(DEPTH),
        bytes: settings.bytes.unwrap_or(BYTES),
        placement: placement.clone(),
    };
    let contexts = settings.points(&[1, 2, 4, 8]);
    let shapes: Vec<Shape> = contexts.into_iter().map(shape).collect();
    let name = |shape: &Shape| format!("contexts, {}", shape.contexts);
    let effort = settings.effort;
    let all = in_turn(&shapes, effort.rounds, progress, name, |shape| {
        measure(&settings.launcher, &settings.device, shape, effort.seconds)
    })?;
    Ok(table::report(&shapes, &all))
}

fn measure(
    launcher: &Launcher,
    device: &Choice,
    shape: &Shape,
    seconds: f64,
) -> Result<Sample, Failure> {
    let job = |part| Job {
        device: device.clone(),
        part,
    };
    let mut receiver = launcher.start("receiver", &job(Part::Receiver(shape.clone())), &[])?;
    let mut sender = launcher.start("sender", &job(Part::Sender(shape.clone())), &[])?;
    let card: Card = sender.hear()?;
    receiver.tell(&card)?;
    let card: Card = receiver.hear()?;
    sender.tell(&card)?;
    let mut round = |seconds, is_measured| {
        sender.tell(&Some(Round {
            seconds,
            is_measured,
        }))?;
        sender.hear_within::<Tally>(Duration::from_secs_f64(seconds * 2.0))
    };
    round(seconds / 10.0, false)?;
    let sample = Sample {
        plain: round(seconds, false)?,
        measured: round(seconds, true)?,
    };
    sender.finish()?;
    receiver.finish()?;
    Ok(sample)
}

/// What measured cycles are called.
const UNIT: &str = cycles::UNIT;
