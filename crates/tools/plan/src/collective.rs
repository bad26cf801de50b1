//! The collectives that there are plans of.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    ReduceScatter,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Scan,
}

impl Collective {
    pub const ALL: [Collective; 10] = [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::Gather,
        Collective::Scatter,
        Collective::Allgather,
        Collective::Alltoall,
        Collective::Scan,
    ];

    /// As the library's tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast => "bcast",
            Collective::Reduce => "reduce",
            Collective::Allreduce => "allreduce",
            Collective::ReduceScatter => "reduce_scatter",
            Collective::Gather => "gather",
            Collective::Scatter => "scatter",
            Collective::Allgather => "allgather",
            Collective::Alltoall => "alltoall",
            Collective::Scan => "scan",
        }
    }

    /// Whether it passes blocks, one for each rank, of which the length is told; else that of the whole message is.
    pub fn has_blocks(self) -> bool {
        matches!(
            self,
            Collective::Gather | Collective::Scatter | Collective::Allgather | Collective::Alltoall
        )
    }

    pub fn reduces(self) -> bool {
        matches!(
            self,
            Collective::Reduce
                | Collective::Allreduce
                | Collective::ReduceScatter
                | Collective::Scan
        )
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Collective {
    type Err = String;

    fn from_str(text: &str) -> Result<Collective, String> {
        let found = Collective::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| {
            let names = Collective::ALL.map(Collective::name);
            format!("one of {}", names.join(", "))
        })
    }
}
