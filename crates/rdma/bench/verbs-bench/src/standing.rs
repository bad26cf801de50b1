//! A target and an initiator, started and driven.

use std::time::Duration;

use crate::device::Choice;
use crate::features::SHUT_UP_BLUEFLAME;
use crate::part::{self, Part};
use crate::party::{Failure, Launcher, Party};
use crate::rate::{Job, Tally};
use crate::rounds::Sample;
use crate::target;
use weft_endpoint::Card;

/// A target and an initiator with all they need, to be run for as long and as often as wanted.
pub struct Standing {
    target: Party,
    initiator: Party,
}

impl Standing {
    /// Starts them with one layout and one set of features, and lets the initiator post for `warming` seconds.
    pub fn start(
        launcher: &Launcher,
        device: &Choice,
        job: &Job,
        warming: f64,
    ) -> Result<Standing, Failure> {
        let with = |part| part::Job {
            device: device.clone(),
            part,
        };
        let memory = target::Job {
            bytes: job.place(job.layout.threads),
        };
        let environment: &[_] = if job.features.blueflame {
            &[]
        } else {
            &[SHUT_UP_BLUEFLAME]
        };
        let mut target = launcher.start("target", &with(Part::Target(memory)), &[])?;
        let part = with(Part::Initiator(job.clone()));
        let mut initiator = launcher.start("initiator", &part, environment)?;
        target.tell(&initiator.hear::<Card>()?)?;
        initiator.tell(&target.hear::<Card>()?)?;
        initiator.tell(&Some(warming))?;
        initiator.hear::<Tally>()?;
        Ok(Standing { target, initiator })
    }

    pub fn run(&mut self, seconds: f64) -> Result<Sample, Failure> {
        let initiator = &mut self.initiator;
        let before = initiator.account()?;
        initiator.tell(&Some(seconds))?;
        let tally: Tally = initiator.hear_within(Duration::from_secs_f64(seconds))?;
        let after = initiator.account()?;
        Ok(Sample {
            operations: tally.operations,
            seconds: tally.seconds,
            processor_seconds: tally.processor_seconds,
            resources: after.map(|a| a.resources),
            counters: after.zip(before).map(|(a, b)| a.counters - b.counters),
        })
    }

    /// Lets them end.
    pub fn finish(self) -> Result<(), Failure> {
        self.initiator.finish()?;
        self.target.finish()
    }
}

/// Measures one layout with one set of features once, in processes of its own.
pub fn measure(
    launcher: &Launcher,
    device: &Choice,
    job: &Job,
    seconds: f64,
) -> Result<Sample, Failure> {
    let mut standing = Standing::start(launcher, device, job, seconds / 10.0)?;
    let sample = standing.run(seconds)?;
    standing.finish()?;
    Ok(sample)
}
