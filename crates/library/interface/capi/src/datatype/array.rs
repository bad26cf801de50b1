//! `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI-5.0 §5.1.3, §5.1.4).

use std::ffi::c_int;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_objects::types::{self, Darray, Distribution, Order, Subarray};
use weft_objects::{Datatype, TypeId};

use super::construct::give;
use crate::argument::Length;
use crate::array::{Array, Numbers};
use crate::entry::{Error, Result};
use crate::output::Out;

#[cold]
fn wrong(name: &str, what: String) -> Error {
    argument(Class::Arg, name, what)
}

fn dimensions(ndims: c_int) -> Result<Length> {
    match usize::try_from(ndims) {
        Ok(dimensions) if dimensions > 0 => Ok(Length(dimensions)),
        _ => Err(wrong("ndims", format!("{ndims} is not positive"))),
    }
}

fn order_of(order: c_int) -> Result<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        other => Err(wrong("order", format!("{other} is no order of an array"))),
    }
}

#[mpi(Type_create_subarray)]
fn type_create_subarray(
    ndims: c_int,
    array_of_sizes: Numbers,
    array_of_subsizes: Numbers,
    array_of_starts: Numbers,
    order: c_int,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let ndims = dimensions(ndims)?;
    let large = array_of_sizes.is_large();
    let array = Subarray {
        sizes: array_of_sizes.list_from(1, ndims)?,
        subsizes: array_of_subsizes.list_from(1, ndims)?,
        starts: array_of_starts.list_from(0, ndims)?,
        order: order_of(order)?,
    };
    for (index, &size) in array.sizes.iter().enumerate() {
        let (start, part) = (array.starts[index], array.subsizes[index]);
        if part > size || start > size - part {
            let text = "of dimension";
            return Err(wrong(
                &format!("array_of_starts[{index}]"),
                format!("{part} elements from {start} on are not within the {size} {text} {index}"),
            ));
        }
    }
    let old = types::find(oldtype)?;
    give(Datatype::subarray(array, &old)?, large, newtype)
}

#[mpi(Type_create_darray)]
fn type_create_darray(
    size: c_int,
    rank: c_int,
    ndims: c_int,
    array_of_gsizes: Numbers,
    array_of_distribs: Array<c_int>,
    array_of_dargs: Array<c_int>,
    array_of_psizes: Array<c_int>,
    order: c_int,
    oldtype: TypeId,
    newtype: Out<TypeId>,
) -> Result<()> {
    let ndims = dimensions(ndims)?;
    let large = array_of_gsizes.is_large();
    let (size, rank) = grid_place(size, rank)?;
    let processes = grid(array_of_psizes.slice(ndims)?, size)?;
    let sizes = array_of_gsizes.list_from(1, ndims)?;
    let mut array = Darray {
        size,
        rank,
        sizes,
        distributions: Vec::new(),
        blocks: Vec::new(),
        processes,
        order: order_of(order)?,
    };
    let how = array_of_distribs.slice(ndims)?.iter();
    for (&distribution, &argument) in how.zip(array_of_dargs.slice(ndims)?) {
        distribute(&mut array, distribution, argument)?;
    }
    let old = types::find(oldtype)?;
    give(Datatype::darray(array, &old)?, large, newtype)
}

fn grid_place(size: c_int, rank: c_int) -> Result<(usize, usize)> {
    if size < 1 {
        return Err(wrong("size", format!("{size} is not positive")));
    }
    if rank < 0 || rank >= size {
        return Err(wrong(
            "rank",
            format!("{rank} is not one of {size} processes"),
        ));
    }
    Ok((size as usize, rank as usize))
}

/// The processes in each dimension, of which there are `size` in all.
fn grid(processes: &[c_int], size: usize) -> Result<Vec<usize>> {
    let positive = |&number: &c_int| usize::try_from(number).ok().filter(|&number| number > 0);
    let list: Option<Vec<usize>> = processes.iter().map(positive).collect();
    let product = |list: &Vec<usize>| {
        list.iter()
            .try_fold(1usize, |all, &one| all.checked_mul(one))
    };
    let list = list.filter(|list| product(list) == Some(size));
    list.ok_or_else(|| {
        wrong(
            "array_of_psizes",
            format!("{processes:?} is no grid of {size} processes"),
        )
    })
}

/// Appends the distribution of the next dimension.
fn distribute(array: &mut Darray, distribution: c_int, argument: c_int) -> Result<()> {
    let index = array.distributions.len();
    let (size, processes) = (array.sizes[index], array.processes[index]);
    let block = match usize::try_from(argument) {
        _ if argument == MPI_DISTRIBUTE_DFLT_DARG => None,
        Ok(block) if block > 0 => Some(block),
        _ if distribution == MPI_DISTRIBUTE_NONE => None,
        _ => {
            return Err(wrong(
                &format!("array_of_dargs[{index}]"),
                format!("{argument} is not positive"),
            ));
        }
    };
    let distribution = match distribution {
        MPI_DISTRIBUTE_NONE if processes > 1 => {
            return Err(wrong(
                &format!("array_of_psizes[{index}]"),
                format!("{processes}, and the dimension is not distributed"),
            ));
        }
        MPI_DISTRIBUTE_NONE => Distribution::None,
        MPI_DISTRIBUTE_BLOCK
            if block.is_some_and(|block| block.saturating_mul(processes) < size) =>
        {
            let text = "processes are fewer than";
            return Err(wrong(
                &format!("array_of_dargs[{index}]"),
                format!("{argument} elements on each of {processes} {text} {size}"),
            ));
        }
        MPI_DISTRIBUTE_BLOCK => Distribution::Block,
        MPI_DISTRIBUTE_CYCLIC => Distribution::Cyclic,
        other => {
            return Err(wrong(
                &format!("array_of_distribs[{index}]"),
                format!("{other} is no distribution"),
            ));
        }
    };
    array.distributions.push(distribution);
    array.blocks.push(block);
    Ok(())
}
