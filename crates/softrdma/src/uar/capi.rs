//! The C functions beyond libibverbs: `include/softrdma.h`.

use std::ffi::c_int;
use std::process;

use super::figures::{ContextFigures, Figures, LockFigures};
use super::stat;
use crate::config::Config;

/// `struct softrdma_lock_stat`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStat {
    pub takes: u64,
    pub contentions: u64,
}

/// `struct softrdma_stat`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
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
    pub send_lock: LockStat,
    pub uuar_lock: LockStat,
    pub receive_lock: LockStat,
    pub cq_lock: LockStat,
    pub srq_lock: LockStat,
}

impl From<LockFigures> for LockStat {
    fn from(figures: LockFigures) -> LockStat {
        LockStat {
            takes: figures.takes,
            contentions: figures.contentions,
        }
    }
}

impl From<Figures> for Stat {
    fn from(figures: Figures) -> Stat {
        Stat {
            contexts: figures.contexts,
            static_uars: figures.static_uars,
            dynamic_uars: figures.dynamic_uars,
            static_uuars: figures.static_uuars,
            dynamic_uuars: figures.dynamic_uuars,
            used_uuars: figures.used_uuars,
            tds_level_1: figures.tds_level_1,
            tds_level_2: figures.tds_level_2,
            pds: figures.pds,
            mrs: figures.mrs,
            qps: figures.qps,
            cqs: figures.cqs,
            srqs: figures.srqs,
            bytes: figures.bytes(),
            requests: figures.requests,
            posts: figures.posts,
            doorbells: figures.doorbells,
            blueflame_writes: figures.blueflame_writes,
            blueflame_bytes: figures.blueflame_bytes,
            send_lock: figures.send_lock.into(),
            uuar_lock: figures.uuar_lock.into(),
            receive_lock: figures.receive_lock.into(),
            cq_lock: figures.cq_lock.into(),
            srq_lock: figures.srq_lock.into(),
        }
    }
}

/// Figures of process `pid`, or of this one (0), or of all (-1), on one device or on all (-1); 0 or an errno.
///
/// # Safety
/// `stat` is null or points to `bytes` writable bytes.
pub unsafe extern "C" fn softrdma_stat(
    pid: c_int,
    device: c_int,
    stat: *mut Stat,
    bytes: usize,
) -> c_int {
    if stat.is_null() || pid < -1 || device < -1 {
        return libc::EINVAL;
    }
    let contexts = match contexts_of(pid) {
        Ok(contexts) => contexts,
        Err(errno) => return errno,
    };
    let mut sum = Figures::default();
    for context in contexts {
        if device == -1 || device == c_int::from(context.device) {
            sum += context.figures;
        }
    }
    let found = Stat::from(sum);
    // SAFETY: the caller gives `bytes` writable bytes; no more than both structures have are copied, and all of `Stat` is
    // integers without padding. Zero is written to the rest.
    unsafe {
        let known = bytes.min(size_of::<Stat>());
        let to = stat.cast::<u8>();
        std::ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), to, known);
        to.add(known).write_bytes(0, bytes - known);
    }
    0
}

fn contexts_of(pid: c_int) -> Result<Vec<ContextFigures>, c_int> {
    let config = Config::of_process().map_err(|_| libc::EINVAL)?;
    let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let me = process::id();
    let wanted = match u32::try_from(pid) {
        Err(_) => {
            let all = stat::processes(&config.fabric).map_err(errno)?;
            return Ok(all.into_iter().flat_map(|p| p.contexts).collect());
        }
        Ok(0) => me,
        Ok(pid) => pid,
    };
    match stat::process(&config.fabric, wanted).map_err(errno)? {
        Some(process) => Ok(process.contexts),
        // A process that has not opened a device yet is in no fabric.
        None if wanted == me => Ok(Vec::new()),
        None => Err(libc::ESRCH),
    }
}
