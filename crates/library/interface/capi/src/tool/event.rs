//! Events and their sources (MPI-5.0 §15.3.8), of which this library has none: every index, name, registration and
//! instance is wrong (MPI-5.0 §15.3.10).

use std::ffi::{CStr, c_int};

use weft_abi::{
    MPI_Aint, MPI_T_cb_safety, MPI_T_event_cb_function, MPI_T_event_dropped_cb_function,
    MPI_T_event_free_cb_function, MPI_T_event_instance, MPI_T_event_registration,
    MPI_T_source_order,
};
use weft_abi_macros::mpi;
use weft_handle::InfoId;
use weft_objects::TypeId;
use weft_tool as tool;
use weft_tool::{Code, category, error};

use super::performance::Enumerated;
use crate::argument::{Address, Length};
use crate::entry::{FromC, Result};
use crate::output::{InOutInt, Out, OutString};

#[mpi(T_event_get_num)]
fn t_event_get_num(num_events: Out<c_int>) -> Result<()> {
    tool::enter()?;
    num_events.set(0);
    Ok(())
}

#[mpi(T_source_get_num)]
fn t_source_get_num(num_sources: Out<c_int>) -> Result<()> {
    tool::enter()?;
    num_sources.set(0);
    Ok(())
}

#[mpi(T_category_get_num_events)]
fn t_category_get_num_events(cat_index: c_int, num_events: Out<c_int>) -> Result<()> {
    category::at(cat_index)?;
    num_events.set(0);
    Ok(())
}

#[mpi(T_category_get_events)]
fn t_category_get_events(cat_index: c_int, _len: Length, _indices: *mut c_int) -> Result<()> {
    category::at(cat_index).map(drop)
}

fn none<T>(code: Code) -> Result<T> {
    tool::enter()?;
    Err(error(code))
}

#[mpi(T_event_get_index)]
fn t_event_get_index(_name: &CStr, _event_index: Out<c_int>) -> Result<()> {
    none(Code::InvalidName)
}

#[mpi(T_event_get_info)]
fn t_event_get_info(
    _event_index: c_int,
    _name: Option<OutString>,
    _name_len: Option<InOutInt>,
    _verbosity: Option<Out<c_int>>,
    _array_of_datatypes: Option<Out<TypeId>>,
    _array_of_displacements: *mut MPI_Aint,
    _num_elements: Option<InOutInt>,
    _enumtype: Option<Out<Enumerated>>,
    _info: Option<Out<InfoId>>,
    _desc: Option<OutString>,
    _desc_len: Option<InOutInt>,
    _bind: Option<Out<c_int>>,
) -> Result<()> {
    none(Code::InvalidIndex)
}

#[mpi(T_source_get_info)]
fn t_source_get_info(
    _source_index: c_int,
    _name: Option<OutString>,
    _name_len: Option<InOutInt>,
    _desc: Option<OutString>,
    _desc_len: Option<InOutInt>,
    _ordering: *mut MPI_T_source_order,
    _ticks_per_second: Option<Out<i64>>,
    _max_ticks: Option<Out<i64>>,
    _info: Option<Out<InfoId>>,
) -> Result<()> {
    none(Code::InvalidIndex)
}

#[mpi(T_source_get_timestamp)]
fn t_source_get_timestamp(_source_index: c_int, _timestamp: Out<i64>) -> Result<()> {
    none(Code::InvalidIndex)
}

/// A function of the program's for an event. It is never called, and none is one, too.
struct Callback;

macro_rules! callback {
    ($($c:ty),*) => {$(
        impl FromC<$c> for Callback {
            unsafe fn from_c(_: $c, _: &'static str) -> Result<Callback> {
                Ok(Callback)
            }
        }
    )*};
}
callback!(
    MPI_T_event_cb_function,
    MPI_T_event_dropped_cb_function,
    MPI_T_event_free_cb_function
);

#[mpi(T_event_handle_alloc)]
fn t_event_handle_alloc(
    _event_index: c_int,
    _obj_handle: Address,
    _info: Option<InfoId>,
    _event_registration: *mut MPI_T_event_registration,
) -> Result<()> {
    none(Code::InvalidIndex)
}

#[mpi(T_event_handle_set_info)]
fn t_event_handle_set_info(
    _event_registration: MPI_T_event_registration,
    _info: Option<InfoId>,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_handle_get_info)]
fn t_event_handle_get_info(
    _event_registration: MPI_T_event_registration,
    _info_used: Option<Out<InfoId>>,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_register_callback)]
fn t_event_register_callback(
    _event_registration: MPI_T_event_registration,
    _cb_safety: MPI_T_cb_safety,
    _info: Option<InfoId>,
    _user_data: Address,
    _event_cb_function: Callback,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_callback_set_info)]
fn t_event_callback_set_info(
    _event_registration: MPI_T_event_registration,
    _cb_safety: MPI_T_cb_safety,
    _info: Option<InfoId>,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_callback_get_info)]
fn t_event_callback_get_info(
    _event_registration: MPI_T_event_registration,
    _cb_safety: MPI_T_cb_safety,
    _info_used: Option<Out<InfoId>>,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_set_dropped_handler)]
fn t_event_set_dropped_handler(
    _event_registration: MPI_T_event_registration,
    _dropped_cb_function: Callback,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_handle_free)]
fn t_event_handle_free(
    _event_registration: MPI_T_event_registration,
    _user_data: Address,
    _free_cb_function: Callback,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_read)]
fn t_event_read(
    _event_instance: MPI_T_event_instance,
    _element_index: c_int,
    _buffer: Address,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_copy)]
fn t_event_copy(_event_instance: MPI_T_event_instance, _buffer: Address) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_get_timestamp)]
fn t_event_get_timestamp(
    _event_instance: MPI_T_event_instance,
    _event_timestamp: Option<Out<i64>>,
) -> Result<()> {
    none(Code::InvalidHandle)
}

#[mpi(T_event_get_source)]
fn t_event_get_source(
    _event_instance: MPI_T_event_instance,
    _source_index: Option<Out<c_int>>,
) -> Result<()> {
    none(Code::InvalidHandle)
}
