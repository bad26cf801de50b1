//! Passive-target locks, as an origin asks for them (MPI-5.0 §12.5.3).

use weft_engine::RequestId;
use weft_error::{Class, Error, Result};
use weft_objects::comm::Comm;
use weft_rma::LockKind;
use weft_rma::far::Command;

use super::Far;
use super::path::{Flushing, Path, answered};

impl Far {
    /// Locks a part: returns with the lock.
    pub fn lock(&self, comm: &Comm, target: u32, kind: LockKind) -> Result<()> {
        let path = self.path(comm, target);
        path.end_lock(path.begin_lock(kind)?)
    }

    /// Completes all accesses to a part, and lets its lock go if it `is_held`: with `MPI_MODE_NOCHECK` there is none.
    pub fn unlock(&self, comm: &Comm, target: u32, is_held: bool) -> Result<()> {
        let path = self.path(comm, target);
        path.end_unlock(path.begin_unlock(is_held)?)
    }

    /// A shared lock of each part: of those on this host at once, of the others by their first access, so that a process has only to do
    /// with those that it accesses.
    pub fn lock_all(&self, comm: &Comm) -> Result<()> {
        let (near, far): (Vec<_>, Vec<_>) = self
            .paths(comm)
            .partition(|path| self.part(path.target).number.is_some());
        for path in far {
            path.enter().is_lock_due = true;
        }
        let asked: Vec<_> = near
            .into_iter()
            .map(|path| (path, path.begin_lock(LockKind::Shared)))
            .collect();
        let locked = asked.into_iter().map(|(path, asked)| {
            let locked = asked.and_then(|id| path.end_lock(id));
            (path, locked)
        });
        let locked: Vec<_> = locked.collect();
        if locked.iter().all(|(_, locked)| locked.is_ok()) {
            return Ok(());
        }
        self.paths(comm)
            .for_each(|path| path.enter().is_lock_due = false);
        let mut outcome = Ok(());
        for (path, locked) in locked {
            // The first fault counts.
            let _ = locked.is_ok().then(|| path.begin_unlock(true));
            outcome = outcome.and(locked);
        }
        outcome
    }

    /// [`unlock`](Self::unlock) of each part.
    pub fn unlock_all(&self, comm: &Comm, are_held: bool) -> Result<()> {
        let paths = self.paths(comm);
        let begun: Vec<_> = paths
            .map(|path| {
                let is_due = std::mem::take(&mut path.enter().is_lock_due);
                (path, path.begin_unlock(are_held && !is_due))
            })
            .collect();
        let outcomes = begun
            .into_iter()
            .map(|(path, begun)| begun.and_then(|unlocking| path.end_unlock(unlocking)));
        outcomes.fold(Ok(()), Result::and)
    }
}

/// An unlock that was begun.
struct Unlocking {
    flushing: Flushing,
    /// The target is still to be told that the lock is let go.
    is_to_be_told: bool,
}

impl Path<'_> {
    fn begin_lock(&self, kind: LockKind) -> Result<RequestId> {
        let mut state = self.enter();
        self.ask(&mut state, |reply| Command::Lock { kind, reply })
    }

    /// Takes the lock that the first access is to take.
    pub(super) fn take_due_lock(&self) -> Result<()> {
        let _alone = self.line.waiting.lock();
        // Another thread may have been faster.
        if !self.enter().is_lock_due {
            return Ok(());
        }
        self.end_lock(self.begin_lock(LockKind::Shared)?)?;
        self.enter().is_lock_due = false;
        Ok(())
    }

    fn end_lock(&self, asked: RequestId) -> Result<()> {
        answered(asked).map_err(|error| self.refused(error))?;
        // What this process has asked of the target before is done.
        self.line.state.lock().is_unlocking = false;
        Ok(())
    }

    #[cold]
    fn refused(&self, error: Error) -> Error {
        if error.class != Class::ProcAborted {
            return error;
        }
        let target = self.target;
        let text = format!(
            "rank {target}'s part of the window cannot be locked: it died, or a process died with a lock of the part, or waiting for it"
        );
        Error::new(Class::ProcAborted, text)
    }

    /// Where nothing but commands is under way the target is told at once: it handles the flush before.
    fn begin_unlock(&self, is_held: bool) -> Result<Unlocking> {
        let mut state = self.enter();
        let is_told_last = is_held && state.has_transfers();
        let flushing = match is_held && !is_told_last {
            true => self.begin_flush_and_unlock(&mut state)?,
            false => self.begin_flush(&mut state, true, false)?,
        };
        Ok(Unlocking {
            flushing,
            is_to_be_told: is_told_last,
        })
    }

    fn end_unlock(&self, unlocking: Unlocking) -> Result<()> {
        let outcome = self.end_flush(unlocking.flushing);
        let told = match unlocking.is_to_be_told {
            true => self.tell_unlock(),
            false => Ok(()),
        };
        outcome.and(told)
    }

    fn tell_unlock(&self) -> Result<()> {
        let mut state = self.enter();
        state.is_unlocking = true;
        self.write_last(&mut state, &Command::Unlock)
    }
}
