//! How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` report (MPI-5.0 §5.1.13).

use crate::{Datatype, Predefined};

/// A constructor and its arguments, as they were given.
#[derive(Clone, Debug)]
pub enum Envelope {
    Named(Predefined),
    Dup {
        old: Datatype,
    },
    Contiguous {
        count: usize,
        old: Datatype,
    },
    Vector {
        count: usize,
        blocklength: usize,
        stride: isize,
        old: Datatype,
    },
    /// The stride in bytes.
    Hvector {
        count: usize,
        blocklength: usize,
        stride: isize,
        old: Datatype,
    },
    Indexed {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    /// The displacements in bytes.
    Hindexed {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    IndexedBlock {
        blocklength: usize,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    /// The displacements in bytes.
    HindexedBlock {
        blocklength: usize,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    Struct {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        types: Box<[Datatype]>,
    },
    Subarray(Box<Subarray>, Datatype),
    Darray(Box<Darray>, Datatype),
    Resized {
        lower: isize,
        extent: isize,
        old: Datatype,
    },
    /// The predefined, unnamed types of Fortran: decimal digits and range; none where not given (§19.1.9).
    FortranReal {
        precision: Option<i32>,
        range: Option<i32>,
    },
    FortranComplex {
        precision: Option<i32>,
        range: Option<i32>,
    },
    FortranInteger {
        range: i32,
    },
}

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

impl Envelope {
    /// The datatypes among the arguments, in order.
    pub fn datatypes(&self) -> &[Datatype] {
        match self {
            Envelope::Dup { old }
            | Envelope::Contiguous { old, .. }
            | Envelope::Vector { old, .. }
            | Envelope::Hvector { old, .. }
            | Envelope::Indexed { old, .. }
            | Envelope::Hindexed { old, .. }
            | Envelope::IndexedBlock { old, .. }
            | Envelope::HindexedBlock { old, .. }
            | Envelope::Subarray(_, old)
            | Envelope::Darray(_, old)
            | Envelope::Resized { old, .. } => std::slice::from_ref(old),
            Envelope::Struct { types, .. } => types,
            Envelope::Named(_)
            | Envelope::FortranReal { .. }
            | Envelope::FortranComplex { .. }
            | Envelope::FortranInteger { .. } => &[],
        }
    }

    /// Whether it is a predefined type without a name.
    pub fn is_unnamed(&self) -> bool {
        matches!(
            self,
            Envelope::FortranReal { .. }
                | Envelope::FortranComplex { .. }
                | Envelope::FortranInteger { .. }
        )
    }

    /// As [`datatypes`](Self::datatypes), the rest dropped.
    pub(crate) fn into_datatypes(self) -> Vec<Datatype> {
        match self {
            Envelope::Struct { types, .. } => types.into_vec(),
            other => other.datatypes().to_vec(),
        }
    }
}
