//! Passive target synchronisation (MPI-5.0 §12.5.3, §12.5.4). On one host every access is over when its call returns, so a flush
//! orders memory and nothing else; what goes to other hosts is completed in `far`.

use weft_error::Result;
use weft_handle::WindowId;
use weft_rma::LockKind;

use super::active::order_memory;
use super::errors::unreached;
use super::far::Where;
use super::object::{Window, find, share};

/// How `MPI_Win_lock` locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    Shared,
    Exclusive,
}

/// `MPI_Win_lock`: returns with the lock. `check`: whether another process can hold a conflicting one. The window is not freed
/// meanwhile: its epochs forbid that.
pub fn lock(id: WindowId, locking: Locking, rank: i32, check: bool) -> Result<()> {
    let window = find(id)?;
    let target = window.check_rank("rank", rank)?;
    let kind = match locking {
        Locking::Shared => LockKind::Shared,
        Locking::Exclusive => LockKind::Exclusive,
    };
    window.epochs.begin_lock(target)?;
    match check {
        // What those who held it before have stored is seen.
        true => {
            if let Err(error) = window.take_lock(target, kind) {
                window.epochs.unlocked(target);
                return Err(error);
            }
        }
        false => order_memory(),
    }
    window.epochs.locked(target, check);
    Ok(())
}

/// `MPI_Win_unlock`.
pub fn unlock(id: WindowId, rank: i32) -> Result<()> {
    let window = find(id)?;
    let target = window.check_rank("rank", rank)?;
    let is_held = window.epochs.begin_unlock(target)?;
    let outcome = match (&window.far, is_held) {
        (Some(far), _) => {
            order_memory();
            far.unlock(&window.comm, target, is_held)
        }
        // What this process has stored is seen by those who hold it next.
        (None, true) => window.rma.unlock(target).map_err(unreached),
        (None, false) => {
            order_memory();
            Ok(())
        }
    };
    window.epochs.unlocked(target);
    outcome
}

/// `MPI_Win_lock_all`: a shared lock of each target, in rank order.
pub fn lock_all(id: WindowId, check: bool) -> Result<()> {
    let window = share(id)?;
    window.epochs.begin_lock_all()?;
    if check && let Err(error) = window.take_all_locks() {
        window.epochs.unlocked_all();
        return Err(error);
    }
    order_memory();
    window.epochs.locked_all(check);
    Ok(())
}

/// `MPI_Win_unlock_all`.
pub fn unlock_all(id: WindowId) -> Result<()> {
    let window = share(id)?;
    let held = window.epochs.begin_unlock_all()?;
    order_memory();
    let outcome = match (&window.far, held) {
        (Some(far), _) => far.unlock_all(&window.comm, held),
        (None, true) => window.unlock_first(window.comm.size()),
        (None, false) => Ok(()),
    };
    window.epochs.unlocked_all();
    outcome
}

impl Window {
    fn take_lock(&self, target: u32, kind: LockKind) -> Result<()> {
        match &self.far {
            None => self.rma.lock(target, kind).map_err(unreached),
            Some(far) => {
                far.lock(&self.comm, target, kind)?;
                order_memory();
                Ok(())
            }
        }
    }

    fn take_all_locks(&self) -> Result<()> {
        if let Some(far) = &self.far {
            return far.lock_all(&self.comm);
        }
        for target in 0..self.comm.size() {
            if let Err(fault) = self.rma.lock(target, LockKind::Shared) {
                // The first fault counts.
                let _ = self.unlock_first(target);
                return Err(unreached(fault));
            }
        }
        Ok(())
    }

    /// Lets the locks of the first targets go, all of them whatever becomes of each.
    fn unlock_first(&self, targets: u32) -> Result<()> {
        let outcomes = (0..targets).map(|target| self.rma.unlock(target).map_err(unreached));
        outcomes.fold(Ok(()), Result::and)
    }
}

/// `MPI_Win_flush` and `MPI_Win_flush_local`.
pub fn flush(id: WindowId, rank: i32, place: Where) -> Result<()> {
    let window = find(id)?;
    let target = window.check_rank("rank", rank)?;
    window.epochs.check_passive(target)?;
    order_memory();
    match &window.far {
        None => Ok(()),
        Some(far) => far.flush(&window.comm, target, place),
    }
}

/// `MPI_Win_flush_all` and `MPI_Win_flush_local_all`.
pub fn flush_all(id: WindowId, place: Where) -> Result<()> {
    let window = find(id)?;
    window.epochs.check_any_passive()?;
    order_memory();
    match &window.far {
        None => Ok(()),
        Some(far) => far.flush_all(&window.comm, place),
    }
}

/// `MPI_Win_sync`: in the unified model an ordering of memory (MPI-5.0 §12.5.4, §12.7). A program that calls it again and again waits for others.
pub fn sync(id: WindowId) -> Result<()> {
    let window = find(id)?;
    order_memory();
    if let Some(far) = &window.far {
        far.send_gathered(&window.comm);
    }
    Ok(())
}
