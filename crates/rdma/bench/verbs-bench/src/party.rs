//! A process of a run, seen from the one that drives it: started with its part, told when to go, heard, and never left
//! behind.
//!
//! Parts are processes because what is measured is per process: contexts, UARs, locks, and the settings of the driver,
//! which it reads from the environment.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::account::Account;
use crate::line;

/// Why a run gave nothing.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl std::error::Error for Failure {}

/// How parts are started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program that becomes a part, and its arguments.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Variables for all of them.
    pub environment: Vec<(String, String)>,
    /// The device in software's fabric, whose account can be read; `None` on a real adapter.
    pub fabric: Option<String>,
}

/// How long a part may say nothing when it is waited for.
const SILENCE: Duration = Duration::from_secs(60);

pub struct Party {
    name: &'static str,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    fabric: Option<String>,
}

impl Launcher {
    /// Starts a part and tells it its job.
    pub fn start(
        &self,
        name: &'static str,
        job: &impl Serialize,
        environment: &[(&str, &str)],
    ) -> Result<Party, Failure> {
        let failure = |error| Failure(format!("{name}: cannot be started: {error}"));
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failure)?;
        let (stdin, stdout) = child
            .stdin
            .take()
            .zip(child.stdout.take())
            .ok_or_else(|| Failure(format!("{name}: has no pipes")))?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let read = BufReader::new(stdout).lines();
            for line in read.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut party = Party {
            name,
            child,
            stdin,
            lines,
            fabric: self.fabric.clone(),
        };
        party.tell(job)?;
        Ok(party)
    }
}

impl Party {
    /// Says `value` to it.
    pub fn tell(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        line::write(&mut self.stdin, value).map_err(|error| {
            // Its end is closed: what it said last is the better reason.
            let last = self.hear::<serde_json::Value>();
            last.err().unwrap_or_else(|| self.failure(error))
        })
    }

    /// What it says next.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        self.hear_within(SILENCE)
    }

    /// As [`Party::hear`], of a part that is expected to be busy for `busy` first.
    pub fn hear_within<T: DeserializeOwned>(&mut self, busy: Duration) -> Result<T, Failure> {
        let line = match self.lines.recv_timeout(busy.max(SILENCE)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err(self.failure("it says nothing")),
            Err(RecvTimeoutError::Disconnected) => {
                let ended = self.child.wait();
                let ended = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                return Err(self.failure(format!("it ended early, {ended}")));
            }
        };
        let said: Result<Result<T, String>, _> = serde_json::from_str(&line);
        match said {
            Ok(said) => said.map_err(|reason| self.failure(reason)),
            Err(error) => Err(self.failure(format!("said `{line}`: {error}"))),
        }
    }

    /// What it has of the device and did with it so far, where that can be known.
    pub fn account(&self) -> Result<Option<Account>, Failure> {
        let read = |fabric: &String| Account::of(fabric, self.child.id());
        let account = self.fabric.as_ref().map(read).transpose();
        account.map_err(|error| self.failure(format!("its account cannot be read: {error}")))
    }

    /// Lets it end, and waits until it has.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.tell(&())?;
        self.hear::<()>()?;
        let ended = self.child.wait();
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failure(status)),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn failure(&self, reason: impl fmt::Display) -> Failure {
        Failure(format!("{}: {reason}", self.name))
    }
}

/// One that is not needed any more because the run failed is not waited for.
impl Drop for Party {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
