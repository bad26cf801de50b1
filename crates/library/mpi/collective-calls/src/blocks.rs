//! Buffers of blocks, one for each process.

use weft_collective::{Blocks, Counts, Mixed, MixedBlock, Uniform, Varying};
use weft_error::{Class, Result, argument};
use weft_memory::Memory;
use weft_objects::types::{self, Buffer, TypeId};

use super::checked_count;
use super::void::Glance;

/// A buffer of blocks of differing lengths: one count and displacement, in extents, per process.
#[derive(Clone)]
pub struct Vectors<'a> {
    pub address: *mut u8,
    pub counts: Counts<'a>,
    pub displacements: Counts<'a>,
    pub datatype: TypeId,
}

impl Glance for Vectors<'_> {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.counts.are_zero() && types::is_plain(self.datatype)
    }
}

/// A buffer of blocks of differing datatypes: one count, displacement in bytes, and datatype per process.
#[derive(Clone)]
pub struct Types<'a> {
    pub address: *mut u8,
    pub counts: Counts<'a>,
    pub displacements: Counts<'a>,
    pub datatypes: Vec<TypeId>,
}

/// Blocks of differing lengths, of elements without gaps, if a glance tells that nothing is wrong with them.
pub(super) struct PlainVectors<'a> {
    vectors: &'a Vectors<'a>,
    element_bytes: usize,
}

impl<'a> PlainVectors<'a> {
    #[inline]
    pub fn new(vectors: &'a Vectors<'a>, ranks: usize) -> Option<PlainVectors<'a>> {
        let plain = |count| types::plain_bytes(vectors.address, count, vectors.datatype);
        for rank in 0..ranks {
            plain(vectors.counts.at(rank))?;
        }
        let element_bytes = plain(1)?;
        Some(PlainVectors {
            vectors,
            element_bytes,
        })
    }

    #[inline]
    pub fn block(&self, rank: usize) -> Memory {
        let Vectors {
            address,
            counts,
            displacements,
            ..
        } = self.vectors;
        let offset = (displacements.at(rank) as isize).wrapping_mul(self.element_bytes as isize);
        let bytes = counts.at(rank) as usize * self.element_bytes;
        Memory::contiguous(address.wrapping_offset(offset), bytes)
    }
}

/// A checked buffer of blocks.
pub(super) enum Layout<'a> {
    Uniform(Uniform),
    Varying(Varying<'a>),
    Mixed(Mixed),
}

impl<'a> Layout<'a> {
    /// Of equal blocks, each as the buffer says.
    pub fn equal(buffer: Buffer, ranks: u32) -> Result<Layout<'a>> {
        let count = checked_count(buffer.count, "count")?;
        // All checks of a buffer that holds all blocks.
        let all = buffer
            .count
            .checked_mul(i64::from(ranks))
            .ok_or(weft_datatype::Overflow)?;
        types::memory(buffer.address, all, buffer.datatype)?;
        let datatype = types::committed(buffer.datatype)?;
        let blocks = Uniform::new(&datatype, buffer.address, count, ranks as usize)?;
        Ok(Layout::Uniform(blocks))
    }

    pub fn varying(vectors: Vectors<'a>, ranks: u32) -> Result<Layout<'a>> {
        let Vectors {
            address,
            counts,
            displacements,
            datatype,
        } = vectors;
        let datatype = types::committed(datatype)?;
        let mut elements = 0;
        for rank in 0..ranks as usize {
            elements += checked_count(counts.at(rank), "counts")?;
        }
        let has_data = elements > 0 && datatype.size() > 0;
        if address.is_null() && has_data && datatype.true_lower_bound() == 0 {
            return Err(no_blocks());
        }
        let blocks = Varying::new(&datatype, address, counts, displacements)?;
        Ok(Layout::Varying(blocks))
    }

    pub fn mixed(types: Types<'a>, ranks: u32) -> Result<Layout<'a>> {
        let block = |rank: usize| {
            let count = checked_count(types.counts.at(rank), "counts")?;
            let datatype = types::committed(types.datatypes[rank])?;
            let displacement = types.displacements.at(rank) as isize;
            let start = datatype.true_lower_bound().wrapping_add(displacement);
            if types.address.is_null() && count > 0 && datatype.size() > 0 && start == 0 {
                return Err(no_blocks());
            }
            Ok(MixedBlock {
                datatype,
                count,
                displacement,
            })
        };
        let blocks = (0..ranks as usize).map(block).collect::<Result<_>>()?;
        Ok(Layout::Mixed(Mixed::new(types.address, blocks)?))
    }

    pub fn into_owned(self) -> Layout<'static> {
        match self {
            Layout::Uniform(blocks) => Layout::Uniform(blocks),
            Layout::Varying(blocks) => Layout::Varying(blocks.into_owned()),
            Layout::Mixed(blocks) => Layout::Mixed(blocks),
        }
    }

    fn blocks(&self) -> &dyn Blocks {
        match self {
            Layout::Uniform(blocks) => blocks,
            Layout::Varying(blocks) => blocks,
            Layout::Mixed(blocks) => blocks,
        }
    }

    /// Whether no block has any bytes.
    pub fn is_empty(&self) -> bool {
        match self {
            Layout::Uniform(blocks) => blocks.block(0).bytes == 0,
            Layout::Varying(blocks) => blocks.is_empty(),
            Layout::Mixed(_) => false,
        }
    }

    /// Whether all blocks are as long on all processes, as far as the call says.
    pub fn is_equal(&self) -> bool {
        matches!(self, Layout::Uniform(_))
    }
}

impl Blocks for Layout<'_> {
    fn block(&self, rank: usize) -> Memory {
        self.blocks().block(rank)
    }

    fn whole(&self) -> Option<Memory> {
        self.blocks().whole()
    }
}

fn no_blocks() -> weft_error::Error {
    let what = "a null pointer for blocks that are not empty";
    argument(Class::Buffer, "buf", what)
}
