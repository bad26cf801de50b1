//! A process of a run, from inside: it reads its job from standard input, does its part in steps that it is told, and says what it
//! found on standard output. [`party`](crate::party) is the other side.

use std::process::ExitCode;

use crate::part::{Job, Part};
use crate::talk::Talk;
use crate::{contexts, global_array, rate, stencil, target};

/// What the program does that [`party::Launcher`](crate::party::Launcher) starts.
pub fn main() -> ExitCode {
    let mut talk = Talk::new();
    match play(&mut talk) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            talk.refuse(&reason);
            ExitCode::FAILURE
        }
    }
}

/// The last thing that every part hears is `null`: it may end, and it answers once it has nothing of the device any more.
fn play(talk: &mut Talk) -> Result<(), String> {
    let Job { device, part } = talk.hear()?;
    match part {
        Part::Probe => {
            talk.say(&device.find()?.name())?;
            talk.hear::<()>()?;
        }
        Part::Target(job) => target::play(talk, &device, &job)?,
        Part::Initiator(job) => rate::play(talk, &device, &job)?,
        Part::Server(product) => global_array::play_server(talk, &device, product)?,
        Part::Client(job) => global_array::play_client(talk, &device, &job)?,
        Part::Rank(job) => stencil::play(talk, &device, &job)?,
        Part::Sender(shape) => contexts::send(talk, &device, &shape)?,
        Part::Receiver(shape) => contexts::receive(talk, &device, &shape)?,
    }
    talk.say(&())
}
