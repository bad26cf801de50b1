//! The C functions beyond libibverbs: `include/softrdma.h`.

use std::ffi::c_int;
use std::process;

use weft_verbs_abi::softrdma_stat;

use super::figures::{ContextFigures, Figures};
use super::stat;
use crate::config::Config;

impl From<Figures> for softrdma_stat {
    fn from(figures: Figures) -> softrdma_stat {
        softrdma_stat {
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
            send_lock: figures.send_lock,
            uuar_lock: figures.uuar_lock,
            receive_lock: figures.receive_lock,
            cq_lock: figures.cq_lock,
            srq_lock: figures.srq_lock,
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
    stat: *mut softrdma_stat,
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
    // SAFETY: the caller's promise.
    unsafe { write(sum, stat, bytes) };
    0
}

/// # Safety
/// `stat` points to `bytes` writable bytes.
pub(crate) unsafe fn write(figures: Figures, stat: *mut softrdma_stat, bytes: usize) {
    let found = softrdma_stat::from(figures);
    // SAFETY: the caller gives `bytes` writable bytes; no more than both structures have are copied, and all of it is
    // integers without padding. Zero is written to the rest.
    unsafe {
        let known = bytes.min(size_of::<softrdma_stat>());
        let to = stat.cast::<u8>();
        std::ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), to, known);
        to.add(known).write_bytes(0, bytes - known);
    }
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
