//! Accesses of all processes together (MPI-5.0 §14.4): blocking, nonblocking, and in two calls (§14.4.5).

use std::sync::Arc;

use parking_lot::Mutex;
use weft_collective_calls::{Peers, gather_words};
use weft_error::Result;
use weft_error::told::{Reader, Teller};
use weft_handle::FileId;
use weft_messages::completion;
use weft_messages::operation::{self, Awaited, SendFuture};
use weft_messages::request::{Request, Status};
use weft_objects::comm::Traffic;
use weft_objects::types::Buffer;
use weft_process::background;

use super::access::{Access, Unplaced};
use super::agreement::{exchange, settle};
use super::disk::Disk;
use super::form::{Direction, Positioning};
use super::seen::too_far;
use super::two_phase::carry_out;

/// A collective access as `positioning` says.
fn placed(unplaced: Unplaced, positioning: Positioning) -> Result<Access> {
    match positioning {
        Positioning::Shared => ordered(unplaced),
        positioning => unplaced.placed(positioning),
    }
}

/// Each process's access comes after those of lower rank, and the shared pointer moves on by all of them (MPI-5.0 §14.4.4).
fn ordered(unplaced: Unplaced) -> Result<Access> {
    let file = unplaced.file.clone();
    let comm = &file.comm;
    let told = gather_words(comm, [unplaced.etypes]);
    let found = told.and_then(|told| places(&told, comm.rank() as usize));
    // A process that found none has the first one learn of it, which says so to all.
    let advanced = match (comm.rank(), &found) {
        (_, Err(error)) => Err(error.clone()),
        (0, Ok([_, all])) => file.shared.advance(*all),
        _ => Ok(0),
    };
    let start = exchange(comm, advanced.map(|start| [start]), |told| {
        let mut first = Reader::new(Teller::Rank(0), &told[0]);
        first.length("shared file pointer")
    })?;
    let [before, _] = found?;
    let place = (start as i64).checked_add(before).ok_or_else(too_far);
    let placed = place.and_then(|place| unplaced.at(place));
    settle(comm, placed.as_ref().map(drop).map_err(Clone::clone))?;
    placed
}

/// The etypes before a rank's, and those of all, where all told how many theirs are.
fn places(told: &[[i64; 1]], rank: usize) -> Result<[i64; 2]> {
    let (mut before, mut all) = (0, 0i64);
    for (other, mut words) in Reader::of_all(told).enumerate() {
        if other == rank {
            before = all;
        }
        let etypes = words.length("number of etypes")? as i64;
        all = all.checked_add(etypes).ok_or_else(too_far)?;
    }
    Ok([before, all])
}

/// `MPI_File_read_all`, `MPI_File_write_at_all`, `MPI_File_read_ordered` and their kin.
pub fn transfer_all(
    id: FileId,
    direction: Direction,
    positioning: Positioning,
    buffer: Buffer,
) -> Result<Status> {
    let access = placed(Unplaced::new(id, direction, &buffer)?, positioning)?;
    let file = access.file.clone();
    let tag = file.comm.next_operation();
    let place = Arc::new(Mutex::new(None));
    let result = place.clone();
    let make = |awaited: Awaited| {
        let running = async move {
            let outcome = run(access, &awaited, tag, Disk::Here).await;
            *result.lock() = Some(outcome);
            Ok(Status::EMPTY)
        };
        // SAFETY: as in `start_all`.
        unsafe { SendFuture::new(running) }
    };
    let (lane, context) = (file.comm.lane(), file.comm.context(Traffic::Collective));
    completion::wait(&mut operation::begin(lane, context, make)?)?;
    let outcome = place.lock().take();
    outcome.expect("the operation is over")
}

/// `MPI_File_iread_all` and its kin.
pub fn start_all(
    id: FileId,
    direction: Direction,
    positioning: Positioning,
    buffer: Buffer,
) -> Result<Request> {
    let access = placed(Unplaced::new(id, direction, &buffer)?, positioning)?;
    let calls_program = access.seen.representation.calls_program();
    // Where there can be no thread, the program's calls make the progress: the others wait for this process.
    let kept = match calls_program {
        true => None,
        false => background::keep().ok(),
    };
    let has_thread = kept.is_some();
    let comm = &access.file.comm;
    let (lane, context) = (comm.lane(), comm.context(Traffic::Collective));
    let tag = comm.begun().next_nonblocking();
    let make = |awaited: Awaited| {
        let running = async move {
            let outcome = run(access, &awaited, tag, Disk::Pool(&awaited, lane)).await;
            drop(kept);
            outcome
        };
        // SAFETY: what is not `Send` is made in the future and stays in it: channels, peers, and the slots that errors are
        // kept in.
        unsafe { SendFuture::new(running) }
    };
    match has_thread {
        false => operation::begin(lane, context, make),
        true => operation::begin_in_background(lane, context, make),
    }
}

async fn run(access: Access, awaited: &Awaited, tag: u32, disk: Disk<'_>) -> Result<Status> {
    let file = access.file.clone();
    let peers = Peers::of_operation(&file.comm, awaited);
    let (access, bytes) = carry_out(access, &peers, tag, disk).await?;
    access.finish(bytes)
}
