//! The constructors of datatypes but those of arrays (MPI-5.0 §5.1.2, §5.1.7), committing and freeing them (§5.1.9).

use weft_abi_macros::mpi;
use weft_objects::types;
use weft_objects::{Datatype, TypeId};

use crate::argument::{Count, Displacement, Length};
use crate::array::{Array, Numbers};
use crate::entry::Result;
use crate::handle::{self, InOut};
use crate::output::Out;

/// Hands out a datatype that a constructor made; `large` says by which form.
pub fn give(datatype: Datatype, large: bool, newtype: Out<TypeId>) -> Result<()> {
    newtype.set(types::register(datatype.made_large(large))?);
    Ok(())
}

/// Bytes that a block takes while a datatype of many is made: a run of it twice, in a list that grows and in one that
/// stays.
const BLOCK_BYTES: usize = 48;
/// The same of a block that has a shape of its own, or may have one.
const SHAPED_BLOCK_BYTES: usize = 256;

/// Whether there is memory for a datatype of a list of so many blocks.
fn check_memory(count: usize, old: &Datatype) -> Result<()> {
    let of_each = match old.is_contiguous(1) {
        true => BLOCK_BYTES,
        false => SHAPED_BLOCK_BYTES,
    };
    Ok(weft_reserve::probe(count.saturating_mul(of_each))?)
}

/// Displacements as the library has them.
fn displacements(numbers: Numbers, count: Length) -> Result<Box<[isize]>> {
    let list = numbers.list(count)?;
    Ok(list.into_iter().map(|number| number as isize).collect())
}

#[mpi(Type_dup)]
fn type_dup(oldtype: TypeId, newtype: Out<TypeId>) -> Result<()> {
    newtype.set(types::dup(oldtype)?);
    Ok(())
}

#[mpi(Type_contiguous)]
fn type_contiguous(count: Count, oldtype: TypeId, newtype: Out<TypeId>) -> Result<()> {
    let old = types::find(oldtype)?;
    let datatype = Datatype::contiguous(count.value, &old)?;
    give(datatype, count.large, newtype)
}

#[mpi(Type_vector)]
fn type_vector(
    count: Count,
    blocklength: Length,
    stride: i64,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    let datatype = Datatype::vector(count.value, blocklength.0, stride as isize, &old)?;
    give(datatype, count.large, newtype)
}

#[mpi(Type_create_hvector)]
fn type_create_hvector(
    count: Count,
    blocklength: Length,
    stride: Displacement,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    let datatype = Datatype::hvector(count.value, blocklength.0, stride.value, &old)?;
    give(datatype, count.large, newtype)
}

#[mpi(Type_indexed)]
fn type_indexed(
    count: Count,
    array_of_blocklengths: Numbers,
    array_of_displacements: Numbers,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let length = Length(count.value);
    let old = types::find(oldtype)?;
    check_memory(length.0, &old)?;
    let lengths = array_of_blocklengths.list_from(0, length)?.into();
    let places = displacements(array_of_displacements, length)?;
    give(
        Datatype::indexed(lengths, places, &old)?,
        count.large,
        newtype,
    )
}

#[mpi(Type_create_hindexed)]
fn type_create_hindexed(
    count: Count,
    array_of_blocklengths: Numbers,
    array_of_displacements: Numbers,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let length = Length(count.value);
    let old = types::find(oldtype)?;
    check_memory(length.0, &old)?;
    let lengths = array_of_blocklengths.list_from(0, length)?.into();
    let places = displacements(array_of_displacements, length)?;
    give(
        Datatype::hindexed(lengths, places, &old)?,
        count.large,
        newtype,
    )
}

#[mpi(Type_create_indexed_block)]
fn type_create_indexed_block(
    count: Count,
    blocklength: Length,
    array_of_displacements: Numbers,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    check_memory(count.value, &old)?;
    let places = displacements(array_of_displacements, Length(count.value))?;
    let datatype = Datatype::indexed_block(blocklength.0, places, &old)?;
    give(datatype, count.large, newtype)
}

#[mpi(Type_create_hindexed_block)]
fn type_create_hindexed_block(
    count: Count,
    blocklength: Length,
    array_of_displacements: Numbers,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    check_memory(count.value, &old)?;
    let places = displacements(array_of_displacements, Length(count.value))?;
    let datatype = Datatype::hindexed_block(blocklength.0, places, &old)?;
    give(datatype, count.large, newtype)
}

#[mpi(Type_create_struct)]
fn type_create_struct(
    count: Count,
    array_of_blocklengths: Numbers,
    array_of_displacements: Numbers,
    array_of_types: Array<usize>,
    newtype: Out<TypeId>,
) -> Result<()> {
    let length = Length(count.value);
    weft_reserve::probe(length.0.saturating_mul(SHAPED_BLOCK_BYTES))?;
    let lengths = array_of_blocklengths.list_from(0, length)?.into();
    let places = displacements(array_of_displacements, length)?;
    let handles = array_of_types.slice(length)?;
    let mut olds = Vec::with_capacity(handles.len());
    for &number in handles {
        olds.push(types::find(handle::datatype(number, "array_of_types")?)?.clone());
    }
    give(
        Datatype::structure(lengths, places, olds.into())?,
        count.large,
        newtype,
    )
}

#[mpi(Type_create_resized)]
fn type_create_resized(
    oldtype: TypeId,
    lb: Displacement,
    extent: Displacement,
    newtype: Out<TypeId>,
) -> Result<()> {
    let old = types::find(oldtype)?;
    let datatype = Datatype::resized(&old, lb.value, extent.value)?;
    give(datatype, lb.large, newtype)
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
