//! Memory regions and windows of this process, as requests use them: what is registered, and what is bound to it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::ibv_mw_type;

use crate::call::{Errno, Result};
use crate::fabric::{Fabric, PATIENT, Region};
use crate::users::{UseCount, UseGuard};

/// A registered region, to which windows can be bound.
pub struct MemoryRegion {
    /// Windows bound to it.
    pub users: UseCount,
    region: Mutex<Region>,
}

impl MemoryRegion {
    pub fn new(region: Region) -> MemoryRegion {
        MemoryRegion {
            users: UseCount::default(),
            region: Mutex::new(region),
        }
    }

    /// What is registered now.
    pub fn region(&self) -> Region {
        *self.lock()
    }

    pub fn set_region(&self, region: Region) {
        *self.lock() = region;
    }

    fn lock(&self) -> MutexGuard<'_, Region> {
        self.region.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A memory window.
pub struct MemoryWindow {
    fabric: &'static Fabric,
    pub kind: ibv_mw_type,
    pub pd_key: u32,
    /// The key that its record has.
    key: AtomicU32,
    /// The region that it is bound to.
    bound: Mutex<Option<UseGuard>>,
}

impl MemoryWindow {
    /// A window that is not bound, whose record has `key`.
    pub fn new(fabric: &'static Fabric, kind: ibv_mw_type, pd_key: u32, key: u32) -> MemoryWindow {
        MemoryWindow {
            fabric,
            kind,
            pd_key,
            key: AtomicU32::new(key),
            bound: Mutex::default(),
        }
    }

    pub fn key(&self) -> u32 {
        self.key.load(Ordering::Relaxed)
    }

    /// Gives the window a key and what it covers, and lets the old go.
    pub fn rebind(&self, key: u32, region: &Region, on: Option<UseGuard>) -> Result {
        self.fabric
            .own_segment()
            .change(self.fabric.processes(), self.key(), key, region, PATIENT)
            .map_err(|_| Errno::EBUSY)?;
        self.key.store(key, Ordering::Relaxed);
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner) = on;
        Ok(())
    }
}

/// What an unbound window covers.
pub fn nothing(pd_key: u32) -> Region {
    Region {
        address: 0,
        length: 0,
        iova: 0,
        access: 0,
        pd: pd_key,
        segment_offset: None,
        qpn: None,
    }
}
