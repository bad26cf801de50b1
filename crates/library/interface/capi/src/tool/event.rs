//! Events and their sources (MPI-5.0 §15.3.8), of which this library has none: every index and every name is wrong.

use std::ffi::{CStr, c_int};

use weft_abi::{MPI_Aint, MPI_T_source_order};
use weft_abi_macros::mpi;
use weft_mpi::tool::{self, Code, category, error};
use weft_mpi::{InfoId, TypeId};

use super::performance::Enumerated;
use crate::argument::Length;
use crate::entry::Result;
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
