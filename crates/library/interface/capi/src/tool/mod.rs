//! Tool support (MPI-5.0 chapter 15).

mod category;
mod control;
mod event;
mod performance;

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_tool as tool;

use crate::entry::Result;
use crate::environment::provided_for;
use crate::output::{InOutInt, Out, OutString};

/// For a profiler to interpose; the library itself does nothing (MPI-5.0 §15.2.4). The variable arguments are the
/// caller's to clear away, so the fixed part alone is a valid definition.
#[mpi(Pcontrol)]
fn pcontrol(_level: c_int) -> Result<()> {
    Ok(())
}

#[mpi(T_init_thread)]
fn t_init_thread(required: c_int, provided: Out<c_int>) -> Result<()> {
    tool::initialize();
    provided.set(provided_for(required).1);
    Ok(())
}

#[mpi(T_finalize)]
fn t_finalize() -> Result<()> {
    tool::finalize()
}

/// Stores a string as the interface has it (MPI-5.0 §15.3.3): as much as there is room for, and how long a buffer must
/// be for all of it; nothing where that is not asked for.
fn store(text: &str, place: Option<OutString>, length: Option<InOutInt>) {
    let Some(length) = length else { return };
    let room = length.get();
    if let Some(place) = place
        && room > 0
    {
        place.set(text.as_bytes(), room);
    }
    length.set(text.len() as c_int + 1);
}

/// Stores a result that was asked for.
fn give<T: crate::output::Output>(place: Option<Out<T>>, value: T) {
    if let Some(place) = place {
        place.set(value);
    }
}
