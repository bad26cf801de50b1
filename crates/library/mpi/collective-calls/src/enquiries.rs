//! Collective operations of unlike lengths, which are erroneous (MPI-5.0 §6.4 to §6.9): none waits for ever, as long as the others make
//! progress.
//!
//! How an operation goes follows from the length that each process passes, so where lengths differ one may wait for a message, or a post on
//! the board, that another never makes. No process can know that by itself, and right programs shall not pay for it. So a process asks the one that it
//! has waited for, a quarter of a second long, and then ever more rarely (`weft_engine::Enquiry`), and says what length it has passed. The other
//! process answers in any call that makes progress:
//! 1. If the operation is over there, or has another length, what is awaited does not come. The receive that waits,
//!    which the enquiry names, is told so: behind all messages, so that it is over where its message came after all,
//!    as that of a root that was late. For a post the board is given up.
//! 2. A long message that waits to be taken is dropped, if the operation is over there.
//! 3. Otherwise it has come, or may come still, and nothing is said.
//!
//! For a nonblocking or persistent operation whichever thread waits or polls asks (`weft_engine`'s `enquiring`). Starts of a persistent one share
//! a tag, and which of them is asked about is not known here: only that lengths differ is an answer, which no start
//! of a right program is given, and that it is freed. Not answered is what is asked about a nonblocking or persistent
//! operation whose communicator the program has freed meanwhile, until it is over; not asked about are accesses to
//! files.
//!
//! One that waits in `MPI_Finalize` for the others answers too, four times a second (`lifetime/models`).
//!
//! A process that so learns of unlike lengths gives up the board of its host too: the others there may be in other steps.

use std::sync::Arc;

use weft_engine::Enquiry;
use weft_handle::CommId;
use weft_messages::request::APART;
use weft_objects::comm::begun::Known;
use weft_objects::comm::numbers::{Standing, contexts};
use weft_objects::comm::operations::Operations;
use weft_objects::comm::{Comm, Traffic, is_of, number_of, share_known};
use weft_sync::board::{Need, What};

/// What a process says of itself: what it waits for on the board, or 0, and the length that it has passed plus one, or 0.
pub(super) fn words(operations: &Operations, tag: u32, need: Option<Need>) -> [u64; 2] {
    let bytes = operations.bytes_of(tag);
    let awaited = need.map_or(0, |need| match need.what {
        What::Posted => need.step << 2 | POSTED,
        What::Entered => need.step << 2 | ENTERED,
    });
    [awaited, bytes.map_or(0, |bytes| bytes.saturating_add(1))]
}

const POSTED: u64 = 1;
const ENTERED: u64 = 2;

/// The number of the failure by which the one that asks ends, if what it waits for comes no more.
pub fn answer(enquiry: &Enquiry) -> Option<u8> {
    let number = number_of(enquiry.context);
    if !is_of(enquiry.context, Traffic::Collective) {
        return None;
    }
    let is_blocking = Operations::is_tag(enquiry.tag);
    let comm = match contexts().standing(number) {
        Standing::Unknown => return None,
        Standing::Freed => return Some(APART),
        Standing::Comm(id) => match of_number(id, enquiry.context) {
            // Freed by the program; what is not blocking goes on.
            None => return is_blocking.then_some(APART),
            Some(comm) => comm,
        },
    };
    if !is_blocking {
        return is_apart(comm.begun().known(enquiry.tag), enquiry).then_some(APART);
    }
    let [awaited, bytes] = enquiry.words;
    let operations = comm.operations();
    if enquiry.is_of_sender {
        return operations.is_over(enquiry.tag).then_some(APART);
    }
    let own = operations.bytes_of(enquiry.tag);
    let differs = bytes > 0 && own.is_some_and(|own| own != bytes - 1);
    if !differs && !operations.is_over(enquiry.tag) {
        return None;
    }
    if awaited == 0 {
        return Some(APART);
    }
    if let Some(rank) = comm.group().rank_of(enquiry.peer) {
        give_up_if_awaited(&comm, rank as usize, awaited);
    }
    None
}

/// Whether what is asked about comes, or is received, no more, in an operation that is not blocking.
fn is_apart(known: Known, enquiry: &Enquiry) -> bool {
    let [_, bytes] = enquiry.words;
    match known {
        Known::NotBegun => false,
        Known::Over => true,
        Known::Standing(own) => {
            let differs = bytes > 0 && own.bytes.is_some_and(|own| own != bytes - 1);
            differs && !(enquiry.is_of_sender && own.is_under_way)
        }
    }
}

/// The communicator of a handle, or what its own group does by itself, whichever has the context.
fn of_number(id: CommId, context: u32) -> Option<Arc<Comm>> {
    let comm = share_known(id).ok()?;
    let local = comm.local_and_remote().map(|(local, _)| local.clone());
    let has_it = |comm: &Arc<Comm>| comm.context(Traffic::Collective) == context;
    local.filter(has_it).or(Some(comm))
}

/// Gives the board up if that rank, of this host, still waits there for this process. Of a post that is so if it is in that step; room it
/// waits for until it has it.
fn give_up_if_awaited(comm: &Comm, rank: usize, awaited: u64) {
    let Some(Some(shared)) = comm.arena.get() else {
        return;
    };
    let position = match comm.hosts() {
        None => rank,
        Some(hosts) if hosts.host_of(rank) == hosts.own() => hosts.position(rank),
        Some(_) => return,
    };
    let board = &shared.board;
    let step = awaited >> 2;
    let (what, is_there) = match awaited & 3 {
        POSTED => (What::Posted, board.entered(position) == step),
        _ => (What::Entered, true),
    };
    let own = Need {
        rank: board.rank(),
        what,
        step,
    };
    if is_there && !board.is_met(own) {
        shared.give_up_apart();
    }
}
