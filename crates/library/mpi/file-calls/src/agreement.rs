//! What a file's processes tell each other in calls that they make together. A process that cannot go on says so, so that all of
//! them return an error and none waits.

use weft_collective_calls as collective;
use weft_collective_calls::{agree, exchange_last};
use weft_error::{Class, Result, argument};
use weft_objects::comm::Comm;

use super::errors::elsewhere;
use super::object::File;

/// What `find` finds in what all processes tell, by rank, once all found something in the same words; or the error of
/// one of them; this one's own comes first.
pub fn exchange<const N: usize, T>(
    comm: &Comm,
    mine: Result<[i64; N]>,
    find: impl FnOnce(&[[i64; N]]) -> Result<T>,
) -> Result<T> {
    let told = collective::exchange(comm, mine, |other| elsewhere(other.class));
    // One that has failed, or was told that another one has, goes on to where all learn of it.
    let found = told.as_ref().map_err(Clone::clone);
    let found = found.and_then(|told| find(told));
    agree(comm, told.as_deref().unwrap_or(&[]), found)
}

/// Whether all processes have done their part.
pub(super) fn settle(comm: &Comm, mine: Result<()>) -> Result<()> {
    exchange_last(comm, mine.map(|()| []), |other| elsewhere(other.class)).map(drop)
}

/// An error unless all processes gave the same; `name` is the argument's.
pub(super) fn check_same<const N: usize>(
    told: &[[i64; N]],
    place: usize,
    name: &str,
) -> Result<()> {
    match told.iter().all(|words| words[place] == told[0][place]) {
        true => Ok(()),
        false => Err(argument(
            Class::NotSame,
            name,
            "not the same on all processes of the file",
        )),
    }
}

/// Has the first process do something that is done once, when all have come; all learn whether it was.
pub(super) fn once(file: &File, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let mine = match file.comm.rank() {
        0 => work(),
        _ => Ok(()),
    };
    settle(&file.comm, mine)
}
