//! Where the processes of a window keep their parts of it.

/// Where a process's part of a window is, as all of its processes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its control area, as an offset in its segment.
    pub control: u64,
    pub backing: Backing,
    pub bytes: u64,
    /// Displacements in it are so many bytes each; positive.
    pub unit: i64,
}

/// Whose memory a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// A piece of its segment, at this offset.
    Piece(u64),
    /// This far into the piece that all share, whose owner is the window's first process.
    Whole(u64),
    /// The user's, at this address.
    User(u64),
    /// What it attaches: displacements are addresses.
    Dynamic,
}
