//! Completing accesses: flushes, and what the end of an epoch needs of them (MPI-5.0 §12.5.4). All targets are asked before any
//! answer is waited for.

use weft_error::Result;
use weft_objects::comm::Comm;

use super::Far;
use super::path::{Flushing, Path};

/// Where the accesses of a flush are to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Origin,
    Target,
}

impl Far {
    /// Completes all accesses to one target.
    pub fn flush(&self, comm: &Comm, target: u32, place: Where) -> Result<()> {
        let path = self.path(comm, target);
        let flushing = path.start_flush(place, false)?;
        self.send_gathered(comm);
        path.end_flush(flushing)
    }

    /// The same of all targets.
    pub fn flush_all(&self, comm: &Comm, place: Where) -> Result<()> {
        flush_each(self.paths(comm), |path| path.start_flush(place, false))
    }

    /// The same of some.
    pub fn flush_some(&self, comm: &Comm, targets: &[u32]) -> Result<()> {
        let paths = targets.iter().map(|&target| self.path(comm, target));
        flush_each(paths, |path| path.start_flush(Where::Target, false))
    }

    /// Sends what was gathered. The next call that completes accesses to a target tells of what could not be sent there.
    pub fn send_gathered(&self, comm: &Comm) {
        for target in self.gathered.take() {
            let path = self.path(comm, target);
            let mut state = path.enter();
            state.is_gathered = false;
            if let Err(error) = path.send(&mut state) {
                state.failed.get_or_insert(error);
            }
        }
    }

    /// Sees to it that all that was asked of other processes is done, locks that were let go too.
    pub fn settle(&self, comm: &Comm) -> Result<()> {
        flush_each(self.paths(comm), |path| {
            let is_unlocking = path.line.state.lock().is_unlocking;
            path.start_flush(Where::Target, is_unlocking)
        })
    }
}

/// Begins on all paths, then waits on all, whatever becomes of each.
fn flush_each<'a>(
    paths: impl Iterator<Item = Path<'a>>,
    begin: impl Fn(&Path<'a>) -> Result<Flushing>,
) -> Result<()> {
    let begun: Vec<_> = paths.map(|path| (path, begin(&path))).collect();
    let outcomes = begun
        .into_iter()
        .map(|(path, begun)| begun.and_then(|flushing| path.end_flush(flushing)));
    outcomes.fold(Ok(()), Result::and)
}

impl Path<'_> {
    fn start_flush(&self, place: Where, always: bool) -> Result<Flushing> {
        let mut state = self.enter();
        self.begin_flush(&mut state, place == Where::Target, always)
    }
}
