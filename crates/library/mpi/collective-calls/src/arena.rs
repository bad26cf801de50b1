//! The memory that all processes of a communicator on one host share, for its blocking collective operations: made by all of them
//! together, when the communicator has had some, so that one that has none costs nothing. A communicator of several hosts has
//! one on each that has several of its processes, which those agree on among themselves.
//!
//! 1. The first of them lends a piece of its segment, all map it, and all agree whether all could. Behind the board each finds how near the others' cores are
//!    (`objects/comm/nearness`). If one could not, or there are
//!    more than [`MOST_RANKS`], operations among them go on by messages, on all of them alike.
//! 2. Calls on one communicator come one after the other (MPI-5.0 §6.14), so blocking operations are at most one at a
//!    time. Nonblocking and persistent ones are not, and go by messages, which do not mix with what is on the board.
//! 3. A process that waits for one that is gone gives the board up for all: their waits end with an error. So does one that
//!    cannot copy from another's memory. Each has then either all that it came for, or an error; from the next on, every
//!    operation that goes through the arena fails.
//! 4. The last process that frees the communicator gives the memory back; a process may still read what others posted before they freed it.

use std::sync::atomic::Ordering;

use weft_collective::{MOST_RANKS, Sharing, ShortLimits};
use weft_objects::comm::Comm;
use weft_objects::comm::arena::{COUNTS, SharedArena};
use weft_objects::comm::nearness::Nearness;
use weft_process::engine::engine;
use weft_process::job::oversubscribed;
use weft_shm::{Mapping, Process};
use weft_sync::board::{self, Board};

use super::arena_access::ArenaAccess;
use super::peers::Peers;
use super::words::largest;

/// Blocking operations of a communicator before it gets an arena.
const AFTER: u32 = 8;
/// Arenas of a process at once: each is a mapping, of which a process may have 2^16.
const MOST_ARENAS: u32 = 1024;

/// The way to the arena for blocking operation `number` of an intra-communicator; it is made now if it is time.
#[inline]
pub(super) fn access(comm: &Comm, number: u32) -> Option<ArenaAccess<'_>> {
    let shared = match comm.arena.get() {
        Some(shared) => shared,
        None if number < AFTER => None,
        None => make(comm),
    }?;
    Some(ArenaAccess::new(shared, comm, number))
}

/// Those of a communicator's processes that are on this host, and the tags by which they agree, which are the same on all hosts.
struct Sharers<'a> {
    comm: &'a Comm,
    /// Their ranks.
    members: Vec<u32>,
    position: usize,
    tags: [u32; 2],
}

impl<'a> Sharers<'a> {
    fn of(comm: &'a Comm) -> Sharers<'a> {
        let (members, position) = match comm.hosts() {
            None => ((0..comm.size()).collect(), comm.rank() as usize),
            Some(hosts) => {
                let positions = 0..hosts.ranks_on(hosts.own());
                let rank_at = |position| hosts.rank_at(hosts.own(), position) as u32;
                let position = hosts.position(comm.rank() as usize);
                (positions.map(rank_at).collect(), position)
            }
        };
        Sharers {
            comm,
            members,
            position,
            tags: [comm.next_operation(), comm.next_operation()],
        }
    }
}

#[cold]
fn make(comm: &Comm) -> Option<&SharedArena> {
    let sharers = Sharers::of(comm);
    let shared = match sharers.members.len() {
        2..=MOST_RANKS => agreed(&sharers),
        _ => None,
    };
    comm.arena.set(shared)
}

/// The arena, if all of them can have it.
fn agreed(sharers: &Sharers<'_>) -> Option<Box<SharedArena>> {
    let Sharers {
        comm,
        members,
        position,
        tags,
    } = sharers;
    let counts = &COUNTS;
    let bytes = board::bytes(members.len()) + Nearness::bytes(members.len());
    let fits = counts.live.load(Ordering::Relaxed) < MOST_ARENAS;
    let fabric = engine().fabric().near();
    let lent = match position {
        0 if fits => fabric.lend(bytes).ok(),
        _ => None,
    };
    // A process whose agreement failed takes part in the other, so that it fails for all.
    let peers = Peers::on_host(comm, members, *position);
    let offset = lent.as_ref().map_or(-1, |(offset, _)| *offset as i64);
    let offset = largest(&peers, tags[0], [offset], |_| Ok(()));
    let offset = offset.ok().and_then(|[offset]| u64::try_from(offset).ok());
    let shared = offset.filter(|_| fits).and_then(|offset| {
        let mapping = lent.map(|(_, mapping)| mapping);
        mapped(sharers, mapping, offset, bytes)
    });
    let own = shared.as_ref();
    let wants = [own.is_none(), own.is_none_or(|shared| !shared.copies)];
    let found = largest(&peers, tags[1], wants.map(i64::from), |mut wants| {
        wants.flag("wish")?;
        wants.flag("wish").map(drop)
    });
    // Where a process died, some may have agreed and others not know it. What they then use, the board itself says. Who
    // could not map it knows that no process agreed.
    let wanted = matches!(found, Ok([0, _]));
    let agreed = shared.filter(|shared| (wanted || found.is_err()) && shared.board.decide(wanted));
    let Some(mut shared) = agreed else {
        counts.refused.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    if !wanted {
        shared.give_up(shared.dead().unwrap_or(*position));
    }
    shared.copies = matches!(found, Ok([_, 0]));
    if comm.hosts().is_none() {
        let sharing = match shared.copies {
            true => Sharing::Everything,
            false => Sharing::Board,
        };
        let limits = ShortLimits::new(members.len(), oversubscribed(), sharing);
        shared.short = Some(limits);
    }
    shared.nearness.find(&shared.processes);
    counts.live.fetch_add(1, Ordering::Relaxed);
    counts.made.fetch_add(1, Ordering::Relaxed);
    Some(shared)
}

#[inline(never)]
fn mapped(
    sharers: &Sharers<'_>,
    own: Option<Mapping>,
    offset: u64,
    bytes: usize,
) -> Option<Box<SharedArena>> {
    let fabric = engine().fabric().near();
    let peers = sharers.members.iter().map(|&rank| sharers.comm.peer(rank));
    let processes = peers.map(|peer| fabric.process(peer).ok());
    let processes: Box<[Process]> = processes.collect::<Option<_>>()?;
    let mapping = match own {
        Some(mapping) => mapping,
        None => processes[0].map(offset, bytes).ok()?,
    };
    let (own, ranks) = (sharers.position, processes.len());
    // SAFETY: the memory is a fresh piece of the first one's segment, as long as asked for, told to these processes alone, and
    // mapped as long as the board is there.
    let board = unsafe { Board::new(mapping.base(), own, ranks) };
    // SAFETY: the same piece, behind the board.
    let nearness = unsafe { Nearness::new(mapping.base().add(board::bytes(ranks)), own, ranks) };
    nearness.show();
    let copies = (0..ranks).all(|other| other == own || processes[other].copies_allowed());
    Some(Box::new(SharedArena {
        board,
        mapping,
        processes,
        copies,
        nearness,
        looks: engine().pace().looks(),
        short: None,
    }))
}
