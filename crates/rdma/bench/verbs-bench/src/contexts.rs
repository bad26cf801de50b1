//! One sender that drives several contexts in turn (Zambre, *Evaluating Multiple Endpoints for MPI with libibverbs*).
//!
//! Each context has a queue pair and a completion queue. The sender fills each queue pair, one request a call, and looks for
//! completions; every request asks for one. The receiver takes completions and posts a new receive for each.

pub mod job;
mod receiver;
mod sender;
mod table;

use std::time::Duration;

pub use receiver::receive;
pub use sender::send;

use job::{Round, Sample, Shape, Tally};

use crate::device::Choice;
use crate::part::{Job, Part};
use crate::party::{Failure, Launcher};
use crate::pins::Placement;
use crate::report::Report;
use crate::rounds::{Progress, in_turn};
use crate::settings::Settings;
use weft_endpoint::Card;

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
