//! How processes and their objects are numbered.
//!
//! A process has a *slot* of the fabric; slots are used again, so a *generation* tells the processes apart that had the same
//! one. QPNs and SRQ numbers are the slot and an index into a table of that process.

use std::fmt;

/// Slots of processes. The last value of a byte is no process's.
pub const PROCESSES: usize = 255;

/// The slot of what belongs to no process: XRC receive queue pairs, which live on when a process ends.
pub const FABRIC_SLOT: u8 = 255;

/// Generations are below 2^23, so that an owner fits in a lock's word beside the mark of those who wait.
pub const GENERATION_MASK: u32 = (1 << 23) - 1;

/// Devices that a fabric keeps UAR pages for.
pub const MAX_DEVICES: u32 = 8;

/// UAR pages of an adapter (ConnectX-4: 8192 of 4 KiB).
pub const UAR_PAGES: usize = 8192;

/// Indexes of queue pairs, completion queues and shared receive queues.
pub const QUEUES: u64 = 1 << 16;

/// Memory regions and windows of a process.
pub const REGIONS: u64 = 1 << 20;

/// XRC receive queue pairs of a fabric.
pub const FABRIC_QPS: u64 = 1 << 12;

/// Messages that can be under way to a process: one for each of its queue pairs and of the fabric's.
pub const RECEIVINGS: u64 = QUEUES + FABRIC_QPS;

/// A process as an owner of shared things: `generation << 8 | slot`, never 0, below 2^31.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(u32);

impl Owner {
    /// None for generation 0, which no process has.
    pub fn new(slot: u8, generation: u32) -> Option<Owner> {
        let generation = generation & GENERATION_MASK;
        (generation != 0).then_some(Owner(generation << 8 | u32::from(slot)))
    }

    /// From a word in shared memory; none if it names no process.
    pub fn from_word(word: u32) -> Option<Owner> {
        (word >> 8 != 0 && word >> 31 == 0).then_some(Owner(word))
    }

    pub fn word(self) -> u32 {
        self.0
    }

    pub fn slot(self) -> u8 {
        self.0 as u8
    }

    pub fn generation(self) -> u32 {
        self.0 >> 8
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} ({})", self.slot(), self.generation())
    }
}

/// The number of a queue pair or shared receive queue as it travels: 24 bits, `slot << 16 | index`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number(u32);

impl Number {
    pub fn new(slot: u8, index: u16) -> Number {
        Number(u32::from(slot) << 16 | u32::from(index))
    }

    /// The low 24 bits of a number that a user or a packet gave.
    pub fn from_bits(bits: u32) -> Number {
        Number(bits & 0xff_ffff)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    pub fn slot(self) -> u8 {
        (self.0 >> 16) as u8
    }

    pub fn index(self) -> u16 {
        self.0 as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_survive_their_word() {
        for (slot, generation) in [(0, 1), (255, 1), (7, GENERATION_MASK)] {
            let owner = Owner::new(slot, generation).unwrap();
            assert_eq!(Owner::from_word(owner.word()), Some(owner));
            assert_eq!((owner.slot(), owner.generation()), (slot, generation));
        }
        assert_eq!(Owner::new(3, 0), None);
        assert_eq!(Owner::new(3, GENERATION_MASK + 1), None);
        assert_eq!(Owner::from_word(7), None);
        assert_eq!(Owner::from_word(1 << 31 | 1 << 8), None);
    }

    #[test]
    fn numbers_have_slot_and_index() {
        let number = Number::new(0xab, 0x1234);
        assert_eq!(number.bits(), 0xab_1234);
        assert_eq!((number.slot(), number.index()), (0xab, 0x1234));
        assert_eq!(Number::from_bits(0xffab_1234), number);
    }
}
