//! Making and freeing windows (MPI-5.0 §12.2).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::{CommId, InfoId, WindowId};
use weft_window as window;

use crate::argument::Address;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{Out, OutAddress, OutCount};

#[mpi(Win_create)]
fn win_create(
    base: Address,
    size: i64,
    disp_unit: i64,
    info: Option<InfoId>,
    comm: CommId,
    win: Out<WindowId>,
) -> Result<()> {
    win.set(window::create(base.pointer(), size, disp_unit, info, comm)?);
    Ok(())
}

#[mpi(Win_allocate)]
fn win_allocate(
    size: i64,
    disp_unit: i64,
    info: Option<InfoId>,
    comm: CommId,
    baseptr: OutAddress,
    win: Out<WindowId>,
) -> Result<()> {
    let (made, base) = window::allocate(size, disp_unit, info, comm)?;
    baseptr.set(base.cast());
    win.set(made);
    Ok(())
}

#[mpi(Win_allocate_shared)]
fn win_allocate_shared(
    size: i64,
    disp_unit: i64,
    info: Option<InfoId>,
    comm: CommId,
    baseptr: OutAddress,
    win: Out<WindowId>,
) -> Result<()> {
    let (made, base) = window::allocate_shared(size, disp_unit, info, comm)?;
    baseptr.set(base.cast());
    win.set(made);
    Ok(())
}

#[mpi(Win_shared_query)]
fn win_shared_query(
    win: WindowId,
    rank: c_int,
    size: Out<isize>,
    disp_unit: OutCount,
    baseptr: OutAddress,
) -> Result<()> {
    let part = window::shared_query(win, rank)?;
    disp_unit.set_exact(part.unit)?;
    size.set(part.size as isize);
    baseptr.set(part.address.cast());
    Ok(())
}

#[mpi(Win_create_dynamic)]
fn win_create_dynamic(info: Option<InfoId>, comm: CommId, win: Out<WindowId>) -> Result<()> {
    win.set(window::create_dynamic(info, comm)?);
    Ok(())
}

#[mpi(Win_attach)]
fn win_attach(win: WindowId, base: Address, size: i64) -> Result<()> {
    window::attach(win, base.pointer(), size)
}

#[mpi(Win_detach)]
fn win_detach(win: WindowId, base: Address) -> Result<()> {
    window::detach(win, base.pointer())
}

#[mpi(Win_free)]
fn win_free(win: InOut<WindowId>) -> Result<()> {
    window::free(win.get("win")?)?;
    win.clear();
    Ok(())
}
