//! Attributes of communicators (MPI-5.0 §7.7.2), the predefined ones (§9.1.2) among them, and the deprecated names of
//! the functions (§16.1).

use std::ffi::{c_int, c_void};

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_objects::attributes::{self, Holder};
use weft_objects::comm;
use weft_objects::comm::predefined::{self, Attribute};

use crate::entry::Result;
use crate::key::{self, Copy, Delete};
use crate::output::{InOutInt, Out, OutAddress};

#[mpi(Comm_create_keyval)]
fn comm_create_keyval(
    comm_copy_attr_fn: Copy<MPI_Comm>,
    comm_delete_attr_fn: Delete<MPI_Comm>,
    comm_keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> Result<()> {
    create(
        comm_copy_attr_fn,
        comm_delete_attr_fn,
        comm_keyval,
        extra_state,
    )
}

#[mpi(Keyval_create)]
fn keyval_create(
    copy_fn: Copy<MPI_Comm>,
    delete_fn: Delete<MPI_Comm>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> Result<()> {
    create(copy_fn, delete_fn, keyval, extra_state)
}

fn create(
    copy: Copy<MPI_Comm>,
    delete: Delete<MPI_Comm>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> Result<()> {
    let functions = key::functions::<CommId>(copy, delete, extra_state);
    keyval.set(attributes::create_key(Holder::Comm, functions)?);
    Ok(())
}

#[mpi(Comm_free_keyval)]
fn comm_free_keyval(comm_keyval: InOutInt) -> Result<()> {
    free(comm_keyval)
}

#[mpi(Keyval_free)]
fn keyval_free(keyval: InOutInt) -> Result<()> {
    free(keyval)
}

fn free(key: InOutInt) -> Result<()> {
    attributes::free_key(Holder::Comm, key.get())?;
    key.set(MPI_KEYVAL_INVALID);
    Ok(())
}

#[mpi(Comm_set_attr)]
fn comm_set_attr(comm: CommId, comm_keyval: c_int, attribute_val: *mut c_void) -> Result<()> {
    set(comm, comm_keyval, attribute_val)
}

#[mpi(Attr_put)]
fn attr_put(comm: CommId, keyval: c_int, attribute_val: *mut c_void) -> Result<()> {
    set(comm, keyval, attribute_val)
}

fn set(comm: CommId, keyval: c_int, value: *mut c_void) -> Result<()> {
    let value = key::given(value);
    // Shared, here and below: the program's delete function may free it.
    let shared = comm::share(comm)?;
    let attributes = &shared.attributes;
    attributes.set(comm.handle(), keyval, value)
}

#[mpi(Comm_delete_attr)]
fn comm_delete_attr(comm: CommId, comm_keyval: c_int) -> Result<()> {
    comm::share(comm)?
        .attributes
        .delete(comm.handle(), comm_keyval)
}

#[mpi(Attr_delete)]
fn attr_delete(comm: CommId, keyval: c_int) -> Result<()> {
    comm::share(comm)?.attributes.delete(comm.handle(), keyval)
}

#[mpi(Comm_get_attr)]
fn comm_get_attr(
    comm: CommId,
    comm_keyval: c_int,
    attribute_val: OutAddress,
    flag: Out<bool>,
) -> Result<()> {
    get(comm, comm_keyval, attribute_val, flag)
}

#[mpi(Attr_get)]
fn attr_get(comm: CommId, keyval: c_int, attribute_val: OutAddress, flag: Out<bool>) -> Result<()> {
    get(comm, keyval, attribute_val, flag)
}

fn get(comm: CommId, keyval: c_int, place: OutAddress, flag: Out<bool>) -> Result<()> {
    match predefined_key(keyval) {
        Some(attribute) => {
            key::store_predefined(predefined::value(comm, attribute)?, place, flag);
        }
        None => {
            let value = comm::find(comm)?.attributes.get(keyval)?;
            key::store(value.as_ref(), place, flag);
        }
    }
    Ok(())
}

fn predefined_key(key: c_int) -> Option<Attribute> {
    Some(match key {
        MPI_TAG_UB => Attribute::TagUb,
        MPI_IO => Attribute::Io,
        MPI_HOST => Attribute::Host,
        MPI_WTIME_IS_GLOBAL => Attribute::WtimeIsGlobal,
        MPI_APPNUM => Attribute::AppNum,
        MPI_LASTUSEDCODE => Attribute::LastUsedCode,
        MPI_UNIVERSE_SIZE => Attribute::UniverseSize,
        _ => return None,
    })
}
