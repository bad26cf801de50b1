//! Attributes of datatypes (MPI-5.0 §7.7.4).

use std::ffi::{c_int, c_void};

use weft_abi::{MPI_Datatype, MPI_KEYVAL_INVALID};
use weft_abi_macros::mpi;
use weft_objects::TypeId;
use weft_objects::attributes::{self, Holder};
use weft_objects::types;

use crate::entry::Result;
use crate::key::{self, Copy, Delete};
use crate::output::{InOutInt, Out, OutAddress};

#[mpi(Type_create_keyval)]
fn type_create_keyval(
    type_copy_attr_fn: Copy<MPI_Datatype>,
    type_delete_attr_fn: Delete<MPI_Datatype>,
    type_keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> Result<()> {
    let functions = key::functions::<TypeId>(type_copy_attr_fn, type_delete_attr_fn, extra_state);
    type_keyval.set(attributes::create_key(Holder::Datatype, functions)?);
    Ok(())
}

#[mpi(Type_free_keyval)]
fn type_free_keyval(type_keyval: InOutInt) -> Result<()> {
    attributes::free_key(Holder::Datatype, type_keyval.get())?;
    type_keyval.set(MPI_KEYVAL_INVALID);
    Ok(())
}

#[mpi(Type_set_attr)]
fn type_set_attr(datatype: TypeId, type_keyval: c_int, attribute_val: *mut c_void) -> Result<()> {
    let value = key::given(attribute_val);
    // The program's delete function may free it.
    let _kept = types::keep(datatype);
    let attributes = &types::annotation(datatype)?.attributes;
    attributes.set(datatype.handle(), type_keyval, value)
}

#[mpi(Type_get_attr)]
fn type_get_attr(
    datatype: TypeId,
    type_keyval: c_int,
    attribute_val: OutAddress,
    flag: Out<bool>,
) -> Result<()> {
    let value = types::annotation(datatype)?.attributes.get(type_keyval)?;
    key::store(value.as_ref(), attribute_val, flag);
    Ok(())
}

#[mpi(Type_delete_attr)]
fn type_delete_attr(datatype: TypeId, type_keyval: c_int) -> Result<()> {
    // The program's delete function may free it.
    let _kept = types::keep(datatype);
    let attributes = &types::annotation(datatype)?.attributes;
    attributes.delete(datatype.handle(), type_keyval)
}
