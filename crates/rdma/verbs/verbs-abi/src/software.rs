//! What the device in software has beyond libibverbs (`include/softrdma.h`).

use core::ops::AddAssign;

use crate::ibv_td_init_attr;
use crate::macros::zeroed;

/// Bit of [`ibv_td_init_attr::comp_mask`]: it is a [`softrdma_td_init_attr`]. Other libraries answer `EINVAL`.
pub const SOFTRDMA_TD_INIT_ATTR_SHARING: u32 = 1 << 31;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct softrdma_td_init_attr {
    pub base: ibv_td_init_attr,
    /// Zambre 2018 §V-B: 1, a UAR page of its own; 2, a uUAR of its own.
    pub sharing: u32,
}

/// How often a lock was taken, and how often of those it was first found taken.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct softrdma_lock_stat {
    pub takes: u64,
    pub contentions: u64,
}

/// Numbers that end at the largest: another process may have written nonsense.
impl AddAssign for softrdma_lock_stat {
    fn add_assign(&mut self, other: softrdma_lock_stat) {
        self.takes = self.takes.saturating_add(other.takes);
        self.contentions = self.contentions.saturating_add(other.contentions);
    }
}

/// Sums over contexts. Fields are only ever added, at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct softrdma_stat {
    pub contexts: u64,
    pub static_uars: u64,
    pub dynamic_uars: u64,
    pub static_uuars: u64,
    pub dynamic_uuars: u64,
    pub used_uuars: u64,
    pub tds_level_1: u64,
    pub tds_level_2: u64,
    pub pds: u64,
    pub mrs: u64,
    pub qps: u64,
    pub cqs: u64,
    pub srqs: u64,
    pub bytes: u64,
    pub requests: u64,
    pub posts: u64,
    pub doorbells: u64,
    pub blueflame_writes: u64,
    pub blueflame_bytes: u64,
    pub send_lock: softrdma_lock_stat,
    pub uuar_lock: softrdma_lock_stat,
    pub receive_lock: softrdma_lock_stat,
    pub cq_lock: softrdma_lock_stat,
    pub srq_lock: softrdma_lock_stat,
}

zeroed! {
    softrdma_td_init_attr: 8,
    softrdma_lock_stat: 16,
    softrdma_stat: 232,
}
