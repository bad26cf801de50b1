//! Groups (MPI-5.0 §7.3).

use std::ffi::{CStr, c_int};

use weft_abi_macros::mpi;
use weft_handle::{GroupId, SessionId};
use weft_objects::{group, session};

use super::inquire::compared;
use crate::argument::Length;
use crate::array::{Array, ArrayMut};
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::Out;

#[mpi(Group_size)]
fn group_size(group: GroupId, size: Out<c_int>) -> Result<()> {
    size.set(group::find(group)?.size() as c_int);
    Ok(())
}

#[mpi(Group_rank)]
fn group_rank(group: GroupId, rank: Out<c_int>) -> Result<()> {
    rank.set(group::own_rank(&*group::find(group)?));
    Ok(())
}

#[mpi(Group_translate_ranks)]
fn group_translate_ranks(
    group1: GroupId,
    n: Length,
    ranks1: Array<c_int>,
    group2: GroupId,
    ranks2: ArrayMut<c_int>,
) -> Result<()> {
    let translated = group::find(group1)?.translate(ranks1.slice(n)?, &*group::find(group2)?)?;
    ranks2.slice(n)?.copy_from_slice(&translated);
    Ok(())
}

#[mpi(Group_compare)]
fn group_compare(group1: GroupId, group2: GroupId, result: Out<c_int>) -> Result<()> {
    result.set(compared(
        group::find(group1)?.compare(&*group::find(group2)?),
    ));
    Ok(())
}

#[mpi(Group_union)]
fn group_union(group1: GroupId, group2: GroupId, newgroup: Out<GroupId>) -> Result<()> {
    let union = group::find(group1)?.union(&*group::find(group2)?);
    newgroup.set(group::register(union)?);
    Ok(())
}

#[mpi(Group_intersection)]
fn group_intersection(group1: GroupId, group2: GroupId, newgroup: Out<GroupId>) -> Result<()> {
    let intersection = group::find(group1)?.intersection(&*group::find(group2)?);
    newgroup.set(group::register(intersection)?);
    Ok(())
}

#[mpi(Group_difference)]
fn group_difference(group1: GroupId, group2: GroupId, newgroup: Out<GroupId>) -> Result<()> {
    let difference = group::find(group1)?.difference(&*group::find(group2)?);
    newgroup.set(group::register(difference)?);
    Ok(())
}

#[mpi(Group_incl)]
fn group_incl(
    group: GroupId,
    n: Length,
    ranks: Array<c_int>,
    newgroup: Out<GroupId>,
) -> Result<()> {
    let included = group::find(group)?.include(ranks.slice(n)?)?;
    newgroup.set(group::register(included)?);
    Ok(())
}

#[mpi(Group_excl)]
fn group_excl(
    group: GroupId,
    n: Length,
    ranks: Array<c_int>,
    newgroup: Out<GroupId>,
) -> Result<()> {
    let rest = group::find(group)?.exclude(ranks.slice(n)?)?;
    newgroup.set(group::register(rest)?);
    Ok(())
}

#[mpi(Group_range_incl)]
fn group_range_incl(
    group: GroupId,
    n: Length,
    ranges: ArrayMut<[c_int; 3]>,
    newgroup: Out<GroupId>,
) -> Result<()> {
    let group = group::find(group)?;
    let included = group.include(&group.expand(ranges.slice(n)?)?)?;
    newgroup.set(group::register(included)?);
    Ok(())
}

#[mpi(Group_range_excl)]
fn group_range_excl(
    group: GroupId,
    n: Length,
    ranges: ArrayMut<[c_int; 3]>,
    newgroup: Out<GroupId>,
) -> Result<()> {
    let group = group::find(group)?;
    let rest = group.exclude(&group.expand(ranges.slice(n)?)?)?;
    newgroup.set(group::register(rest)?);
    Ok(())
}

#[mpi(Group_from_session_pset)]
fn group_from_session_pset(
    session: SessionId,
    pset_name: &CStr,
    newgroup: Out<Option<GroupId>>,
) -> Result<()> {
    // MPI-5.0 §7.3.2 has no group for a set that there is not; the error says why.
    let group = session::group(session, pset_name);
    newgroup.set(group.as_ref().ok().copied());
    group.map(drop)
}

#[mpi(Group_free)]
fn group_free(group: InOut<GroupId>) -> Result<()> {
    group::free(group.get("group")?)?;
    group.clear();
    Ok(())
}
