//! Making communicators (MPI-5.0 §7.4.2).

use weft_collective_calls::{Peers, agree, gather_words, largest};
use weft_error::{Class, Result, argument};
use weft_handle::{CommId, GroupId, InfoId};
use weft_objects::comm::hints::{self, Hints};
use weft_objects::comm::lanes::LaneSelection;
use weft_objects::comm::numbers::agreement::check_round;
use weft_objects::comm::numbers::contexts;
use weft_objects::comm::{Comm, register};
use weft_objects::group::Group;
use weft_process::job;

use crate::intercomm;

/// Agrees on a number among all processes of `comm`.
pub(crate) fn number_for_all(comm: &Comm) -> Result<u32> {
    let peers = Peers::all(comm);
    contexts().agree(comm.size() == 1, |pair| {
        largest(&peers, comm.next_operation(), pair, check_round)
    })
}

/// The same, and how that communicator's messages select their lanes.
pub(crate) fn agreed(comm: &Comm, promised: LaneSelection) -> Result<(u32, LaneSelection)> {
    let peers = Peers::all(comm);
    let largest = |words| largest(&peers, comm.next_operation(), words, LaneSelection::check);
    promised.agree(contexts(), comm.size() == 1, largest)
}

/// A communicator of the same processes, whose messages spread by what all of them promise.
fn duplicate(comm: &Comm, promised: LaneSelection) -> Result<Comm> {
    let (number, selection) = agreed(comm, promised)?;
    let copy = child(comm, number, comm.group().clone());
    copy.set_lane_selection(selection);
    Ok(copy)
}

/// A communicator like `parent` with another group: its error handler is inherited (MPI-5.0 §9.3.1).
fn derived(parent: &Comm, number: u32, group: Group) -> Result<CommId> {
    register(child(parent, number, group))
}

pub(crate) fn child(parent: &Comm, number: u32, group: Group) -> Comm {
    let rank = group
        .rank_of(job::rank())
        .expect("this process is in the new group");
    inherit(parent, Comm::new(number, rank, group, c""))
}

/// A communicator as a child of `parent`.
pub fn inherit(parent: &Comm, comm: Comm) -> Comm {
    comm.set_handler(parent.handler());
    comm
}

/// A communicator of the same processes for the library's own use, without a handle.
pub fn private(parent: &Comm) -> Result<Comm> {
    let number = number_for_all(parent)?;
    Ok(child(parent, number, parent.group().clone()))
}

/// `MPI_Comm_dup_with_info`, with the attributes whose copy functions say so (MPI-5.0 §7.7.2). The hints are those
/// given, and not the parent's (MPI-5.0 §7.4.2).
pub fn dup(comm: CommId, info: Option<InfoId>) -> Result<CommId> {
    let id = comm;
    let comm = weft_objects::comm::share_unrevoked(id)?;
    let hints = hints::from_info(info)?;
    let mut copy = match comm.local_and_remote() {
        None => duplicate(&comm, hints.promised())?,
        Some(_) => inherit(&comm, intercomm::duplicate(&comm, hints.promised())?),
    };
    let attributes = comm.attributes.copied(id.handle());
    if let Some(topology) = comm.shared_topology() {
        copy.set_topology(topology);
    }
    copy.set_hints(hints);
    copy.attributes = attributes.inspect_err(|_| copy.release_numbers())?;
    register(copy)
}

/// `MPI_Comm_split`: no communicator for the colour `MPI_UNDEFINED` (none).
pub fn split(comm: CommId, color: Option<i32>, key: i32) -> Result<Option<CommId>> {
    split_with(comm, color, key, Hints::default())
}

/// The same, with hints for the new communicator.
pub(crate) fn split_with(
    comm: CommId,
    color: Option<i32>,
    key: i32,
    hints: Hints,
) -> Result<Option<CommId>> {
    if let Some(color) = color.filter(|&color| color < 0) {
        return Err(argument(
            Class::Arg,
            "color",
            format_args!("{color} is negative"),
        ));
    }
    let comm = weft_objects::comm::share_unrevoked(comm)?;
    let promised = color.map_or(LaneSelection::EVERYTHING, |_| hints.promised());
    let color = color.map_or(-1, i64::from);
    let made = match comm.local_and_remote() {
        None => split_intra(&comm, color, key, promised)?,
        Some(_) => intercomm::split(&comm, [color, i64::from(key)], promised)?
            .map(|part| inherit(&comm, part)),
    };
    let hinted = |made: Comm| {
        made.set_hints(hints);
        register(made)
    };
    made.map(hinted).transpose()
}

fn split_intra(comm: &Comm, color: i64, key: i32, promised: LaneSelection) -> Result<Option<Comm>> {
    let all = gather_words(comm, [color, i64::from(key)])?;
    agree(comm, &all, Ok(()))?;
    let (number, selection) = agreed(comm, promised)?;
    if color < 0 {
        contexts().release(number);
        return Ok(None);
    }
    let mut members: Vec<(i64, u32)> = all
        .iter()
        .zip(0..)
        .filter(|([other, _], _)| *other == color)
        .map(|([_, key], rank)| (*key, rank))
        .collect();
    members.sort_unstable();
    let group = comm.group().part(members.into_iter().map(|(_, rank)| rank));
    let made = child(comm, number, group);
    made.set_lane_selection(selection);
    Ok(Some(made))
}

/// The ranks in `comm` of a group's processes.
pub fn ranks_in(comm: &Comm, group: &Group) -> Result<Vec<u32>> {
    let all: Vec<i32> = (0..group.size() as i32).collect();
    let ranks = group.translate(&all, comm.group())?;
    let found: Option<Vec<u32>> = ranks
        .into_iter()
        .map(|rank| u32::try_from(rank).ok())
        .collect();
    found.ok_or_else(|| {
        argument(
            Class::Group,
            "group",
            "has a process that is not in the communicator",
        )
    })
}

/// `MPI_Comm_create`: no communicator for those not in the group.
pub fn create(comm: CommId, group: GroupId) -> Result<Option<CommId>> {
    let comm = weft_objects::comm::share_unrevoked(comm)?;
    let group = weft_objects::group::find(group)?;
    ranks_in(&comm, &group)?;
    if comm.local_and_remote().is_some() {
        let part = intercomm::subset(&comm, &group)?;
        return part.map(|part| register(inherit(&comm, part))).transpose();
    }
    let number = number_for_all(&comm)?;
    if group.rank_of(job::rank()).is_none() {
        contexts().release(number);
        return Ok(None);
    }
    derived(&comm, number, (*group).clone()).map(Some)
}

/// `MPI_Comm_create_group`: called by the group's processes only.
pub fn create_group(comm: CommId, group: GroupId, tag: i32) -> Result<Option<CommId>> {
    let comm = weft_objects::comm::share_unrevoked(comm)?;
    comm.check_intra("comm")?;
    let group = weft_objects::group::find(group)?;
    if tag < 0 {
        return Err(argument(
            Class::Tag,
            "tag",
            format_args!("{tag} is negative"),
        ));
    }
    let members = ranks_in(&comm, &group)?;
    let Some(rank) = group.rank_of(job::rank()) else {
        return Ok(None);
    };
    let peers = Peers::some(&comm, &members, rank as usize);
    let number = contexts().agree(group.size() == 1, |pair| {
        largest(&peers, tag as u32, pair, check_round)
    })?;
    derived(&comm, number, (*group).clone()).map(Some)
}
