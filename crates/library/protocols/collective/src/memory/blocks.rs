//! Buffers of one block per rank: of equal counts, of differing ones, and of differing datatypes.

use weft_datatype::{Datatype, Overflow};
use weft_memory::Memory;

use super::counts::HeldCounts;
use super::{Counts, described};

/// A buffer of one block per rank.
pub trait Blocks {
    /// The block for `rank`.
    fn block(&self, rank: usize) -> Memory;

    /// All blocks as one, if they follow each other in rank order.
    fn whole(&self) -> Option<Memory>;
}

/// Blocks of equal counts, one after the other: `recvbuf` of MPI_Gather.
pub struct Uniform {
    datatype: Datatype,
    base: *mut u8,
    count: usize,
    ranks: usize,
}

// SAFETY: an address, which it reads and writes nothing at: it makes `Memory` of it, which may be sent too.
unsafe impl Send for Uniform {}
// SAFETY: as above.
unsafe impl Sync for Uniform {}

impl Uniform {
    pub fn new(
        datatype: &Datatype,
        base: *mut u8,
        count: usize,
        ranks: usize,
    ) -> Result<Uniform, Overflow> {
        datatype.memory(base, count.checked_mul(ranks).ok_or(Overflow)?)?;
        Ok(Uniform {
            datatype: datatype.clone(),
            base,
            count,
            ranks,
        })
    }
}

impl Blocks for Uniform {
    fn block(&self, rank: usize) -> Memory {
        let offset = self
            .datatype
            .extent()
            .wrapping_mul((rank * self.count) as isize);
        described(
            &self.datatype,
            self.base.wrapping_offset(offset),
            self.count,
        )
    }

    fn whole(&self) -> Option<Memory> {
        Some(described(
            &self.datatype,
            self.base,
            self.count * self.ranks,
        ))
    }
}

/// Blocks of differing counts at displacements in extents: `recvbuf` of MPI_Gatherv.
pub struct Varying<'a> {
    datatype: Datatype,
    base: *mut u8,
    counts: HeldCounts<'a>,
    displacements: HeldCounts<'a>,
}

// SAFETY: as of `Uniform`.
unsafe impl Send for Varying<'_> {}
// SAFETY: as of `Uniform`.
unsafe impl Sync for Varying<'_> {}

impl<'a> Varying<'a> {
    /// The counts are not negative.
    pub fn new(
        datatype: &Datatype,
        base: *mut u8,
        counts: Counts<'a>,
        displacements: Counts<'a>,
    ) -> Result<Varying<'a>, Overflow> {
        let (counts, displacements) = (
            HeldCounts::Passed(counts),
            HeldCounts::Passed(displacements),
        );
        for rank in 0..counts.len() {
            let count = usize::try_from(counts.at(rank)).map_err(|_| Overflow)?;
            datatype.memory(base, count)?;
        }
        Ok(Varying {
            datatype: datatype.clone(),
            base,
            counts,
            displacements,
        })
    }

    /// Whether no block has any bytes.
    pub fn is_empty(&self) -> bool {
        self.datatype.size() == 0 || (0..self.counts.len()).all(|rank| self.counts.at(rank) == 0)
    }

    /// The caller may take the arrays back.
    pub fn into_owned(self) -> Varying<'static> {
        Varying {
            datatype: self.datatype,
            base: self.base,
            counts: self.counts.into_owned(),
            displacements: self.displacements.into_owned(),
        }
    }
}

impl Blocks for Varying<'_> {
    fn block(&self, rank: usize) -> Memory {
        let offset = self
            .datatype
            .extent()
            .wrapping_mul(self.displacements.at(rank) as isize);
        let count = self.counts.at(rank) as usize;
        described(&self.datatype, self.base.wrapping_offset(offset), count)
    }

    fn whole(&self) -> Option<Memory> {
        None
    }
}

/// Blocks each of a datatype of its own, at displacements in bytes: `recvbuf` of MPI_Alltoallw.
pub struct Mixed {
    base: *mut u8,
    blocks: Vec<MixedBlock>,
}

// SAFETY: as of `Uniform`.
unsafe impl Send for Mixed {}
// SAFETY: as of `Uniform`.
unsafe impl Sync for Mixed {}

/// One of [`Mixed`] blocks.
#[derive(Clone, Debug)]
pub struct MixedBlock {
    pub datatype: Datatype,
    pub count: usize,
    pub displacement: isize,
}

impl Mixed {
    pub fn new(base: *mut u8, blocks: Vec<MixedBlock>) -> Result<Mixed, Overflow> {
        for block in &blocks {
            block.datatype.memory(base, block.count)?;
        }
        Ok(Mixed { base, blocks })
    }
}

impl Blocks for Mixed {
    fn block(&self, rank: usize) -> Memory {
        let block = &self.blocks[rank];
        let base = self.base.wrapping_offset(block.displacement);
        described(&block.datatype, base, block.count)
    }

    fn whole(&self) -> Option<Memory> {
        None
    }
}
