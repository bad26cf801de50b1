//! Datatypes (MPI-5.0 chapter 5), and names and addresses that go with them.

use std::ffi::c_void;

use weft_abi_macros::mpi;
use weft_mpi::{Datatype, TypeId, types};

use crate::argument::Length;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{Out, OutCount};

#[mpi(Get_address)]
fn get_address(location: *const c_void, address: Out<isize>) -> Result<()> {
    address.set(location.addr() as isize);
    Ok(())
}

/// Addresses wrap like the unsigned integers they are (MPI-5.0 §5.1.5).
#[mpi(Aint_add)]
fn aint_add(base: isize, disp: isize) -> isize {
    base.wrapping_add(disp)
}

#[mpi(Aint_diff)]
fn aint_diff(addr1: isize, addr2: isize) -> isize {
    addr1.wrapping_sub(addr2)
}

#[mpi(Type_contiguous)]
fn type_contiguous(count: Length, oldtype: TypeId, newtype: Out<TypeId>) -> Result<()> {
    let datatype = Datatype::contiguous(count.0, &types::find(oldtype)?)?;
    newtype.set(types::register(datatype)?);
    Ok(())
}

#[mpi(Type_vector)]
fn type_vector(
    count: Length,
    blocklength: Length,
    stride: i64,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    let datatype = Datatype::vector(count.0, blocklength.0, stride as isize, &old)?;
    newtype.set(types::register(datatype)?);
    Ok(())
}

/// The new datatype is committed if the old one is (MPI-5.0 §5.1.10).
#[mpi(Type_dup)]
fn type_dup(oldtype: TypeId, newtype: Out<TypeId>) -> Result<()> {
    let copy = types::register(types::find(oldtype)?)?;
    if types::committed(oldtype).is_ok() {
        types::commit(copy)?;
    }
    newtype.set(copy);
    Ok(())
}

#[mpi(Type_commit)]
fn type_commit(datatype: InOut<TypeId>) -> Result<()> {
    types::commit(datatype.get("datatype")?)
}

#[mpi(Type_free)]
fn type_free(datatype: InOut<TypeId>) -> Result<()> {
    types::free(datatype.get("datatype")?)?;
    datatype.clear();
    Ok(())
}

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
