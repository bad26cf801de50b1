//! Memory that a process exposes to its peers: they write and read it while it does nothing.
//!
//! The owner [exposes](crate::Fabric::expose) memory for a lane, and tells peers where it is ([`Exposed`]); their
//! [accesses](crate::Endpoint::access) on that lane move data between it and memory of theirs. The owner is told nothing of them.

use std::any::Any;
use std::fmt;

use weft_memory::Memory;

/// Where exposed memory is: told to peers by whoever exposes it, and read by their transport alone, which does not trust it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposed(pub [u64; 3]);

/// Memory that peers may access until this is dropped.
pub struct Exposure {
    pub exposed: Exposed,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Exposure {
    /// `kept` is what ends the accesses when it is dropped.
    pub fn new(exposed: Exposed, kept: impl Any + Send + Sync) -> Exposure {
        let _kept = Box::new(kept);
        Exposure { exposed, _kept }
    }
}

impl fmt::Debug for Exposure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.exposed.fmt(f)
    }
}

/// Memory that a transport has allocated; it goes back when this is dropped.
pub struct Allocation {
    pub memory: Memory,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Allocation {
    /// `kept` is what the memory belongs to.
    pub fn new(memory: Memory, kept: impl Any + Send + Sync) -> Allocation {
        let _kept = Box::new(kept);
        Allocation { memory, _kept }
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:p}", self.memory.bytes, self.memory.base)
    }
}

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the peer's memory.
    Write,
    /// From there.
    Read,
}

/// An access to memory that a peer has exposed.
#[derive(Clone)]
pub struct Access {
    pub direction: Direction,
    /// This process's: all of it is written, or filled.
    pub memory: Memory,
    pub exposed: Exposed,
    /// Bytes from the beginning of what is exposed.
    pub offset: u64,
}
