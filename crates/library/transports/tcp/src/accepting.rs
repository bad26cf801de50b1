//! A connection that somebody else has begun, until that one has proved to be a process of this job. It has all the time in the world:
//! who has begun it may be a process that computes. Its host's death is found out by the kernel's keep-alive.

use std::time::Instant;

use socket2::Socket;
use weft_credentials::random_nonce;

use crate::handshake::{HELLO_BYTES, Hello, PROOF_BYTES, Refusal, Reply, is_proof};
use crate::identity::{ConnectionName, Identity, fill};

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
    /// Has said who it is, as who has heard an earlier hello can, and is to be [challenged](Incoming::challenge).
    Claim(Hello),
    Proof {
        hello: Hello,
        nonce: [u8; 16],
    },
    /// Has proved who it is, and waits for what becomes of this process's own attempt.
    Held(Hello),
}

/// What became of it in a step.
pub enum IncomingOutcome {
    Waits,
    Claims(Hello),
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

    /// Who it says it is, and has not proved so far.
    pub fn claim(&self) -> Option<&Hello> {
        match &self.phase {
            Phase::Claim(hello) | Phase::Proof { hello, .. } => Some(hello),
            Phase::Hello | Phase::Held(_) => None,
        }
    }

    /// Whether it claims a link that has not been proved, or has proved one and waits.
    pub fn is_of(&self, link: ConnectionName, is_proven: bool) -> bool {
        let hello = if is_proven { self.held() } else { self.claim() };
        hello.map(ConnectionName::of) == Some(link)
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
    pub fn step(&mut self, identity: &Identity) -> IncomingOutcome {
        match self.advance(identity) {
            Ok(step) => step,
            Err(refusal) => IncomingOutcome::Over(refusal),
        }
    }

    fn advance(&mut self, identity: &Identity) -> Result<IncomingOutcome, Option<Refusal>> {
        let wanted = match self.phase {
            Phase::Hello => HELLO_BYTES,
            Phase::Proof { .. } => PROOF_BYTES,
            // It says nothing before it is answered.
            Phase::Claim(_) | Phase::Held(_) => 1,
        };
        // The hello is kept: the proof is about it.
        let place = match self.phase {
            Phase::Hello => &mut self.hello[..],
            _ => &mut self.proof[..wanted],
        };
        if !fill(&self.socket, place, &mut self.filled).map_err(|_| None)? {
            return Ok(IncomingOutcome::Waits);
        }
        match &self.phase {
            Phase::Hello => self.heard(identity).map_err(Some),
            Phase::Proof { hello, nonce } => {
                match is_proof(&identity.key, &self.hello, nonce, &self.proof) {
                    true => Ok(IncomingOutcome::Proven(*hello)),
                    false => Err(Some(Refusal::Key)),
                }
            }
            Phase::Claim(_) | Phase::Held(_) => Err(Some(Refusal::Malformed)),
        }
    }

    /// It has said hello.
    fn heard(&mut self, identity: &Identity) -> Result<IncomingOutcome, Refusal> {
        self.filled = 0;
        let rank = identity.rank;
        let hello = Hello::parse(&self.hello, identity.job, rank, &identity.key)?;
        if hello.from >= identity.size || hello.from == rank || hello.lane >= identity.lanes {
            return Err(Refusal::Malformed);
        }
        self.phase = Phase::Claim(hello);
        Ok(IncomingOutcome::Claims(hello))
    }

    /// Asks who claims to be a process of this job to prove it.
    pub fn challenge(&mut self, hello: Hello, identity: &Identity) -> Result<(), ()> {
        let nonce = random_nonce().map_err(|_| ())?;
        self.phase = Phase::Proof { hello, nonce };
        self.say(Reply::challenge(&identity.key, &self.hello, nonce))
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
