//! Asking a window: group, hints (MPI-5.0 §12.2.7), name (§7.8) and error handler (§9.3.2).

use std::ffi::{CStr, c_int};

use weft_abi::MPI_MAX_OBJECT_NAME;
use weft_abi_macros::mpi;
use weft_handle::{GroupId, InfoId, WindowId};
use weft_objects::group;
use weft_objects::handler::{Handler, Kind};
use weft_window as window;

use crate::entry::Result;
use crate::output::{Out, OutString};

#[mpi(Win_get_group)]
fn win_get_group(win: WindowId, group: Out<GroupId>) -> Result<()> {
    group.set(group::register(window::find(win)?.group().clone())?);
    Ok(())
}

#[mpi(Win_set_info)]
fn win_set_info(win: WindowId, info: InfoId) -> Result<()> {
    window::set_info(win, info)
}

#[mpi(Win_get_info)]
fn win_get_info(win: WindowId, info_used: Out<InfoId>) -> Result<()> {
    info_used.set(window::info(win)?);
    Ok(())
}

/// The null handle has a name too (MPI-5.0 §7.8).
#[mpi(Win_get_name)]
fn win_get_name(win: Option<WindowId>, win_name: OutString, resultlen: Out<c_int>) -> Result<()> {
    let name = match win {
        Some(win) => window::find(win)?.name(),
        None => c"MPI_WIN_NULL".to_owned(),
    };
    resultlen.set(win_name.set(name.as_bytes(), MPI_MAX_OBJECT_NAME));
    Ok(())
}

#[mpi(Win_set_name)]
fn win_set_name(win: WindowId, win_name: &CStr) -> Result<()> {
    window::find(win)?.set_name(win_name);
    Ok(())
}

#[mpi(Win_get_errhandler)]
fn win_get_errhandler(win: WindowId, errhandler: Out<Handler>) -> Result<()> {
    errhandler.set(window::find(win)?.handler());
    Ok(())
}

#[mpi(Win_set_errhandler)]
fn win_set_errhandler(win: WindowId, errhandler: Handler) -> Result<()> {
    window::find(win)?.set_handler(errhandler.for_kind(Kind::Window)?);
    Ok(())
}

#[mpi(Win_call_errhandler)]
fn win_call_errhandler(win: WindowId, errorcode: c_int) -> Result<()> {
    let handler = window::find(win)?.handler();
    handler.call(win.handle(), errorcode, "MPI_Win_call_errhandler");
    Ok(())
}
