//! Parts of arrays, as their constructors are given them (MPI-5.0 §5.1.3, §5.1.4).

/// In which order an array's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last index fastest.
    C,
    /// The first index fastest.
    Fortran,
}

/// A part of an array (§5.1.3). The lists have one length, which is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subarray {
    pub sizes: Vec<usize>,
    pub subsizes: Vec<usize>,
    pub starts: Vec<usize>,
    pub order: Order,
}

/// How a dimension of an array is distributed over processes (§5.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    None,
    Block,
    Cyclic,
}

/// One process's part of an array that is distributed over a grid of processes (§5.1.4). The lists have one length,
/// which is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Darray {
    /// Processes in the grid, which are the product of `processes`.
    pub size: usize,
    pub rank: usize,
    pub sizes: Vec<usize>,
    pub distributions: Vec<Distribution>,
    /// How many elements follow each other on a process; none is the default.
    pub blocks: Vec<Option<usize>>,
    pub processes: Vec<usize>,
    pub order: Order,
}
