//! The way of a part to its driver.

use std::io::{self, BufReader, Stdin, Stdout};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::line;

pub struct Talk {
    input: BufReader<Stdin>,
    output: Stdout,
}

impl Talk {
    pub fn new() -> Talk {
        Talk {
            input: BufReader::new(io::stdin()),
            output: io::stdout(),
        }
    }

    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        line::read(&mut self.input).map_err(|error| format!("the driver: {error}"))
    }

    pub fn say(&mut self, value: &impl Serialize) -> Result<(), String> {
        let said = line::write(&mut self.output, &Ok::<_, ()>(value));
        said.map_err(|error| format!("the driver: {error}"))
    }

    /// Says why the part ends before it should; a driver that is gone has no use for it.
    pub fn refuse(&mut self, reason: &str) {
        let _ = line::write(&mut self.output, &Err::<(), _>(reason));
    }
}
