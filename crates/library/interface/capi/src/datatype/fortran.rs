//! Datatypes by what is asked of their numbers (MPI-5.0 §19.1.9), and pairs by their parts (§6.9.4).

use std::ffi::c_int;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_objects::TypeId;
use weft_objects::types::{self, TypeClass, fortran, match_size, value_index};

use crate::entry::Result;
use crate::output::Out;

fn given(number: c_int) -> Option<c_int> {
    (number != MPI_UNDEFINED).then_some(number)
}

#[mpi(Type_create_f90_real)]
fn type_create_f90_real(p: c_int, r: c_int, newtype: Out<TypeId>) -> Result<()> {
    newtype.set(fortran::real(given(p), given(r))?);
    Ok(())
}

#[mpi(Type_create_f90_complex)]
fn type_create_f90_complex(p: c_int, r: c_int, newtype: Out<TypeId>) -> Result<()> {
    newtype.set(fortran::complex(given(p), given(r))?);
    Ok(())
}

#[mpi(Type_create_f90_integer)]
fn type_create_f90_integer(r: c_int, newtype: Out<TypeId>) -> Result<()> {
    newtype.set(fortran::integer(r)?);
    Ok(())
}

#[mpi(Type_match_size)]
fn type_match_size(typeclass: c_int, size: c_int, datatype: Out<TypeId>) -> Result<()> {
    let class = match typeclass {
        MPI_TYPECLASS_INTEGER => TypeClass::Integer,
        MPI_TYPECLASS_REAL => TypeClass::Real,
        MPI_TYPECLASS_COMPLEX => TypeClass::Complex,
        other => {
            let what = format_args!("{other} is no class of types");
            return Err(argument(Class::Arg, "typeclass", what));
        }
    };
    let found = usize::try_from(size)
        .ok()
        .and_then(|bytes| match_size(class, bytes));
    let found = found.ok_or_else(|| {
        let what = format_args!("no type of the class has {size} bytes");
        argument(Class::Arg, "size", what)
    })?;
    datatype.set(TypeId::predefined(found));
    Ok(())
}

/// The pair for `MPI_MAXLOC` and `MPI_MINLOC`, or `MPI_DATATYPE_NULL` where there is none.
#[mpi(Type_get_value_index)]
fn type_get_value_index(
    value_type: TypeId,
    index_type: TypeId,
    pair_type: Out<Option<TypeId>>,
) -> Result<()> {
    let [value, index] = [value_type, index_type].map(types::find);
    let pair = match (value?.predefined(), index?.predefined()) {
        (Some(value), Some(index)) => value_index(value, index),
        _ => None,
    };
    pair_type.set(pair.map(TypeId::predefined));
    Ok(())
}
