//! A connection that somebody else has begun, until that one has proved to be a process of this job.

use std::time::{Duration, Instant};

use socket2::Socket;

use crate::handshake::{HELLO_BYTES, Hello, PROOF_BYTES, Refusal, Reply, is_proof};
use crate::identity::{Identity, fill};
use crate::system;

/// Whoever has connected is to say hello within so long.
const HELLO: Duration = Duration::from_secs(5);
/// Whoever has said hello may be a process that computes; no longer than so.
const PROOF: Duration = Duration::from_secs(600);

pub struct Incoming {
    pub socket: Socket,
    begun: Instant,
    phase: Phase,
    hello: [u8; HELLO_BYTES],
    proof: [u8; PROOF_BYTES],
    /// Bytes of what is being read that are there.
    filled: usize,
}

enum Phase {
    Hello,
    Proof {
        hello: Hello,
        nonce: [u8; 16],
    },
    /// Has proved who it is, and waits for what becomes of this process's own attempt.
    Held(Hello),
}

/// What became of it in a step.
pub enum Step {
    Waits,
    Proven(Hello),
    /// To be dropped, once this has been said.
    Over(Option<Refusal>),
}

impl Incoming {
    pub fn new(socket: Socket, now: Instant) -> Incoming {
        Incoming {
            socket,
            begun: now,
            phase: Phase::Hello,
            hello: [0; HELLO_BYTES],
            proof: [0; PROOF_BYTES],
            filled: 0,
        }
    }

    /// Whether it has not said who it is.
    pub fn is_stranger(&self) -> bool {
        matches!(self.phase, Phase::Hello)
    }

    pub fn begun(&self) -> Instant {
        self.begun
    }

    pub fn is_late(&self, now: Instant) -> bool {
        let age = now.duration_since(self.begun);
        match self.phase {
            Phase::Hello => age >= HELLO,
            Phase::Proof { .. } => age >= PROOF,
            Phase::Held(_) => false,
        }
    }

    pub fn hold(&mut self, hello: Hello) {
        self.filled = 0;
        self.phase = Phase::Held(hello);
    }

    pub fn held(&self) -> Option<&Hello> {
        match &self.phase {
            Phase::Held(hello) => Some(hello),
            _ => None,
        }
    }

    /// Does what can be done now.
    pub fn step(&mut self, identity: &Identity) -> Step {
        match self.advance(identity) {
            Ok(Some(hello)) => Step::Proven(hello),
            Ok(None) => Step::Waits,
            Err(refusal) => Step::Over(refusal),
        }
    }

    fn advance(&mut self, identity: &Identity) -> Result<Option<Hello>, Option<Refusal>> {
        loop {
            let wanted = match self.phase {
                Phase::Hello => HELLO_BYTES,
                Phase::Proof { .. } => PROOF_BYTES,
                // It says nothing before it is answered.
                Phase::Held(_) => 1,
            };
            // The hello is kept: the proof is about it.
            let place = match self.phase {
                Phase::Hello => &mut self.hello[..],
                _ => &mut self.proof[..wanted],
            };
            let is_full = fill(&self.socket, place, &mut self.filled).map_err(|_| None)?;
            match &self.phase {
                _ if !is_full => return Ok(None),
                Phase::Hello => self.challenge(identity)?,
                Phase::Proof { hello, nonce } => {
                    if !is_proof(&identity.key, &self.hello, nonce, &self.proof) {
                        return Err(Some(Refusal::Key));
                    }
                    return Ok(Some(*hello));
                }
                Phase::Held(_) => return Err(Some(Refusal::Malformed)),
            }
        }
    }

    fn challenge(&mut self, identity: &Identity) -> Result<(), Option<Refusal>> {
        self.filled = 0;
        let (rank, key) = (identity.rank, &identity.key);
        let hello = Hello::parse(&self.hello, identity.job, rank, key)?;
        if hello.from >= identity.size || hello.from == rank || hello.lane >= identity.lanes {
            return Err(Some(Refusal::Malformed));
        }
        let nonce = system::random().map_err(|_| None)?;
        let challenge = Reply::challenge(key, &self.hello, nonce);
        self.phase = Phase::Proof { hello, nonce };
        self.say(challenge).map_err(|()| None)
    }

    /// Answers; a new connection has room for it.
    pub fn say(&self, reply: Reply) -> Result<(), ()> {
        let bytes = reply.put();
        match self.socket.send_with_flags(&bytes, libc::MSG_NOSIGNAL) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            _ => Err(()),
        }
    }
}
