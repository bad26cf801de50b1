//! Cartesian topologies (MPI-5.0 §8.5.1, §8.5.2, §8.5.5 to §8.5.8).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_communicators::topology;
use weft_error::Class;
use weft_error::argument;
use weft_handle::CommId;
use weft_objects::comm;
use weft_objects::comm::topology::cart;
use weft_objects::topology::Cart;

use crate::argument::Length;
use crate::array::{Array, ArrayMut};
use crate::entry::Result;
use crate::output::Out;

#[mpi(Dims_create)]
fn dims_create(nnodes: c_int, ndims: Length, dims: ArrayMut<c_int>) -> Result<()> {
    weft_objects::topology::dims_create(nnodes, dims.slice(ndims)?)
}

fn flags(array: Array<c_int>, length: Length) -> Result<Vec<bool>> {
    Ok(array.slice(length)?.iter().map(|&flag| flag != 0).collect())
}

#[mpi(Cart_create)]
fn cart_create(
    comm_old: CommId,
    ndims: Length,
    dims: Array<c_int>,
    periods: Array<c_int>,
    _reorder: bool,
    comm_cart: Out<Option<CommId>>,
) -> Result<()> {
    let periods = flags(periods, ndims)?;
    comm_cart.set(topology::cart_create(
        comm_old,
        dims.slice(ndims)?,
        &periods,
    )?);
    Ok(())
}

#[mpi(Cart_map)]
fn cart_map(
    comm: CommId,
    ndims: Length,
    dims: Array<c_int>,
    periods: Array<c_int>,
    newrank: Out<c_int>,
) -> Result<()> {
    let periods = flags(periods, ndims)?;
    newrank.set(topology::cart_map(comm, dims.slice(ndims)?, &periods)?);
    Ok(())
}

#[mpi(Cartdim_get)]
fn cartdim_get(comm: CommId, ndims: Out<c_int>) -> Result<()> {
    ndims.set(cart(comm::find(comm)?)?.dims().len() as c_int);
    Ok(())
}

/// The grid's dimensions, for which the caller's arrays have room.
fn dimensions(cart: &Cart, room: Length) -> Result<Length> {
    let dimensions = cart.dims().len();
    if room.0 < dimensions {
        let what = format_args!("{} is below the grid's {dimensions}", room.0);
        return Err(argument(Class::Dims, "maxdims", what));
    }
    Ok(Length(dimensions))
}

#[mpi(Cart_get)]
fn cart_get(
    comm: CommId,
    maxdims: Length,
    dims: ArrayMut<c_int>,
    periods: ArrayMut<c_int>,
    coords: ArrayMut<c_int>,
) -> Result<()> {
    let comm = comm::find(comm)?;
    let cart = cart(comm)?;
    let length = dimensions(cart, maxdims)?;
    let (dims, periods) = (dims.slice(length)?, periods.slice(length)?);
    let coords = coords.slice(length)?;
    dims.copy_from_slice(cart.dims());
    for (place, &period) in periods.iter_mut().zip(cart.periods()) {
        *place = period.into();
    }
    coords.copy_from_slice(&cart.coords(comm.rank()));
    Ok(())
}

#[mpi(Cart_rank)]
fn cart_rank(comm: CommId, coords: Array<c_int>, rank: Out<c_int>) -> Result<()> {
    let cart = cart(comm::find(comm)?)?;
    rank.set(cart.rank(coords.slice(Length(cart.dims().len()))?)?);
    Ok(())
}

#[mpi(Cart_coords)]
fn cart_coords(comm: CommId, rank: c_int, maxdims: Length, coords: ArrayMut<c_int>) -> Result<()> {
    let comm = comm::find(comm)?;
    let cart = cart(comm)?;
    let rank = comm.check_rank(Class::Rank, "rank", rank)?;
    let coords = coords.slice(dimensions(cart, maxdims)?)?;
    coords.copy_from_slice(&cart.coords(rank));
    Ok(())
}

#[mpi(Cart_shift)]
fn cart_shift(
    comm: CommId,
    direction: c_int,
    disp: c_int,
    rank_source: Out<c_int>,
    rank_dest: Out<c_int>,
) -> Result<()> {
    let comm = comm::find(comm)?;
    let [source, destination] = cart(comm)?.shift(comm.rank(), direction, disp)?;
    rank_source.set(source);
    rank_dest.set(destination);
    Ok(())
}

#[mpi(Cart_sub)]
fn cart_sub(comm: CommId, remain_dims: Array<c_int>, newcomm: Out<CommId>) -> Result<()> {
    let dimensions = Length(cart(comm::find(comm)?)?.dims().len());
    newcomm.set(topology::cart_sub(comm, &flags(remain_dims, dimensions)?)?);
    Ok(())
}
