//! Put and get (MPI-5.0 §12.3.1, §12.3.2, §12.3.5).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::WindowId;
use weft_objects::TypeId;
use weft_window as window;
use weft_window::{Plain, Requested};

use super::target;
use crate::argument::Address;
use crate::entry::Result;

accesses! {
    #[mpi(Put, Rput)]
    fn put(
        origin_addr: Address,
        origin_count: i64,
        origin_datatype: TypeId,
        target_rank: c_int,
        target_disp: i64,
        target_count: i64,
        target_datatype: TypeId,
        win: WindowId,
    ) in form {
        let origin = origin_addr.buffer(origin_count, origin_datatype);
        let target = target(target_rank, target_disp, target_count, target_datatype);
        window::put(win, origin, target, form)
    }

    #[mpi(Get, Rget)]
    fn get(
        origin_addr: Address,
        origin_count: i64,
        origin_datatype: TypeId,
        target_rank: c_int,
        target_disp: i64,
        target_count: i64,
        target_datatype: TypeId,
        win: WindowId,
    ) in form {
        let origin = origin_addr.buffer(origin_count, origin_datatype);
        let target = target(target_rank, target_disp, target_count, target_datatype);
        window::get(win, origin, target, form)
    }
}
