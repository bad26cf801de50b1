//! Credits of a per-peer pool.
//!
//! Each of two peers has posted `count` buffers of the pool for data to the queue pair between them, and `count / window` more for
//! messages of credits alone ([`Pool::reserve`]). Of the one direction, and the other likewise:
//!
//! 1. The sender spends a credit for each data message. A message without a credit waits.
//! 2. A data message takes a buffer. Once at most `low` data buffers are left, the receiver posts those that were used again, and owes
//!    the sender a credit for each.
//! 3. What a receiver owes goes back with its next data message; once it owes `window`, in a message of credits alone, which costs no
//!    credit.
//! 4. The buffer that held a message of credits alone is posted again *before* its credits are counted.
//!
//! So credits held, data under way, buffers used and not posted again, credits owed, and credits under way back are `count` together at all
//! times. A data message therefore finds a buffer. A message of credits alone carries `window` or more of the `count`, and by rule 4 its
//! buffer is posted when they can be spent: there are never more than `count / window` under way, and each finds one too. The queue pair never
//! reports that its receiver was not ready. Nor does a sender without credits wait for ever: with no data under way, used and owed are `count`,
//! fewer than `count - low` are used (2), so more than `low` are owed, and `window` is at most `low + 1` (checked with the specification).

use std::fmt;

use crate::{Pool, Refill};

/// One side of a connection: the credits it has, and those it owes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credits {
    count: u32,
    window: u32,
    /// Data messages that may be sent.
    held: u32,
    /// The buffers for the peer's data.
    buffers: Refill,
    /// Buffers that have been posted again and that the peer does not know of.
    owed: u32,
}

/// What a peer did that it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It gave more credits than it has buffers.
    TooManyCredits { held: u32, given: u32, count: u32 },
    /// It sent data without a credit.
    NoCredit,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::TooManyCredits { held, given, count } => write!(
                formatter,
                "{given} credits given beside {held}, of a pool of {count} buffers"
            ),
            Violation::NoCredit => formatter.write_str("data sent without a credit"),
        }
    }
}

impl std::error::Error for Violation {}

impl Credits {
    /// With all buffers posted on both sides, whose pools are alike.
    pub fn new(pool: &Pool) -> Credits {
        let mut buffers = Refill::new(pool);
        buffers.filled(pool.count);
        Credits {
            count: pool.count,
            window: pool.credits,
            held: pool.count,
            buffers,
            owed: 0,
        }
    }

    /// Spends a credit on a data message, and says how many credits the message carries; `None` if the message has to wait.
    pub fn spend(&mut self) -> Option<u32> {
        self.held = self.held.checked_sub(1)?;
        Some(std::mem::take(&mut self.owed))
    }

    /// A data message has come, with so many credits.
    pub fn data_arrived(&mut self, credits: u32) -> Result<(), Violation> {
        if !self.peer_has_credit() || !self.buffers.taken() {
            return Err(Violation::NoCredit);
        }
        self.receive(credits)
    }

    /// Whether the peer may have a credit that it has not spent: buffers that it does not know of are none of its.
    fn peer_has_credit(&self) -> bool {
        self.buffers.posted() > self.owed
    }

    /// A message of credits alone has come, and its buffer is posted again.
    pub fn credits_arrived(&mut self, credits: u32) -> Result<(), Violation> {
        self.receive(credits)
    }

    fn receive(&mut self, given: u32) -> Result<(), Violation> {
        let held = self.held;
        match held.checked_add(given).filter(|sum| *sum <= self.count) {
            Some(sum) => {
                self.held = sum;
                Ok(())
            }
            None => Err(Violation::TooManyCredits {
                held,
                given,
                count: self.count,
            }),
        }
    }

    /// How many buffers to post again now.
    pub fn buffers_needed(&self) -> u32 {
        self.buffers.needed()
    }

    /// So many of those needed are posted.
    pub fn buffers_posted(&mut self, buffers: u32) {
        self.buffers.filled(buffers);
        self.owed += buffers;
    }

    /// The credits of a message of credits alone, if one is due; it is to be sent.
    pub fn message_due(&mut self) -> Option<u32> {
        (self.owed >= self.window).then(|| std::mem::take(&mut self.owed))
    }

    pub fn held(&self) -> u32 {
        self.held
    }

    pub fn owed(&self) -> u32 {
        self.owed
    }
}
