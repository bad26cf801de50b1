//! Synchronisation of windows (MPI-5.0 §12.5).

use std::ffi::c_int;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_handle::{GroupId, WindowId};
use weft_window as window;
use weft_window::{Assertions, Locking, Where};

use crate::entry::Result;
use crate::output::Out;

/// The assertions of a call, of those that it takes.
fn assertions(assert: c_int, allowed: c_int) -> Result<Assertions> {
    if assert & !allowed != 0 {
        let what = format_args!("{assert} has bits that the call does not take");
        return Err(argument(Class::Assert, "assert", what));
    }
    let has = |bit: c_int| assert & bit != 0;
    Ok(Assertions {
        no_check: has(MPI_MODE_NOCHECK),
        no_precede: has(MPI_MODE_NOPRECEDE),
        no_succeed: has(MPI_MODE_NOSUCCEED),
    })
}

const FENCE: c_int = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
const POST: c_int = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

#[mpi(Win_fence)]
fn win_fence(assert: c_int, win: WindowId) -> Result<()> {
    window::fence(win, assertions(assert, FENCE)?)
}

#[mpi(Win_post)]
fn win_post(group: GroupId, assert: c_int, win: WindowId) -> Result<()> {
    window::post(win, group, assertions(assert, POST)?)
}

#[mpi(Win_start)]
fn win_start(group: GroupId, assert: c_int, win: WindowId) -> Result<()> {
    window::start(win, group, assertions(assert, MPI_MODE_NOCHECK)?)
}

#[mpi(Win_complete)]
fn win_complete(win: WindowId) -> Result<()> {
    window::complete(win)
}

#[mpi(Win_wait)]
fn win_wait(win: WindowId) -> Result<()> {
    window::wait(win)
}

#[mpi(Win_test)]
fn win_test(win: WindowId, flag: Out<bool>) -> Result<()> {
    flag.set(window::test(win)?);
    Ok(())
}

#[mpi(Win_lock)]
fn win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: WindowId) -> Result<()> {
    let locking = match lock_type {
        MPI_LOCK_SHARED => Locking::Shared,
        MPI_LOCK_EXCLUSIVE => Locking::Exclusive,
        other => {
            let what = format_args!("{other} is no type of lock");
            return Err(argument(Class::LockType, "lock_type", what));
        }
    };
    let assertions = assertions(assert, MPI_MODE_NOCHECK)?;
    window::lock(win, locking, rank, !assertions.no_check)
}

#[mpi(Win_unlock)]
fn win_unlock(rank: c_int, win: WindowId) -> Result<()> {
    window::unlock(win, rank)
}

#[mpi(Win_lock_all)]
fn win_lock_all(assert: c_int, win: WindowId) -> Result<()> {
    let assertions = assertions(assert, MPI_MODE_NOCHECK)?;
    window::lock_all(win, !assertions.no_check)
}

#[mpi(Win_unlock_all)]
fn win_unlock_all(win: WindowId) -> Result<()> {
    window::unlock_all(win)
}

#[mpi(Win_flush)]
fn win_flush(rank: c_int, win: WindowId) -> Result<()> {
    window::flush(win, rank, Where::Target)
}

#[mpi(Win_flush_all)]
fn win_flush_all(win: WindowId) -> Result<()> {
    window::flush_all(win, Where::Target)
}

#[mpi(Win_flush_local)]
fn win_flush_local(rank: c_int, win: WindowId) -> Result<()> {
    window::flush(win, rank, Where::Origin)
}

#[mpi(Win_flush_local_all)]
fn win_flush_local_all(win: WindowId) -> Result<()> {
    window::flush_all(win, Where::Origin)
}

#[mpi(Win_sync)]
fn win_sync(win: WindowId) -> Result<()> {
    window::sync(win)
}
