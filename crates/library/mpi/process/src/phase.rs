//! Whether MPI may be called now (MPI-5.0 §11.1 to §11.4): two words that any thread reads.

use std::sync::atomic::{AtomicU8, Ordering};

/// Where the process stands between a beginning and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    Before,
    Active,
    After,
}

/// A phase that any thread reads. Written under the mutex on the open models (`lifetime/models.rs`).
struct PhaseCell(AtomicU8);

impl PhaseCell {
    const fn new() -> PhaseCell {
        PhaseCell(AtomicU8::new(Phase::Before as u8))
    }

    #[inline]
    fn load(&self) -> Phase {
        const BEFORE: u8 = Phase::Before as u8;
        const ACTIVE: u8 = Phase::Active as u8;
        match self.0.load(Ordering::Relaxed) {
            BEFORE => Phase::Before,
            ACTIVE => Phase::Active,
            _ => Phase::After,
        }
    }

    /// Release: a thread that finds `Active` finds what was made before.
    fn store(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Release);
    }
}

/// Whether any model is open.
static ANY: PhaseCell = PhaseCell::new();
static WORLD: PhaseCell = PhaseCell::new();

/// Whether MPI may be called, in the world model or in a session.
#[inline]
pub fn phase() -> Phase {
    ANY.load()
}

/// Where the world model stands: what `MPI_Initialized` and `MPI_Finalized` tell.
#[inline]
pub fn world() -> Phase {
    WORLD.load()
}

/// Says where the process stands; called where models are opened and closed.
pub fn publish(phase: Phase) {
    ANY.store(phase);
}

/// Says where the world model stands.
pub fn publish_world(phase: Phase) {
    WORLD.store(phase);
}
