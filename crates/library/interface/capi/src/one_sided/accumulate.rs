//! Accumulates (MPI-5.0 §12.3.4, §12.3.5).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::WindowId;
use weft_objects::{OpId, TypeId};
use weft_window as window;
use weft_window::{Plain, Requested};

use super::target;
use crate::argument::Address;
use crate::entry::Result;

accesses! {
    #[mpi(Accumulate, Raccumulate)]
    fn accumulate(
        origin_addr: Address,
        origin_count: i64,
        origin_datatype: TypeId,
        target_rank: c_int,
        target_disp: i64,
        target_count: i64,
        target_datatype: TypeId,
        op: OpId,
        win: WindowId,
    ) in form {
        let origin = origin_addr.buffer(origin_count, origin_datatype);
        let target = target(target_rank, target_disp, target_count, target_datatype);
        window::accumulate(win, origin, target, op, form)
    }

    #[mpi(Get_accumulate, Rget_accumulate)]
    fn get_accumulate(
        origin_addr: Address,
        origin_count: i64,
        origin_datatype: TypeId,
        result_addr: Address,
        result_count: i64,
        result_datatype: TypeId,
        target_rank: c_int,
        target_disp: i64,
        target_count: i64,
        target_datatype: TypeId,
        op: OpId,
        win: WindowId,
    ) in form {
        let origin = origin_addr.buffer(origin_count, origin_datatype);
        let result = result_addr.buffer(result_count, result_datatype);
        let target = target(target_rank, target_disp, target_count, target_datatype);
        window::get_accumulate(win, origin, result, target, op, form)
    }
}

#[mpi(Fetch_and_op)]
fn fetch_and_op(
    origin_addr: Address,
    result_addr: Address,
    datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    op: OpId,
    win: WindowId,
) -> Result<()> {
    let buffers = (origin_addr.pointer().cast_const(), result_addr.pointer());
    window::fetch_and_op(win, buffers, datatype, (target_rank, target_disp), op)
}

#[mpi(Compare_and_swap)]
fn compare_and_swap(
    origin_addr: Address,
    compare_addr: Address,
    result_addr: Address,
    datatype: TypeId,
    target_rank: c_int,
    target_disp: i64,
    win: WindowId,
) -> Result<()> {
    let buffers = [origin_addr, compare_addr, result_addr].map(|address| address.pointer());
    window::compare_and_swap(win, buffers, datatype, (target_rank, target_disp))
}
