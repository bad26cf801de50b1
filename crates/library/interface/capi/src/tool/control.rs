//! Control variables (MPI-5.0 §15.3.6).

use std::ffi::{CStr, c_int, c_void};

use weft_abi::MPI_T_BIND_NO_OBJECT;
use weft_abi_macros::mpi;
use weft_objects::{Predefined, TypeId};
use weft_tool as tool;
use weft_tool::control::{self, Handle};

use super::{give, store};
use crate::argument::Address;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{InOutInt, Out, OutString};
use crate::tool::performance::Enumerated;

#[mpi(T_cvar_get_num)]
fn t_cvar_get_num(num_cvar: Out<c_int>) -> Result<()> {
    tool::enter()?;
    num_cvar.set(control::ALL.len() as c_int);
    Ok(())
}

#[mpi(T_cvar_get_info)]
fn t_cvar_get_info(
    cvar_index: c_int,
    name: Option<OutString>,
    name_len: Option<InOutInt>,
    verbosity: Option<Out<c_int>>,
    datatype: Option<Out<TypeId>>,
    enumtype: Option<Out<Enumerated>>,
    desc: Option<OutString>,
    desc_len: Option<InOutInt>,
    bind: Option<Out<c_int>>,
    scope: Option<Out<c_int>>,
) -> Result<()> {
    let variable = control::at(cvar_index)?;
    store(&variable.name, name, name_len);
    store(&variable.description, desc, desc_len);
    give(verbosity, variable.verbosity as c_int);
    let element = match variable.is_text() {
        true => Predefined::Char,
        false => Predefined::UnsignedLongLong,
    };
    give(datatype, TypeId::predefined(element));
    give(enumtype, Enumerated::NONE);
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(scope, variable.scope() as c_int);
    Ok(())
}

#[mpi(T_cvar_get_index)]
fn t_cvar_get_index(name: &CStr, cvar_index: Out<c_int>) -> Result<()> {
    cvar_index.set(control::index(name.to_bytes())?);
    Ok(())
}

/// Bound to no object, so whatever stands for one goes for nothing.
#[mpi(T_cvar_handle_alloc)]
fn t_cvar_handle_alloc(
    cvar_index: c_int,
    _obj_handle: *mut c_void,
    handle: Out<Handle>,
    count: Out<c_int>,
) -> Result<()> {
    let (allocated, elements) = control::allocate(cvar_index)?;
    handle.set(allocated);
    count.set(elements);
    Ok(())
}

#[mpi(T_cvar_handle_free)]
fn t_cvar_handle_free(handle: InOut<Handle>) -> Result<()> {
    control::free(handle.get("handle")?)?;
    handle.clear();
    Ok(())
}

#[mpi(T_cvar_read)]
fn t_cvar_read(handle: Handle, buf: Address) -> Result<()> {
    buf.store("buf", &control::read(handle)?)
}

#[mpi(T_cvar_write)]
fn t_cvar_write(handle: Handle, buf: Address) -> Result<()> {
    control::write(handle, || buf.load("buf").map(u64::from_ne_bytes))
}
