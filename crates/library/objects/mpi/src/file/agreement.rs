//! What a file's processes tell each other in calls that they make together. A process that cannot go on says so, so that all of
//! them return an error and none waits.

use super::errors::elsewhere;
use super::object::File;
use crate::collective::gather_words;
use crate::error::{Class, Error, Result, argument};
use crate::objects::comm::Comm;

/// What all processes tell, by rank, or the error of one of them; this one's own comes first.
pub(super) fn exchange<const N: usize>(
    comm: &Comm,
    mine: Result<[i64; N]>,
) -> Result<Vec<[i64; N]>> {
    settle(comm, mine.as_ref().map(|_| ()).map_err(Error::clone))?;
    gather_words(comm, mine?)
}

/// Whether all processes have done their part.
pub(super) fn settle(comm: &Comm, mine: Result<()>) -> Result<()> {
    let class = mine.as_ref().err().map_or(0, |error| error.class as i64);
    let told = gather_words(comm, [class]);
    mine?;
    match told?.into_iter().find(|&[class]| class != 0) {
        Some([class]) => Err(elsewhere(class)),
        None => Ok(()),
    }
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
