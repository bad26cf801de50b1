//! External interfaces (MPI-5.0 chapter 13): filling in a status.

use std::ffi::c_int;

use weft_abi::MPI_Status;
use weft_abi_macros::mpi;
use weft_mpi::{Class, Datatype, Predefined, TypeId, types};

use crate::argument::Length;
use crate::entry::{self, Error, Result};
use crate::status;

#[mpi(Status_set_source)]
fn status_set_source(status: &mut MPI_Status, source: c_int) -> Result<()> {
    status.MPI_SOURCE = source;
    Ok(())
}

#[mpi(Status_set_tag)]
fn status_set_tag(status: &mut MPI_Status, tag: c_int) -> Result<()> {
    status.MPI_TAG = tag;
    Ok(())
}

#[mpi(Status_set_error)]
fn status_set_error(status: &mut MPI_Status, err: c_int) -> Result<()> {
    status.MPI_ERROR = err;
    Ok(())
}

#[mpi(Status_set_cancelled)]
fn status_set_cancelled(status: &mut MPI_Status, flag: bool) -> Result<()> {
    status::set_cancelled(status, flag);
    Ok(())
}

#[mpi(Status_set_elements)]
fn status_set_elements(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    elements(status, datatype, count)
}

#[mpi(Status_set_elements_x)]
fn status_set_elements_x(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    elements(status, datatype, count)
}

/// A later `MPI_Get_elements` with the same datatype returns `count` (MPI-5.0 §13.3).
fn elements(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    if types::as_predefined(datatype).is_none() {
        entry::enter()?;
    }
    let (leaf, _) = types::find(datatype)?.leaves();
    let bytes = bytes_of(count.0, leaf).ok_or_else(|| {
        let text = format!(
            "count: {} elements are larger than the address space",
            count.0
        );
        Error::new(Class::Count, text)
    })?;
    status::set_bytes(status, bytes as u64);
    Ok(())
}

/// The length of the first `count` basic elements of values of a type, of which a pair has two in each.
fn bytes_of(count: usize, leaf: Predefined) -> Option<usize> {
    let value = Datatype::from(leaf);
    let in_a_value = value.elements(leaf.size())?;
    let whole = (count / in_a_value).checked_mul(leaf.size())?;
    let first = match count % in_a_value {
        0 => 0,
        _ => (1..leaf.size()).find(|&bytes| value.elements(bytes) == Some(1))?,
    };
    whole.checked_add(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_elements_are_what_elements_counts() {
        for &leaf in Predefined::ALL {
            for count in 0..5 {
                let bytes = bytes_of(count, leaf).unwrap();
                assert_eq!(
                    Datatype::from(leaf).elements(bytes),
                    Some(count),
                    "{leaf:?}"
                );
            }
        }
        assert_eq!(bytes_of(3, Predefined::ShortInt), Some(8));
        assert_eq!(bytes_of(usize::MAX, Predefined::Int), None);
    }
}
