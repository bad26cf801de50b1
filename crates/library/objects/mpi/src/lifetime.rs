//! When MPI may be called (MPI-5.0 §11.1 to §11.4): the world model from `MPI_Init` to `MPI_Finalize`, once, and any
//! number of sessions before, during and after it.
//!
//! A process joins its job with the first of them. One that knows the world model only leaves in `MPI_Finalize`; one that
//! has opened a session leaves when it ends, for it may open another. Joining and leaving are fences of the whole job,
//! so that a process's messages stay where they are until their receivers have them. A process that opens a session after
//! it has left joins again by itself and leaves by itself.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::CommId;
use crate::error::{Class, Error, Result};
use crate::process::{Process, process, start};

/// Where the process stands between a beginning and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    Before,
    Active,
    After,
}

/// A phase that any thread reads. Written under the mutex on [`MODELS`].
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

    /// Release: who finds `Active` finds the process that was made before.
    fn store(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Release);
    }
}

/// Whether any model is open.
static ANY: PhaseCell = PhaseCell::new();
static WORLD: PhaseCell = PhaseCell::new();

/// What is open, and whether the launcher counts this process in.
static MODELS: Mutex<Models> = Mutex::new(Models {
    sessions: 0,
    sessions_known: false,
    membership: Membership::Outside,
});

struct Models {
    sessions: u32,
    /// Whether there ever was a session.
    sessions_known: bool,
    membership: Membership,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Outside,
    /// Joined together with all of the job.
    Together,
    Left,
    /// Joined again, alone.
    Alone,
}

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

impl Models {
    fn join(&mut self) -> Result<()> {
        self.membership = match self.membership {
            Membership::Outside => {
                start()?;
                Membership::Together
            }
            Membership::Left => {
                process().rejoin()?;
                Membership::Alone
            }
            joined => joined,
        };
        Ok(())
    }

    fn leave(&mut self, process: &Process) -> Result<()> {
        let together = self.membership == Membership::Together;
        self.membership = Membership::Left;
        process.leave(together)
    }

    fn is_open(&self) -> bool {
        self.sessions > 0 || world() == Phase::Active
    }

    /// Says whether MPI may be called, after a change.
    fn publish(&self) {
        ANY.store(match self.is_open() {
            true => Phase::Active,
            false => Phase::After,
        });
    }
}

/// `MPI_Init_thread`: whatever level is asked for, all threads may call (MPI-5.0 §11.6.2).
pub fn initialize() -> Result<()> {
    let mut models = MODELS.lock();
    if world() != Phase::Before {
        let what = "MPI is initialised already, or was; once per process";
        return Err(Error::new(Class::Other, what));
    }
    models.join()?;
    WORLD.store(Phase::Active);
    models.publish();
    Ok(())
}

/// `MPI_Finalize`: what this process sent has left it, and every process has come here. The attributes of
/// `MPI_COMM_SELF` are deleted first, while everything still works (MPI-5.0 §11.2.4).
pub fn finalize() -> Result<()> {
    if world() != Phase::Active {
        let what = "MPI is not initialised, or finalised already";
        return Err(Error::new(Class::Other, what));
    }
    let process = process();
    process.own.attributes.delete_all(CommId::SELF.0)?;
    complete(process)?;
    let mut models = MODELS.lock();
    let left = match models.sessions_known {
        true => Ok(()),
        false => models.leave(process),
    };
    WORLD.store(Phase::After);
    models.publish();
    left
}

/// What this process sent leaves it.
pub(crate) fn complete(process: &Process) -> Result<()> {
    crate::buffered::flush_all()?;
    process.engine.drain();
    Ok(())
}

/// A session begins.
pub(crate) fn open_session() -> Result<()> {
    let mut models = MODELS.lock();
    models.join()?;
    if !models.sessions_known {
        weft_bootstrap::at_exit(at_exit)
            .map_err(|error| Error::new(Class::Other, error.to_string()))?;
        models.sessions_known = true;
    }
    models.sessions += 1;
    models.publish();
    Ok(())
}

/// A session ends, of which everything is complete.
pub(crate) fn close_session() {
    let mut models = MODELS.lock();
    models.sessions -= 1;
    models.publish();
}

/// The process ends, in good order if nothing is open: otherwise the launcher is to find out. A child that was forked
/// has a copy of the handler and speaks for nobody.
extern "C" fn at_exit() {
    let Some(mut models) = MODELS.try_lock() else {
        return;
    };
    let process = process();
    let joined = matches!(models.membership, Membership::Together | Membership::Alone);
    if joined && !models.is_open() && process.is_this() {
        // A launcher that is gone needs not be told.
        let _ = models.leave(process);
    }
}
