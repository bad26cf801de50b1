//! Which epochs of a window are open in this process (MPI-5.0 §12.5).
//!
//! An access asks whether it may with one or two loads, and writes nothing but once after a fence, so that threads do not
//! disturb each other. Opening is under a mutex, and so is closing but for unlocking one target; no thread holds it while it waits.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use parking_lot::Mutex;
use weft_error::Result;
use weft_messages::request::Request;

use super::errors::out_of_order;

/// What is open towards all targets.
mod all {
    pub const NOTHING: u8 = 0;
    /// A fence that may be followed by accesses, and is until another epoch is opened.
    pub const FENCE: u8 = 1;
    /// A fence that was followed by accesses: only another fence ends this.
    pub const FENCE_USED: u8 = 2;
    pub const LOCKED: u8 = 3;
    pub const LOCKED_UNCHECKED: u8 = 4;
    /// A call is about to lock or unlock all.
    pub const CHANGING: u8 = 5;
}

/// What is open towards one target.
mod one {
    pub const NOTHING: u8 = 0;
    pub const STARTED: u8 = 1;
    pub const LOCKED: u8 = 2;
    /// With `MPI_MODE_NOCHECK`: there is no lock to let go.
    pub const LOCKED_UNCHECKED: u8 = 3;
    /// A call is about to lock or unlock it.
    pub const CHANGING: u8 = 4;
}

/// An exposure epoch: what `MPI_Win_wait` waits for.
pub struct Exposure {
    pub requests: Vec<Request>,
}

/// An access epoch of `MPI_Win_start`.
pub struct Access {
    pub targets: Vec<u32>,
}

#[derive(Default)]
struct Open {
    access: Option<Access>,
    exposure: Option<Exposure>,
}

pub struct Epochs {
    all: AtomicU8,
    targets: Box<[AtomicU8]>,
    /// Targets that are locked one by one. Rises under the mutex; falls without it, after all else of an unlock.
    locked: AtomicU32,
    open: Mutex<Open>,
}

impl Epochs {
    pub fn new(size: u32) -> Epochs {
        Epochs {
            all: AtomicU8::new(all::NOTHING),
            targets: (0..size).map(|_| AtomicU8::new(one::NOTHING)).collect(),
            locked: AtomicU32::new(0),
            open: Mutex::default(),
        }
    }

    fn target(&self, target: u32) -> &AtomicU8 {
        &self.targets[target as usize]
    }

    /// Whether a target may be accessed now.
    #[inline(always)]
    pub fn is_accessible(&self, target: u32) -> bool {
        match self.all.load(Ordering::Relaxed) {
            all::LOCKED | all::LOCKED_UNCHECKED | all::FENCE_USED => true,
            all::FENCE => {
                self.all.store(all::FENCE_USED, Ordering::Relaxed);
                true
            }
            _ => matches!(
                self.target(target).load(Ordering::Relaxed),
                one::LOCKED | one::LOCKED_UNCHECKED | one::STARTED
            ),
        }
    }

    pub fn check_access(&self, target: u32) -> Result<()> {
        match self.is_accessible(target) {
            true => Ok(()),
            false => Err(out_of_order("no access epoch is open for the target")),
        }
    }

    /// Whether a target is locked, so that requests and flushes are allowed (MPI-5.0 §12.3.5, §12.5.4).
    #[inline(always)]
    pub fn is_locked(&self, target: u32) -> bool {
        let all = self.all.load(Ordering::Relaxed);
        matches!(all, all::LOCKED | all::LOCKED_UNCHECKED)
            || matches!(
                self.target(target).load(Ordering::Relaxed),
                one::LOCKED | one::LOCKED_UNCHECKED
            )
    }

    #[inline]
    pub fn check_passive(&self, target: u32) -> Result<()> {
        match self.is_locked(target) {
            true => Ok(()),
            false => Err(out_of_order("the target is not locked")),
        }
    }

    /// Whether any target is locked.
    pub fn check_any_passive(&self) -> Result<()> {
        let all = self.all.load(Ordering::Relaxed);
        if matches!(all, all::LOCKED | all::LOCKED_UNCHECKED) || self.locks_targets() {
            return Ok(());
        }
        Err(out_of_order("no target is locked"))
    }

    /// Whether nothing is open that a call would leave open for good.
    pub fn check_closed(&self) -> Result<()> {
        let open = self.open.lock();
        self.check_no_lock()?;
        check_not_started(&open)?;
        check_not_exposed(&open)
    }

    fn locks_targets(&self) -> bool {
        self.locked.load(Ordering::Acquire) > 0
    }

    fn check_no_lock(&self) -> Result<()> {
        if self.locks_targets() || self.all.load(Ordering::Relaxed) > all::FENCE_USED {
            return Err(out_of_order("a target is locked"));
        }
        Ok(())
    }

    /// Ends what a fence began, if no access was made since.
    fn leave_fence(&self) -> Result<()> {
        match self.all.load(Ordering::Relaxed) {
            all::FENCE_USED => Err(out_of_order("the epoch that a fence began is still open")),
            all::FENCE => {
                self.all.store(all::NOTHING, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub fn fence(&self, may_access: bool) -> Result<()> {
        self.check_closed()?;
        let next = match may_access {
            true => all::FENCE,
            false => all::NOTHING,
        };
        self.all.store(next, Ordering::Relaxed);
        Ok(())
    }

    /// Before an access epoch is opened by `MPI_Win_start`; [`open_access`](Self::open_access) opens it.
    pub fn check_start(&self) -> Result<()> {
        let open = self.open.lock();
        self.check_no_lock()?;
        check_not_started(&open)?;
        self.leave_fence()
    }

    pub fn open_access(&self, access: Access) {
        let mut open = self.open.lock();
        for &target in &access.targets {
            self.target(target).store(one::STARTED, Ordering::Relaxed);
        }
        open.access = Some(access);
    }

    pub fn close_access(&self) -> Result<Access> {
        let mut open = self.open.lock();
        let access = open.access.take();
        let access = access.ok_or_else(|| out_of_order("MPI_Win_start was not called"))?;
        for &target in &access.targets {
            self.target(target).store(one::NOTHING, Ordering::Relaxed);
        }
        Ok(access)
    }

    pub fn check_post(&self) -> Result<()> {
        let open = self.open.lock();
        check_not_exposed(&open)?;
        self.leave_fence()
    }

    pub fn open_exposure(&self, exposure: Exposure) {
        self.open.lock().exposure = Some(exposure);
    }

    /// Takes the exposure epoch, to end it or to put it back.
    pub fn take_exposure(&self) -> Result<Exposure> {
        let exposure = self.open.lock().exposure.take();
        exposure.ok_or_else(|| out_of_order("MPI_Win_post was not called"))
    }

    /// Before a target is locked; [`locked`](Self::locked) says how that ended.
    pub fn begin_lock(&self, target: u32) -> Result<()> {
        let open = self.open.lock();
        if self.all.load(Ordering::Relaxed) > all::FENCE_USED {
            return Err(out_of_order("all targets are locked already"));
        }
        if self.target(target).load(Ordering::Relaxed) > one::STARTED {
            return Err(out_of_order("the target is locked already"));
        }
        check_not_started(&open)?;
        self.leave_fence()?;
        self.locked.fetch_add(1, Ordering::Relaxed);
        self.target(target).store(one::CHANGING, Ordering::Relaxed);
        Ok(())
    }

    pub fn locked(&self, target: u32, checked: bool) {
        let state = match checked {
            true => one::LOCKED,
            false => one::LOCKED_UNCHECKED,
        };
        self.target(target).store(state, Ordering::Relaxed);
    }

    /// Before a target is unlocked. Whether there is a lock to let go.
    pub fn begin_unlock(&self, target: u32) -> Result<bool> {
        let state = self.target(target);
        let held = state.load(Ordering::Relaxed);
        let is_held = matches!(held, one::LOCKED | one::LOCKED_UNCHECKED);
        // Of two threads that unlock it, which is wrong, one does.
        let change =
            || state.compare_exchange(held, one::CHANGING, Ordering::Relaxed, Ordering::Relaxed);
        match is_held && change().is_ok() {
            true => Ok(held == one::LOCKED),
            false => Err(out_of_order("the target was not locked by MPI_Win_lock")),
        }
    }

    /// A target is not locked any more, or could not be.
    pub fn unlocked(&self, target: u32) {
        self.target(target).store(one::NOTHING, Ordering::Relaxed);
        self.locked.fetch_sub(1, Ordering::Release);
    }

    /// Before all targets are locked; [`locked_all`](Self::locked_all) says how that ended.
    pub fn begin_lock_all(&self) -> Result<()> {
        let open = self.open.lock();
        self.check_no_lock()?;
        check_not_started(&open)?;
        self.leave_fence()?;
        self.all.store(all::CHANGING, Ordering::Relaxed);
        Ok(())
    }

    pub fn locked_all(&self, checked: bool) {
        let state = match checked {
            true => all::LOCKED,
            false => all::LOCKED_UNCHECKED,
        };
        self.all.store(state, Ordering::Relaxed);
    }

    /// Before all targets are unlocked. Whether there are locks to let go.
    pub fn begin_unlock_all(&self) -> Result<bool> {
        let _open = self.open.lock();
        match self.all.load(Ordering::Relaxed) {
            held @ (all::LOCKED | all::LOCKED_UNCHECKED) => {
                self.all.store(all::CHANGING, Ordering::Relaxed);
                Ok(held == all::LOCKED)
            }
            _ => Err(out_of_order("MPI_Win_lock_all was not called")),
        }
    }

    pub fn unlocked_all(&self) {
        self.all.store(all::NOTHING, Ordering::Relaxed);
    }
}

fn check_not_started(open: &Open) -> Result<()> {
    match open.access {
        None => Ok(()),
        Some(_) => Err(out_of_order("the epoch of MPI_Win_start is still open")),
    }
}

fn check_not_exposed(open: &Open) -> Result<()> {
    match open.exposure {
        None => Ok(()),
        Some(_) => Err(out_of_order("the epoch of MPI_Win_post is still open")),
    }
}
