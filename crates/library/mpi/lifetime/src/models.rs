//! When MPI may be called (MPI-5.0 §11.1 to §11.4): the world model from `MPI_Init` to `MPI_Finalize`, once, and any
//! number of sessions before, during and after it.
//!
//! A process joins its job with the first of them. One that knows the world model only leaves in `MPI_Finalize`; one that
//! has opened a session leaves when it ends, for it may open another. Joining and leaving are fences of the whole job,
//! so that a process's messages stay where they are until their receivers have them. A process that opens a session after
//! it has left joins again by itself and leaves by itself.

use std::sync::OnceLock;

use parking_lot::Mutex;
use weft_error::{Class, Error, Result};
use weft_handle::CommId;
use weft_kernel::above_standard;
use weft_messages::buffered;
use weft_objects::comm;
use weft_objects::comm::numbers::contexts;
use weft_process::engine::engine;
use weft_process::phase::{Phase, publish, publish_world, world};
use weft_process::report::{Fence, InFence};
use weft_process::thread_level::ThreadLevel;
use weft_process::{background, job};

use super::start;

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

impl Models {
    fn join(&mut self) -> Result<()> {
        self.membership = match self.membership {
            Membership::Outside => {
                above_standard(start::start)?;
                Membership::Together
            }
            Membership::Left => {
                job::rejoin()?;
                engine().set_leaving(false);
                Membership::Alone
            }
            joined => joined,
        };
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        let together = self.membership == Membership::Together;
        self.membership = Membership::Left;
        engine().set_leaving(true);
        let _in_fence = InFence::enter(Fence::Leaving);
        // Others may wait for an answer, as in a collective operation whose lengths differ (`collective-calls/enquiries`).
        job::leave(together, &mut || engine().progress_everywhere())
    }

    fn is_open(&self) -> bool {
        self.sessions > 0 || world() == Phase::Active
    }

    /// Says whether MPI may be called, after a change.
    fn publish(&self) {
        if self.is_open() {
            return publish(Phase::Active);
        }
        background::finish();
        publish(Phase::After);
    }
}

/// What the world model provides.
static WORLD_LEVEL: OnceLock<ThreadLevel> = OnceLock::new();

/// `MPI_Query_thread` (MPI-5.0 §11.6.2). A process of sessions alone is told what its threads may do.
pub fn thread_level() -> ThreadLevel {
    WORLD_LEVEL.get().copied().unwrap_or(ThreadLevel::Multiple)
}

/// `MPI_Init_thread`, which provides the level that is asked for (MPI-5.0 §11.6.2).
pub fn initialize(level: ThreadLevel) -> Result<()> {
    let mut models = MODELS.lock();
    if world() != Phase::Before {
        let what = "MPI is initialised already, or was; once per process";
        return Err(Error::new(Class::Other, what));
    }
    models.join()?;
    expect(level);
    WORLD_LEVEL.get_or_init(|| level);
    publish_world(Phase::Active);
    models.publish();
    Ok(())
}

/// More lanes are for programs whose threads call at the same time.
fn expect(level: ThreadLevel) {
    if level == ThreadLevel::Multiple {
        contexts().expect_threads();
    }
}

/// `MPI_Finalize`: what this process sent has left it, and every process has come here. The attributes of
/// `MPI_COMM_SELF` are deleted first, while everything still works (MPI-5.0 §11.2.4).
pub fn finalize() -> Result<()> {
    if world() != Phase::Active {
        let what = "MPI is not initialised, or finalised already";
        return Err(Error::new(Class::Other, what));
    }
    comm::self_comm()
        .attributes
        .delete_all(CommId::SELF.handle())?;
    complete()?;
    let mut models = MODELS.lock();
    let left = match models.sessions_known {
        true => Ok(()),
        false => models.leave(),
    };
    publish_world(Phase::After);
    models.publish();
    left
}

/// What this process sent leaves it.
pub(super) fn complete() -> Result<()> {
    buffered::flush_all()?;
    engine().drain();
    Ok(())
}

/// A session begins.
pub(super) fn open_session(asked: Option<ThreadLevel>) -> Result<()> {
    let mut models = MODELS.lock();
    models.join()?;
    if let Some(level) = asked {
        expect(level);
    }
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
pub(super) fn close_session() {
    let mut models = MODELS.lock();
    models.sessions -= 1;
    models.publish();
}

/// The process ends, in good order if nothing is open: otherwise the launcher is to find out. A child that was forked
/// has a copy of the handler and speaks for no process.
extern "C" fn at_exit() {
    let Some(mut models) = MODELS.try_lock() else {
        return;
    };
    let joined = matches!(models.membership, Membership::Together | Membership::Alone);
    if joined && !models.is_open() && job::is_this() {
        // A launcher that is gone needs not be told.
        let _ = models.leave();
    }
}
