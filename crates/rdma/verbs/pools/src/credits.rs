//! Credits of a per-peer pool.
//!
//! The receiver has posted `count` buffers of the pool for data to the queue pair that leads from its peer, and the peer, whatever its own
//! pool there, `count / window` buffers for messages of credits alone ([`Pool::reserve`]), `window` being the pool's `credits`.
//! Of this direction, and the other likewise, if it has a pool of its own:
//!
//! 1. The sender spends a credit for each data message ([`SendCredits`]). A message without a credit waits.
//! 2. A data message takes a buffer. Once at most `low` data buffers are left, the receiver posts those that were used again, and owes
//!    the sender a credit for each ([`OwedCredits`]).
//! 3. What a receiver owes goes back with its next data message, or as much of it as that carries; once it owes `window`, all of it, in a
//!    message of credits alone, which costs no credit.
//! 4. The buffer that held a message of credits alone is posted again *before* its credits are counted.
//!
//! So credits held, data under way, buffers used and not posted again, credits owed, and credits under way back are `count` together at all
//! times. A data message therefore finds a buffer. A message of credits alone carries `window` or more of the `count`, and by rule 4 its
//! buffer is posted when they can be spent: there are never more than `count / window` under way, and each finds one too. The queue pair never
//! reports that its receiver was not ready. Nor does a sender without credits wait for ever: with no data under way, used and owed are `count`,
//! fewer than `count - low` are used (2), so more than `low` are owed, and `window` is at most `low + 1` (checked with the specification).

use std::fmt;

use crate::{Pool, Refill};

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

/// The sender's half: the credits it has for a pool of its peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCredits {
    count: u32,
    held: u32,
}

impl SendCredits {
    /// For a pool of which all buffers are posted.
    pub fn new(pool: &Pool) -> SendCredits {
        SendCredits {
            count: pool.count,
            held: pool.count,
        }
    }

    /// Spends a credit on a data message; false if there is none, so that the message waits.
    #[must_use]
    pub fn spend(&mut self) -> bool {
        let has_credit = self.held > 0;
        self.held -= u32::from(has_credit);
        has_credit
    }

    /// The peer has given so many back.
    pub fn given(&mut self, given: u32) -> Result<(), Violation> {
        let SendCredits { count, held } = *self;
        let sum = held.checked_add(given).filter(|sum| *sum <= count);
        self.held = sum.ok_or(Violation::TooManyCredits { held, given, count })?;
        Ok(())
    }

    pub fn held(&self) -> u32 {
        self.held
    }
}

/// The receiver's half: the data buffers that are posted for one peer, and the credits that are owed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwedCredits {
    window: u32,
    /// The buffers for the peer's data.
    buffers: Refill,
    /// Buffers that have been posted again and that the peer does not know of.
    owed: u32,
}

impl OwedCredits {
    /// With all buffers posted.
    pub fn new(pool: &Pool) -> OwedCredits {
        let mut buffers = Refill::new(pool);
        buffers.filled(pool.count);
        OwedCredits {
            window: pool.credits,
            buffers,
            owed: 0,
        }
    }

    /// A data message has come.
    pub fn data_arrived(&mut self) -> Result<(), Violation> {
        // Buffers that the peer does not know of are none of its.
        let peer_has_credit = self.buffers.posted() > self.owed;
        match peer_has_credit && self.buffers.taken() {
            true => Ok(()),
            false => Err(Violation::NoCredit),
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

    /// The credits that a data message carries, which has room for so many.
    pub fn take(&mut self, most: u32) -> u32 {
        let taken = self.owed.min(most);
        self.owed -= taken;
        taken
    }

    /// Whether a message of credits alone is due.
    pub fn is_due(&self) -> bool {
        self.owed >= self.window
    }

    /// The credits of a message of credits alone, if one is due; it is to be sent.
    pub fn message_due(&mut self) -> Option<u32> {
        self.is_due().then(|| std::mem::take(&mut self.owed))
    }

    pub fn owed(&self) -> u32 {
        self.owed
    }
}
