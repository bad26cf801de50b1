//! Size, bounds and names of datatypes (MPI-5.0 §5.1.5 to §5.1.8, §7.8).

use std::ffi::{CStr, c_int};

use weft_abi::MPI_MAX_OBJECT_NAME;
use weft_abi_macros::mpi;
use weft_objects::TypeId;
use weft_objects::types;

use crate::entry::Result;
use crate::output::{Out, OutCount, OutString};

#[mpi(Type_size)]
fn type_size(datatype: TypeId, size: OutCount) -> Result<()> {
    size.set(Some(types::find(datatype)?.size() as i64));
    Ok(())
}

#[mpi(Type_size_x)]
fn type_size_x(datatype: TypeId, size: OutCount) -> Result<()> {
    size.set(Some(types::find(datatype)?.size() as i64));
    Ok(())
}

#[mpi(Type_get_extent)]
fn type_get_extent(datatype: TypeId, lb: OutCount, extent: OutCount) -> Result<()> {
    bounds(datatype, lb, extent)
}

#[mpi(Type_get_extent_x)]
fn type_get_extent_x(datatype: TypeId, lb: OutCount, extent: OutCount) -> Result<()> {
    bounds(datatype, lb, extent)
}

fn bounds(datatype: TypeId, lb: OutCount, extent: OutCount) -> Result<()> {
    let datatype = types::find(datatype)?;
    lb.set(Some(datatype.lower_bound() as i64));
    extent.set(Some(datatype.extent() as i64));
    Ok(())
}

#[mpi(Type_get_true_extent)]
fn type_get_true_extent(datatype: TypeId, true_lb: OutCount, true_extent: OutCount) -> Result<()> {
    true_bounds(datatype, true_lb, true_extent)
}

#[mpi(Type_get_true_extent_x)]
fn type_get_true_extent_x(
    datatype: TypeId,
    true_lb: OutCount,
    true_extent: OutCount,
) -> Result<()> {
    true_bounds(datatype, true_lb, true_extent)
}

fn true_bounds(datatype: TypeId, lb: OutCount, extent: OutCount) -> Result<()> {
    let datatype = types::find(datatype)?;
    lb.set(Some(datatype.true_lower_bound() as i64));
    extent.set(Some(datatype.true_extent() as i64));
    Ok(())
}

/// The null handle has a name too (MPI-5.0 §7.8).
#[mpi(Type_get_name)]
fn type_get_name(
    datatype: Option<TypeId>,
    type_name: OutString,
    resultlen: Out<c_int>,
) -> Result<()> {
    let name = match datatype {
        Some(datatype) => types::name(datatype)?,
        None => c"MPI_DATATYPE_NULL".to_owned(),
    };
    resultlen.set(type_name.set(name.as_bytes(), MPI_MAX_OBJECT_NAME));
    Ok(())
}

#[mpi(Type_set_name)]
fn type_set_name(datatype: TypeId, type_name: &CStr) -> Result<()> {
    types::set_name(datatype, type_name)
}
