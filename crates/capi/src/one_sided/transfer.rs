//! Put and get (MPI-5.0 §12.3.1, §12.3.2, §12.3.5). They have moved the data when they return, so a request is complete.

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_mpi::window::{self, Epoch};
use weft_mpi::{Request, TypeId, WindowId};

use super::target;
use crate::argument::Address;
use crate::entry::Result;
use crate::output::Out;

#[mpi(Put)]
fn put(
    origin_addr: Address,
    origin_count: i64,
    origin_datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    target_count: i64,
    target_datatype: TypeId,
    win: WindowId,
) -> Result<()> {
    let origin = origin_addr.buffer(origin_count, origin_datatype);
    let target = target(target_rank, target_disp, target_count, target_datatype);
    window::put(win, origin, target, Epoch::Any)
}

#[mpi(Rput)]
fn rput(
    origin_addr: Address,
    origin_count: i64,
    origin_datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    target_count: i64,
    target_datatype: TypeId,
    win: WindowId,
    request: Out<Request>,
) -> Result<()> {
    let origin = origin_addr.buffer(origin_count, origin_datatype);
    let target = target(target_rank, target_disp, target_count, target_datatype);
    window::put(win, origin, target, Epoch::Passive)?;
    request.set(Request::COMPLETE);
    Ok(())
}

#[mpi(Get)]
fn get(
    origin_addr: Address,
    origin_count: i64,
    origin_datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    target_count: i64,
    target_datatype: TypeId,
    win: WindowId,
) -> Result<()> {
    let origin = origin_addr.buffer(origin_count, origin_datatype);
    let target = target(target_rank, target_disp, target_count, target_datatype);
    window::get(win, origin, target, Epoch::Any)
}

#[mpi(Rget)]
fn rget(
    origin_addr: Address,
    origin_count: i64,
    origin_datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    target_count: i64,
    target_datatype: TypeId,
    win: WindowId,
    request: Out<Request>,
) -> Result<()> {
    let origin = origin_addr.buffer(origin_count, origin_datatype);
    let target = target(target_rank, target_disp, target_count, target_datatype);
    window::get(win, origin, target, Epoch::Passive)?;
    request.set(Request::COMPLETE);
    Ok(())
}
