//! An agreement under way: the rounds in which the processes of a new communicator come to one number.

use std::hash::{BuildHasher, RandomState};

use weft_engine::LANES;
use weft_error::told::Reader;
use weft_error::{Class, Error, Result};

use super::{
    ABSTAINED, Contexts, FIRST, Form, Insistence, LANE_BITS, NO_MEMORY, NONE_LEFT, Reserved,
};
#[cfg(fuzzing)]
use weft_error::told::Teller;

/// Rounds of an agreement that nothing is added to: two threads' first round often collides, their second seldom.
const PLAIN_ROUNDS: u32 = 2;
/// Rounds in which an agreement abstains for the same nonblocking one. The one that goes first needs few.
const PATIENCE: u32 = 32;
/// Bits that a process draws at random each round.
const DRAWN_BITS: u32 = 10;
/// A round starts at most as much higher as all serials have, by this many bits less.
const LEAP_BITS_LESS: u32 = 6;
/// Bits of a proposal's first word below the serial: the lane, and what is drawn.
const BELOW: u32 = LANE_BITS + DRAWN_BITS;

/// No serial is larger: so many communicators nobody makes.
const MOST_SERIAL: i64 = 1 << 40;
const _: () = assert!(MOST_SERIAL.leading_zeros() > BELOW);
const PROPOSAL: &str = "proposal for the number of a communicator";

/// Whether a round's words are such as [`conclude`](Agreement::conclude) takes.
pub fn check_round(mut words: Reader<'_>) -> Result<()> {
    read_round(&mut words)
}

pub(crate) fn read_round(words: &mut Reader<'_>) -> Result<()> {
    words.within(0..=MOST_SERIAL << BELOW, PROPOSAL)?;
    words.within(-MOST_SERIAL..=NO_MEMORY, PROPOSAL)?;
    Ok(())
}

impl Contexts {
    /// Agrees on a number: `largest` returns the element-wise maximum over the new communicator's processes. Whether
    /// this is the only one of them is said by `alone`.
    pub fn agree(
        &self,
        alone: bool,
        mut largest: impl FnMut([i64; 2]) -> Result<[i64; 2]>,
    ) -> Result<u32> {
        if alone {
            return self.alone();
        }
        let mut agreement = self.begin();
        loop {
            let agreed = largest(agreement.propose())?;
            if let Some(number) = agreement.conclude(agreed)? {
                return Ok(number);
            }
        }
    }

    /// The steps of [`agree`](Self::agree): each process of the agreement waits for the others until it ends.
    pub fn begin(&self) -> Agreement<'_> {
        self.begin_as(Form::Blocking)
    }

    /// As [`begin`](Self::begin), of processes that may do something else meanwhile.
    pub fn begin_nonblocking(&self) -> Agreement<'_> {
        self.begin_as(Form::Nonblocking)
    }

    fn begin_as(&self, form: Form) -> Agreement<'_> {
        Agreement {
            contexts: self,
            form,
            floor: FIRST,
            proposal: None,
            rounds: 0,
            insists: None,
            awaited: None,
            lap: Lap::First,
        }
    }
}

/// An agreement under way. What it has reserved is free again if it is given up.
pub struct Agreement<'a> {
    contexts: &'a Contexts,
    form: Form,
    floor: u64,
    /// A serial that is reserved, and the lane proposed for it.
    proposal: Option<(u64, u32)>,
    /// Rounds that have failed though no process abstained.
    rounds: u32,
    insists: Option<Insistence>,
    /// For whom this process abstained last, and how many times.
    awaited: Option<(Insistence, u32)>,
    lap: Lap,
}

/// How far an agreement has looked: past serials, by numbers drawn at random, through all of them; then at every one.
#[derive(Clone, Copy)]
enum Lap {
    First,
    Skipping { end: u64 },
    All { end: u64 },
}

impl Agreement<'_> {
    /// This process's words of the next round, of which the element-wise maximum is to be found.
    pub fn propose(&mut self) -> [i64; 2] {
        if weft_reserve::check().is_err() {
            return [0, NO_MEMORY];
        }
        let drawn = (RandomState::new().hash_one(()) >> (u64::BITS - DRAWN_BITS)) as i64;
        if self.proposal.is_none() {
            match self.contexts.reserve(self.floor, self.insists) {
                Reserved::Serial(serial, lane) => self.proposal = Some((serial, lane)),
                Reserved::Abstained(next, first) => {
                    self.abstain_for(first);
                    return [(next << BELOW) as i64 | drawn, ABSTAINED];
                }
                // All see the end of the lap.
                Reserved::NoneLeft => {
                    let end = self.floor + u64::from(self.contexts.serials);
                    return [(end << BELOW) as i64 | drawn, NONE_LEFT];
                }
            }
        }
        let (serial, lane) = self.proposal.expect("a serial was reserved");
        let word = (serial << BELOW | u64::from(lane) << DRAWN_BITS) as i64 | drawn;
        [word, -(serial as i64)]
    }

    fn abstain_for(&mut self, first: Insistence) {
        let before = self.awaited.filter(|(same, _)| *same == first);
        let rounds = before.map_or(1, |(_, rounds)| rounds + 1);
        self.awaited = Some((first, rounds));
        if first.form == Form::Nonblocking && rounds >= PATIENCE {
            self.contexts.overrule_nonblocking();
        }
    }

    /// The number, if a round with that maximum has found it.
    pub fn conclude(&mut self, [largest, low]: [i64; 2]) -> Result<Option<u32>> {
        let drawn = largest as u64 & ((1 << DRAWN_BITS) - 1);
        let lane = (largest >> DRAWN_BITS) as u32 % LANES;
        let high = (largest >> BELOW) as u64;
        if low < ABSTAINED && high == -low as u64 {
            self.proposal = None;
            self.insist_no_more();
            let number = self.contexts.number(high, lane);
            return Ok(Some(self.contexts.conclude(number)));
        }
        match low {
            NO_MEMORY => {
                let what = "a process has no memory for a new communicator, window or file";
                return Err(Error::new(Class::NoMem, what));
            }
            ABSTAINED => self.floor = self.floor.max(high),
            _ => {
                self.rounds += 1;
                self.go_on(high, drawn)?;
            }
        }
        if low == ABSTAINED || self.rounds >= PLAIN_ROUNDS {
            self.insist(largest);
        }
        // A process that has the one that the others are to come to keeps it.
        if self
            .proposal
            .is_some_and(|(serial, _)| serial != self.floor)
        {
            self.give_up();
        }
        Ok(None)
    }

    /// With that key, if this is the first time.
    fn insist(&mut self, key: i64) {
        let form = self.form;
        let insistence = *self.insists.get_or_insert(Insistence { key, form });
        self.contexts.insist(insistence);
    }

    fn insist_no_more(&mut self) {
        if let Some(insistence) = self.insists.take() {
            self.contexts.insist_no_more(insistence);
        }
    }

    /// The next round is to start at the serial `high` or, perhaps, above.
    fn go_on(&mut self, high: u64, drawn: u64) -> Result<()> {
        let serials = u64::from(self.contexts.serials);
        // At most a small part of all: it is not to leap over those that are free.
        let most = serials.ilog2().saturating_sub(LEAP_BITS_LESS);
        let doublings = self.rounds.saturating_sub(PLAIN_ROUNDS).min(most);
        let (bits, scale) = (
            doublings.min(DRAWN_BITS),
            doublings.saturating_sub(DRAWN_BITS),
        );
        let skip = (drawn % (1 << bits)) << scale;
        let end = high + serials;
        (self.floor, self.lap) = match self.lap {
            Lap::First => (high, Lap::Skipping { end }),
            Lap::Skipping { end } if high < end => (high + skip, self.lap),
            Lap::Skipping { .. } => (high, Lap::All { end }),
            Lap::All { end } if high < end => (high, self.lap),
            Lap::All { .. } => return Err(self.contexts.none_is_free()),
        };
        Ok(())
    }

    fn give_up(&mut self) {
        if let Some((serial, _)) = self.proposal.take() {
            self.contexts.give_up(serial);
        }
    }
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    let contexts = Contexts::of_serials(1 << 10, Vec::new);
    let mut agreement = contexts.begin();
    for &round in words.as_chunks().0 {
        agreement.propose();
        if check_round(Reader::new(Teller::Anybody, &round)).is_err() {
            break;
        }
        match agreement.conclude(round) {
            Ok(None) => {}
            Ok(Some(number)) => return contexts.release(number),
            Err(_) => break,
        }
    }
    drop(agreement);
    assert!(contexts.alone().is_ok());
}

impl Drop for Agreement<'_> {
    fn drop(&mut self) {
        self.give_up();
        self.insist_no_more();
    }
}
