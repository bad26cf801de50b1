//! Inter-communicators (MPI-5.0 §7.6): two groups that do not overlap, whose messages go from one to the other.
//!
//! All processes of both groups agree on one number, so an inter-communicator has one context for each kind of
//! traffic, as an intra-communicator has: sender and receiver are never in one group. Each group has
//! besides an intra-communicator of its own, for what it does by itself.

mod bridge;

use std::collections::HashSet;
use std::sync::Arc;

use weft_transport::Peer;

pub(crate) use bridge::{Bridge, LeaderLink};

use weft_collective_calls::{Peers, agree, gather_words, largest, print_of};
use weft_error::told::{Reader, Teller};
use weft_error::{Class, Error, Result, argument};
use weft_handle::CommId;
use weft_objects::comm::lanes::LaneSelection;
use weft_objects::comm::numbers::agreement::check_round;
use weft_objects::comm::numbers::contexts;
use weft_objects::comm::{Comm, Traffic, register};
use weft_objects::group::Group;
use weft_process::job;

/// What `MPI_Intercomm_create` takes besides the local communicator. The peer communicator counts at the leader only,
/// which finds it by `peer`.
pub struct Creation<F> {
    pub local_leader: i32,
    pub peer: F,
    pub remote_leader: i32,
    pub tag: i32,
}

/// `MPI_Intercomm_create`.
pub fn create<F>(local_comm: CommId, creation: Creation<F>) -> Result<CommId>
where
    F: FnOnce() -> Result<CommId>,
{
    let local = weft_objects::comm::share_unrevoked(local_comm)?;
    local.check_intra("local_comm")?;
    let leader = local.check_rank(Class::Rank, "local_leader", creation.local_leader)?;
    if creation.tag < 0 {
        let what = format_args!("{} is negative", creation.tag);
        return Err(argument(Class::Tag, "tag", what));
    }
    let peer = (leader == local.rank()).then(|| {
        let peer = weft_objects::comm::share_unrevoked((creation.peer)()?)?;
        let remote = peer.check_rank(Class::Rank, "remote_leader", creation.remote_leader)?;
        Ok::<_, Error>((peer, remote))
    });
    // The others of this group must not wait for a leader that has no link to wait on.
    let failed = peer.as_ref().is_some_and(|peer| peer.is_err());
    let (peers, failed) = (Peers::all(&local), [i64::from(failed)]);
    let group_failed = largest(&peers, local.next_operation(), failed, |mut failed| {
        failed.flag("outcome").map(drop)
    })?;
    let peer = peer.transpose()?;
    if group_failed == [1] {
        let what = "the local leader's peer_comm or remote_leader is wrong";
        return Err(Error::new(Class::Arg, what));
    }
    let link = peer.as_ref().map(|(comm, remote_leader)| LeaderLink {
        comm,
        remote_leader: *remote_leader,
        traffic: Traffic::Internal,
        tag: creation.tag as u32,
    });
    let bridge = Bridge {
        local: &local,
        leader,
        link,
    };
    let comm = connect(&bridge, LaneSelection::default())?;
    comm.set_handler(local.handler());
    register(comm)
}

/// The inter-communicator between a bridge's two groups.
pub(crate) fn connect(bridge: &Bridge<'_>, promised: LaneSelection) -> Result<Comm> {
    let group = bridge.local.group();
    let apart = |remote: Group| match group.intersection(&remote).size() {
        0 => Ok(remote),
        _ => Err(Error::new(
            Class::Comm,
            "the two groups have a process in common",
        )),
    };
    let most = job::job().size;
    let remote = swap_groups(bridge, group, most, apart);
    let groups = remote.map(|remote| Some((group.clone(), remote)));
    let comm = join(bridge, groups, promised)?;
    Ok(comm.expect("there are two groups"))
}

/// A group of this side's for one of the other's, of at most `most` processes, which all of both sides find right.
fn swap_groups(
    bridge: &Bridge<'_>,
    mine: &Group,
    most: u32,
    check: impl FnOnce(Group) -> Result<Group>,
) -> Result<Group> {
    let mine: Vec<i64> = mine.peers().map(i64::from).collect();
    let session = bridge.local.group().session();
    let theirs = bridge.swap_any(&mine, most as usize);
    let theirs = theirs.and_then(|words| listed_peers(&words, job::job().size));
    let theirs = theirs.and_then(|peers| check(Group::listed(peers).derived_from(session)));
    bridge.settle(theirs)
}

/// The processes that a remote group's leader lists: different ones of the job's.
fn listed_peers(words: &[i64], processes: u32) -> Result<Vec<Peer>> {
    let mut reader = Reader::new(Teller::RemoteLeader, words);
    let mut peers = Vec::with_capacity(words.len());
    let mut seen = HashSet::with_capacity(words.len());
    while !reader.is_at_end() {
        let peer = reader.index(processes as usize, "process of the job")? as Peer;
        if !seen.insert(peer) {
            return Err(Teller::RemoteLeader.told(format_args!("{peer} twice"), "group"));
        }
        peers.push(peer);
    }
    Ok(peers)
}

/// All processes of a bridge agree on numbers, and those of the two `groups` given (own first) make an
/// inter-communicator with them, whose messages spread by what all promise. None if this process has no such groups.
/// One that has failed takes part too: another one may not have been told so.
fn join(
    bridge: &Bridge<'_>,
    groups: Result<Option<(Group, Group)>>,
    promised: LaneSelection,
) -> Result<Option<Comm>> {
    let contexts = contexts();
    let (number, selection) = promised.agree(contexts, false, |words| {
        bridge.largest(words, LaneSelection::check)
    })?;
    let local = Peers::all(bridge.local);
    let local_number = contexts.agree(bridge.local.size() == 1, |pair| {
        largest(&local, bridge.local.next_operation(), pair, check_round)
    });
    let local_number = local_number.inspect_err(|_| contexts.release(number))?;
    let (group, remote) = match groups {
        Ok(Some(groups)) => groups,
        nothing => {
            contexts.release(number);
            contexts.release(local_number);
            return nothing.map(|_| None);
        }
    };
    let rank = group.rank_of(job::rank());
    let rank = rank.expect("this process is in its group");
    let local = Comm::new(local_number, rank, group, c"");
    let comm = Comm::inter(number, Arc::new(local), remote);
    comm.set_lane_selection(selection);
    Ok(Some(comm))
}

/// As `MPI_Comm_dup`, without what is copied.
pub(crate) fn duplicate(comm: &Comm, promised: LaneSelection) -> Result<Comm> {
    let (local, remote) = comm.local_and_remote().expect("an inter-communicator");
    let groups = (local.group().clone(), remote.clone());
    let copy = join(&Bridge::of(comm), Ok(Some(groups)), promised)?;
    Ok(copy.expect("there are two groups"))
}

/// As `MPI_Comm_create`: each side names a part of its group.
pub(crate) fn subset(comm: &Comm, group: &Group) -> Result<Option<Comm>> {
    let bridge = Bridge::of(comm);
    let whole = comm.remote_group()?;
    let inside = |remote: Group| match remote.difference(whole).size() {
        0 => Ok(remote),
        _ => Err(Teller::RemoteLeader.told("other processes", "part of its group")),
    };
    let groups = swap_groups(&bridge, group, whole.size(), inside).map(|remote| {
        let is_member = group.rank_of(job::rank()).is_some() && remote.size() > 0;
        is_member.then(|| (group.clone(), remote))
    });
    join(&bridge, groups, LaneSelection::default())
}

/// The members of one colour, by key and then rank.
fn of_color(group: &Group, pairs: &[[i64; 2]], color: i64) -> Group {
    let mut members: Vec<(i64, u32)> = (0..)
        .zip(pairs)
        .filter(|(_, [other, _])| *other == color)
        .map(|(rank, [_, key])| (*key, rank))
        .collect();
    members.sort_unstable();
    group.part(members.into_iter().map(|(_, rank)| rank))
}

/// As `MPI_Comm_split`: those of one colour on both sides. No colour is -1.
pub(crate) fn split(
    comm: &Comm,
    [color, key]: [i64; 2],
    promised: LaneSelection,
) -> Result<Option<Comm>> {
    let (told, ()) = agree_both(comm, [color, key], |_| Ok(()))?;
    let (local, remote) = comm.local_and_remote().expect("an inter-communicator");
    let (own, theirs) = told.split_at(local.size() as usize);
    let group = of_color(local.group(), own, color);
    let remote = of_color(remote, theirs, color);
    let has_both = color >= 0 && remote.size() > 0;
    let groups = has_both.then_some((group, remote));
    join(&Bridge::of(comm), Ok(groups), promised)
}

/// What each process of `comm` gives, of both groups of an inter-communicator, the own one first.
fn gather_words_of_both<const N: usize>(comm: &Comm, words: [i64; N]) -> Result<Vec<[i64; N]>> {
    let Some((local, remote)) = comm.local_and_remote() else {
        return gather_words(comm, words);
    };
    let mut all = gather_words(local, words)?;
    let theirs = Bridge::of(comm).swap(all.as_flattened(), N * remote.size() as usize)?;
    all.extend_from_slice(theirs.as_chunks().0);
    Ok(all)
}

/// What each process of `comm` gives, of both groups of an inter-communicator, the own one first, and what `find` finds
/// in it, once all were given the same and each found something.
pub(crate) fn agree_both<const N: usize, T>(
    comm: &Comm,
    words: [i64; N],
    find: impl FnOnce(&[[i64; N]]) -> Result<T>,
) -> Result<(Vec<[i64; N]>, T)> {
    let told = gather_words_of_both(comm, words);
    // One that has failed goes on to where all learn of it.
    let found = told.as_ref().map_err(Clone::clone);
    let found = found.and_then(|told| find(told));
    let told = told.unwrap_or_default();
    let Some((local, _)) = comm.local_and_remote() else {
        let found = agree(comm, &told, found)?;
        return Ok((told, found));
    };
    // What the one group calls its own is the other's to the other.
    let (own, theirs) = told.split_at(told.len().min(local.size() as usize));
    let print = print_of(own).wrapping_add(print_of(theirs)) >> 1;
    let found = Bridge::of(comm).agree(print, found)?;
    Ok((told, found))
}

/// `MPI_Intercomm_merge`.
pub fn merge(intercomm: CommId, high: bool) -> Result<CommId> {
    let comm = weft_objects::comm::share_unrevoked(intercomm)?;
    let remote = comm.remote_group()?;
    let bridge = Bridge::of(&comm);
    let (high, remote_high) = orders(&bridge, high)?;
    let own = comm.group();
    // Of two groups that want the same, that goes first whose first process does.
    let second = match high == remote_high {
        true => own.peer(0) > remote.peer(0),
        false => high,
    };
    let group = match second {
        true => remote.union(own),
        false => own.union(remote),
    };
    let contexts = contexts();
    let number = contexts.agree(false, |pair| bridge.largest(pair, check_round))?;
    let rank = group.rank_of(job::rank());
    let merged = Comm::new(number, rank.expect("it is in its group"), group, c"");
    merged.set_handler(comm.handler());
    register(merged)
}

/// Whether this and the other group are to be the high one, which all of a group say alike.
fn orders(bridge: &Bridge<'_>, high: bool) -> Result<(bool, bool)> {
    let high = i64::from(high);
    let peers = Peers::all(bridge.local);
    let tag = bridge.local.next_operation();
    let own = largest(&peers, tag, [high, 1 - high], |mut words| {
        words.flag("order of groups")?;
        words.flag("order of groups").map(drop)
    })?;
    let theirs = bridge.swap(&own, own.len());
    bridge.settle(theirs.and_then(|theirs| Ok((order(&own)?, order(&theirs)?))))
}

/// What a group says, of the largest of what its processes say: whether it is to be the high one, and whether it is
/// not to be.
fn order(words: &[i64]) -> Result<bool> {
    match words {
        [1, 0] => Ok(true),
        [0, 1] => Ok(false),
        _ => {
            let what = "differs between the processes of a group";
            Err(argument(Class::Arg, "high", what))
        }
    }
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    const PROCESSES: u32 = 9;
    if let Ok(peers) = listed_peers(words, PROCESSES) {
        let group = Group::listed(peers);
        assert!(group.peers().all(|peer| peer < PROCESSES) && group.size() <= PROCESSES);
    }
    let _ = order(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_group_is_of_different_processes_of_the_job() {
        assert_eq!(listed_peers(&[3, 0, 2], 4).unwrap(), [3, 0, 2]);
        assert!(listed_peers(&[], 4).unwrap().is_empty());
        for lie in [[4, 0], [-1, 0], [1 << 60, 0], [i64::MIN, 0], [2, 2]] {
            let error = listed_peers(&lie, 4).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("the remote group's leader told "),
                "{text}"
            );
        }
    }

    #[test]
    fn a_group_is_high_or_it_is_not() {
        assert!(order(&[1, 0]).unwrap() && !order(&[0, 1]).unwrap());
        for wrong in [&[1, 1][..], &[0, 0], &[i64::MIN, 1], &[2, 0], &[]] {
            assert_eq!(order(wrong).unwrap_err().class, Class::Arg);
        }
    }
}
