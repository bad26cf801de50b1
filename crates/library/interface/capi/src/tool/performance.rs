//! Performance variables and their enumeration (MPI-5.0 §15.3.5, §15.3.7).

use std::ffi::{CStr, c_int, c_void};
use std::ptr::without_provenance_mut;

use weft_abi::{MPI_T_BIND_NO_OBJECT, MPI_T_ENUM_NULL, MPI_T_enum};
use weft_abi_macros::mpi;
use weft_objects::{Predefined, TypeId};
use weft_tool as tool;
use weft_tool::performance::{self, Class, Enumeration, Variable, WAITING};
use weft_tool::session::{self, Handle, Session};
use weft_tool::{Code, error};

use super::{give, store};
use crate::argument::Address;
use crate::entry::{FromC, Result};
use crate::handle::InOut;
use crate::output::{InOutInt, Out, OutString, Output};

/// An enumeration's handle, or none: there is one of them.
pub struct Enumerated(bool);

/// Above the ABI's predefined handles.
const WAITING_HANDLE: usize = 4096;

impl Enumerated {
    pub const NONE: Enumerated = Enumerated(false);

    fn get(self) -> Result<&'static Enumeration> {
        tool::enter()?;
        match self.0 {
            true => Ok(&WAITING),
            false => Err(error(Code::InvalidHandle)),
        }
    }
}

impl Output for Enumerated {
    type C = MPI_T_enum;
    fn into_c(self) -> MPI_T_enum {
        match self.0 {
            true => without_provenance_mut(WAITING_HANDLE),
            false => MPI_T_ENUM_NULL,
        }
    }
}

impl FromC<MPI_T_enum> for Enumerated {
    unsafe fn from_c(raw: MPI_T_enum, _: &'static str) -> Result<Enumerated> {
        Ok(Enumerated(raw.addr() == WAITING_HANDLE))
    }
}

#[mpi(T_enum_get_info)]
fn t_enum_get_info(
    enumtype: Enumerated,
    num: Option<Out<c_int>>,
    name: Option<OutString>,
    name_len: Option<InOutInt>,
) -> Result<()> {
    let enumeration = enumtype.get()?;
    give(num, enumeration.items.len() as c_int);
    store(enumeration.name, name, name_len);
    Ok(())
}

/// An item's value is its index.
#[mpi(T_enum_get_item)]
fn t_enum_get_item(
    enumtype: Enumerated,
    index: c_int,
    value: Option<Out<c_int>>,
    name: Option<OutString>,
    name_len: Option<InOutInt>,
) -> Result<()> {
    let enumeration = enumtype.get()?;
    let item = usize::try_from(index).ok();
    let item = item.and_then(|index| enumeration.items.get(index));
    let item = item.ok_or_else(|| error(Code::InvalidItem))?;
    give(value, index);
    store(item, name, name_len);
    Ok(())
}

#[mpi(T_pvar_get_num)]
fn t_pvar_get_num(num_pvar: Out<c_int>) -> Result<()> {
    tool::enter()?;
    num_pvar.set(performance::ALL.len() as c_int);
    Ok(())
}

/// Whether it is the one of the interface's variables that is an `int`.
fn is_state(variable: &Variable) -> bool {
    variable.class == Class::State
}

#[mpi(T_pvar_get_info)]
fn t_pvar_get_info(
    pvar_index: c_int,
    name: Option<OutString>,
    name_len: Option<InOutInt>,
    verbosity: Option<Out<c_int>>,
    var_class: Option<Out<c_int>>,
    datatype: Option<Out<TypeId>>,
    enumtype: Option<Out<Enumerated>>,
    desc: Option<OutString>,
    desc_len: Option<InOutInt>,
    bind: Option<Out<c_int>>,
    readonly: Option<Out<bool>>,
    continuous: Option<Out<bool>>,
    atomic: Option<Out<bool>>,
) -> Result<()> {
    let variable = performance::at(pvar_index)?;
    let predefined = match is_state(variable) {
        true => Predefined::Int,
        false => Predefined::UnsignedLongLong,
    };
    store(&variable.name, name, name_len);
    store(&variable.description, desc, desc_len);
    give(verbosity, variable.verbosity as c_int);
    give(var_class, variable.class as c_int);
    give(datatype, TypeId::predefined(predefined));
    give(enumtype, Enumerated(is_state(variable)));
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(readonly, variable.is_continuous());
    give(continuous, variable.is_continuous());
    give(atomic, !variable.is_continuous());
    Ok(())
}

#[mpi(T_pvar_get_index)]
fn t_pvar_get_index(name: &CStr, var_class: c_int, pvar_index: Out<c_int>) -> Result<()> {
    pvar_index.set(performance::index(name.to_bytes(), var_class)?);
    Ok(())
}

#[mpi(T_pvar_session_create)]
fn t_pvar_session_create(pe_session: Out<Session>) -> Result<()> {
    pe_session.set(session::create()?);
    Ok(())
}

#[mpi(T_pvar_session_free)]
fn t_pvar_session_free(pe_session: InOut<Session>) -> Result<()> {
    session::free(pe_session.get("pe_session")?)?;
    pe_session.clear();
    Ok(())
}

#[mpi(T_pvar_handle_alloc)]
fn t_pvar_handle_alloc(
    pe_session: Session,
    pvar_index: c_int,
    _obj_handle: *mut c_void,
    handle: Out<Handle>,
    count: Out<c_int>,
) -> Result<()> {
    handle.set(session::allocate(pe_session, pvar_index)?);
    count.set(1);
    Ok(())
}

#[mpi(T_pvar_handle_free)]
fn t_pvar_handle_free(pe_session: Session, handle: InOut<Handle>) -> Result<()> {
    session::free_handle(pe_session, handle.get("handle")?)?;
    handle.clear();
    Ok(())
}

#[mpi(T_pvar_start)]
fn t_pvar_start(pe_session: Session, handle: Handle) -> Result<()> {
    session::start(pe_session, handle)
}

#[mpi(T_pvar_stop)]
fn t_pvar_stop(pe_session: Session, handle: Handle) -> Result<()> {
    session::stop(pe_session, handle)
}

/// Stores a value in the variable's type.
fn put(buf: Address, (variable, value): (&Variable, u64)) -> Result<()> {
    match is_state(variable) {
        true => buf.store("buf", &(value as c_int).to_ne_bytes()),
        false => buf.store("buf", &value.to_ne_bytes()),
    }
}

#[mpi(T_pvar_read)]
fn t_pvar_read(pe_session: Session, handle: Handle, buf: Address) -> Result<()> {
    put(buf, session::read(pe_session, handle)?)
}

#[mpi(T_pvar_readreset)]
fn t_pvar_readreset(pe_session: Session, handle: Handle, buf: Address) -> Result<()> {
    put(buf, session::read_reset(pe_session, handle)?)
}

/// What can be written is 64 bits wide.
#[mpi(T_pvar_write)]
fn t_pvar_write(pe_session: Session, handle: Handle, buf: Address) -> Result<()> {
    session::write(pe_session, handle, || {
        buf.load("buf").map(u64::from_ne_bytes)
    })
}

#[mpi(T_pvar_reset)]
fn t_pvar_reset(pe_session: Session, handle: Handle) -> Result<()> {
    session::reset(pe_session, handle)
}
