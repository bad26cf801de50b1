//! A process of a run, from inside: it reads its job from standard input, does its part in steps that it is told, and says what it
//! found on standard output. [`party`](crate::party) is the other side.

use std::io::{self, BufReader, Stdin, Stdout};
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contexts;
use crate::device::Choice;
use crate::line;
use crate::{global_array, rate, stencil, target};

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
    Server(global_array::Product),
    Client(global_array::ClientJob),
    Rank(stencil::Job),
    Sender(contexts::Shape),
    Receiver(contexts::Shape),
}

/// The way to the driver.
pub struct Talk {
    input: BufReader<Stdin>,
    output: Stdout,
}

impl Talk {
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        line::read(&mut self.input).map_err(|error| format!("the driver: {error}"))
    }

    pub fn say(&mut self, value: &impl Serialize) -> Result<(), String> {
        let said = line::write(&mut self.output, &Ok::<_, ()>(value));
        said.map_err(|error| format!("the driver: {error}"))
    }
}

/// What the program does that [`party::Launcher`](crate::party::Launcher) starts.
pub fn main() -> ExitCode {
    let mut talk = Talk {
        input: BufReader::new(io::stdin()),
        output: io::stdout(),
    };
    match play(&mut talk) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let _ = line::write(&mut talk.output, &Err::<(), _>(&reason));
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
