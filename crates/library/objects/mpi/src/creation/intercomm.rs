//! Inter-communicators (MPI-5.0 §7.6): two groups that do not overlap, whose messages go from one to the other.
//!
//! All processes of both groups agree on one number, so an inter-communicator has one context for each kind of
//! traffic, as an intra-communicator has: sender and receiver are never in one group. Each group has
//! besides an intra-communicator of its own, for what it does by itself.

mod bridge;

use std::sync::Arc;

use weft_transport::Peer;

pub(crate) use bridge::{Bridge, LeaderLink};

use crate::collective::{Peers, gather_words, largest};
use crate::error::{Class, Error, Result, argument};
use crate::handle::CommId;
use crate::objects::comm::lanes::LaneSelection;
use crate::objects::comm::numbers::contexts;
use crate::objects::comm::{Comm, Traffic, register};
use crate::objects::group::Group;
use crate::process::job;

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
    let local = crate::objects::comm::share(local_comm)?;
    check_intra(&local, "local_comm")?;
    let leader = local.check_rank(Class::Rank, "local_leader", creation.local_leader)?;
    if creation.tag < 0 {
        let what = format_args!("{} is negative", creation.tag);
        return Err(argument(Class::Tag, "tag", what));
    }
    let peer = (leader == local.rank()).then(|| {
        let peer = crate::objects::comm::share((creation.peer)()?)?;
        let remote = peer.check_rank(Class::Rank, "remote_leader", creation.remote_leader)?;
        Ok::<_, Error>((peer, remote))
    });
    // The others of this group must not wait for a leader that has no link to wait on.
    let failed = peer.as_ref().is_some_and(|peer| peer.is_err());
    let group_failed = largest(
        &Peers::all(&local),
        local.next_operation(),
        [i64::from(failed), 0],
    )?;
    let peer = peer.transpose()?;
    if group_failed[0] > 0 {
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

pub(crate) fn check_intra(comm: &Comm, name: &str) -> Result<()> {
    match comm.local_and_remote() {
        None => Ok(()),
        Some(_) => Err(argument(Class::Comm, name, "an inter-communicator")),
    }
}

/// The inter-communicator between a bridge's two groups.
pub(crate) fn connect(bridge: &Bridge<'_>, promised: LaneSelection) -> Result<Comm> {
    let group = bridge.local.group();
    let remote = swap_peers(bridge, group.peers())?;
    let remote = Group::listed(remote).derived_from(group.session());
    if group.intersection(&remote).size() > 0 {
        let what = "the two groups have a process in common";
        return Err(Error::new(Class::Comm, what));
    }
    let comm = join(bridge, Some((group.clone(), remote)), promised)?;
    Ok(comm.expect("there are two groups"))
}

fn swap_peers(bridge: &Bridge<'_>, mine: impl Iterator<Item = Peer>) -> Result<Vec<Peer>> {
    let theirs = bridge.swap_any(mine.map(i64::from).collect())?;
    Ok(theirs.into_iter().map(|peer| peer as Peer).collect())
}

/// All processes of a bridge agree on numbers, and those of the two `groups` given (own first) make an
/// inter-communicator with them, whose messages spread by what all promise. None if this process has no such groups.
fn join(
    bridge: &Bridge<'_>,
    groups: Option<(Group, Group)>,
    promised: LaneSelection,
) -> Result<Option<Comm>> {
    let contexts = contexts();
    let (number, selection) = promised.agree(contexts, false, |words| bridge.largest(words))?;
    let local = Peers::all(bridge.local);
    let local_number = contexts.agree(bridge.local.size() == 1, |pair| {
        largest(&local, bridge.local.next_operation(), pair)
    });
    let local_number = local_number.inspect_err(|_| contexts.release(number))?;
    let Some((group, remote)) = groups else {
        contexts.release(number);
        contexts.release(local_number);
        return Ok(None);
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
    let copy = join(&Bridge::of(comm), Some(groups), promised)?;
    Ok(copy.expect("there are two groups"))
}

/// As `MPI_Comm_create`: each side names a part of its group.
pub(crate) fn subset(comm: &Comm, group: &Group) -> Result<Option<Comm>> {
    let bridge = Bridge::of(comm);
    let remote = Group::listed(swap_peers(&bridge, group.peers())?);
    let remote = remote.derived_from(comm.group().session());
    let is_member = group.rank_of(job::rank()).is_some() && remote.size() > 0;
    join(
        &bridge,
        is_member.then(|| (group.clone(), remote)),
        LaneSelection::default(),
    )
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
    let bridge = Bridge::of(comm);
    let (local, remote) = comm.local_and_remote().expect("an inter-communicator");
    let own = gather_words(local, [color, key])?;
    let theirs = bridge.swap(own.concat(), 2 * remote.size() as usize)?;
    let (theirs, _) = theirs.as_chunks();
    let group = of_color(local.group(), &own, color);
    let remote = of_color(remote, theirs, color);
    let has_both = color >= 0 && remote.size() > 0;
    join(&bridge, has_both.then_some((group, remote)), promised)
}

/// What each process of `comm` gives, of both groups of an inter-communicator, the own one first.
pub(crate) fn gather_words_of_both<const N: usize>(
    comm: &Comm,
    words: [i64; N],
) -> Result<Vec<[i64; N]>> {
    let Some((local, remote)) = comm.local_and_remote() else {
        return gather_words(comm, words);
    };
    let mut all = gather_words(local, words)?;
    let theirs = Bridge::of(comm).swap(all.concat(), N * remote.size() as usize)?;
    all.extend_from_slice(theirs.as_chunks().0);
    Ok(all)
}

/// `MPI_Intercomm_merge`.
pub fn merge(intercomm: CommId, high: bool) -> Result<CommId> {
    let comm = crate::objects::comm::share(intercomm)?;
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
    let number = contexts.agree(false, |pair| bridge.largest(pair))?;
    let rank = group.rank_of(job::rank());
    let merged = Comm::new(number, rank.expect("it is in its group"), group, c"");
    merged.set_handler(comm.handler());
    register(merged)
}

/// Whether this and the other group are to be the high one, which all of a group say alike.
fn orders(bridge: &Bridge<'_>, high: bool) -> Result<(bool, bool)> {
    let high = i64::from(high);
    let peers = Peers::all(bridge.local);
    let [most, least] = largest(&peers, bridge.local.next_operation(), [high, -high])?;
    let own = [most, -least];
    let theirs = bridge.swap(own.to_vec(), 2)?;
    for pair in [&own, &theirs[..]] {
        if pair[0] != pair[1] {
            let what = "differs between the processes of a group";
            return Err(argument(Class::Arg, "high", what));
        }
    }
    Ok((high > 0, theirs[0] > 0))
}
