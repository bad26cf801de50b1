//! What epoll says is ready.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Signals,
    /// A rank's PMI connection.
    Connection(u32),
    /// The MPI program within a rank has ended.
    Client(u32),
    /// A stream of a rank's output, by its index.
    Stream(u32),
    /// mpiexec's own output or error.
    Sink(u32),
    Stdin,
    /// The standard input of a rank.
    RankInput(u32),
    /// The way from the parent in the tree of agents, and the way to it.
    Parent,
    ToParent,
    /// The ways from a child in the tree, to it, and what its launcher says.
    Child(u32),
    ToChild(u32),
    ChildWords(u32),
}

impl Source {
    pub fn token(self) -> u64 {
        let (kind, index) = match self {
            Source::Signals => (0, 0),
            Source::Connection(rank) => (1, rank),
            Source::Client(rank) => (2, rank),
            Source::Stream(index) => (3, index),
            Source::Sink(index) => (4, index),
            Source::Stdin => (5, 0),
            Source::RankInput(rank) => (6, rank),
            Source::Parent => (7, 0),
            Source::ToParent => (8, 0),
            Source::Child(child) => (9, child),
            Source::ToChild(child) => (10, child),
            Source::ChildWords(child) => (11, child),
        };
        u64::from(kind as u32) << 32 | u64::from(index)
    }

    pub fn of_token(token: u64) -> Option<Source> {
        let index = token as u32;
        Some(match token >> 32 {
            0 => Source::Signals,
            1 => Source::Connection(index),
            2 => Source::Client(index),
            3 => Source::Stream(index),
            4 => Source::Sink(index),
            5 => Source::Stdin,
            6 => Source::RankInput(index),
            7 => Source::Parent,
            8 => Source::ToParent,
            9 => Source::Child(index),
            10 => Source::ToChild(index),
            11 => Source::ChildWords(index),
            _ => return None,
        })
    }
}
