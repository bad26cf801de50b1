//! The neighbours of a process.

/// The neighbours of a process, in the order in which neighbourhood collectives name them (MPI-5.0 §8.6).
/// `MPI_PROC_NULL` and repeated ranks are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// From whom it receives.
    pub sources: Vec<i32>,
    /// To whom it sends.
    pub destinations: Vec<i32>,
}
