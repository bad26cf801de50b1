//! The constructors of derived datatypes but those of arrays (MPI-5.0 §5.1.2, §5.1.7).
//!
//! Each costs what its arguments are long, whatever the counts in them.

use crate::body::{Assembly, Body};
use crate::{Datatype, Envelope, Overflow};

impl Datatype {
    /// The same type map (MPI_Type_dup).
    pub fn dup(old: &Datatype) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Dup { old: old.clone() };
        Datatype::derived(envelope, old.body())
    }

    /// `count` elements of `old`, one after the other (MPI_Type_contiguous).
    pub fn contiguous(count: usize, old: &Datatype) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Contiguous {
            count,
            old: old.clone(),
        };
        Datatype::derived(envelope, old.body().block(count)?)
    }

    /// `count` blocks of `blocklength` elements of `old`, whose starts are `stride` elements apart
    /// (MPI_Type_vector).
    pub fn vector(
        count: usize,
        blocklength: usize,
        stride: isize,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Vector {
            count,
            blocklength,
            stride,
            old: old.clone(),
        };
        let stride = stride.checked_mul(old.extent()).ok_or(Overflow)?;
        let block = old.body().block(blocklength)?;
        Datatype::derived(envelope, block.repeated(count, stride)?)
    }

    /// As [`vector`](Self::vector), with the stride in bytes (MPI_Type_create_hvector).
    pub fn hvector(
        count: usize,
        blocklength: usize,
        stride: isize,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Hvector {
            count,
            blocklength,
            stride,
            old: old.clone(),
        };
        let block = old.body().block(blocklength)?;
        Datatype::derived(envelope, block.repeated(count, stride)?)
    }

    /// Blocks of `old` of differing lengths at displacements in elements (MPI_Type_indexed). The lists have one
    /// length.
    pub fn indexed(
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let body = old
            .body()
            .blocks(&blocklengths, &displacements, old.extent())?;
        let envelope = Envelope::Indexed {
            blocklengths,
            displacements,
            old: old.clone(),
        };
        Datatype::derived(envelope, body)
    }

    /// As [`indexed`](Self::indexed), with displacements in bytes (MPI_Type_create_hindexed).
    pub fn hindexed(
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let body = old.body().blocks(&blocklengths, &displacements, 1)?;
        let envelope = Envelope::Hindexed {
            blocklengths,
            displacements,
            old: old.clone(),
        };
        Datatype::derived(envelope, body)
    }

    /// Blocks of `old` of one length at displacements in elements (MPI_Type_create_indexed_block).
    pub fn indexed_block(
        blocklength: usize,
        displacements: Box<[isize]>,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let body = old
            .body()
            .block(blocklength)?
            .placed(&displacements, old.extent())?;
        let envelope = Envelope::IndexedBlock {
            blocklength,
            displacements,
            old: old.clone(),
        };
        Datatype::derived(envelope, body)
    }

    /// As [`indexed_block`](Self::indexed_block), with displacements in bytes (MPI_Type_create_hindexed_block).
    pub fn hindexed_block(
        blocklength: usize,
        displacements: Box<[isize]>,
        old: &Datatype,
    ) -> Result<Datatype, Overflow> {
        let body = old.body().block(blocklength)?.placed(&displacements, 1)?;
        let envelope = Envelope::HindexedBlock {
            blocklength,
            displacements,
            old: old.clone(),
        };
        Datatype::derived(envelope, body)
    }

    /// Blocks of differing types at displacements in bytes (MPI_Type_create_struct). The lists have one length.
    pub fn structure(
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        types: Box<[Datatype]>,
    ) -> Result<Datatype, Overflow> {
        let mut assembly = Assembly::with_capacity(types.len());
        let mut bodies = Bodies::default();
        for ((old, &blocklength), &displacement) in
            types.iter().zip(&*blocklengths).zip(&*displacements)
        {
            let (body, extent) = bodies.of(old)?;
            assembly.place(body, blocklength, *extent, displacement)?;
        }
        let envelope = Envelope::Struct {
            blocklengths,
            displacements,
            types,
        };
        Datatype::derived(envelope, assembly.finish())
    }

    /// The same data with other bounds (MPI_Type_create_resized).
    pub fn resized(old: &Datatype, lower: isize, extent: isize) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Resized {
            lower,
            extent,
            old: old.clone(),
        };
        Datatype::derived(envelope, old.body().resized(lower, extent)?)
    }
}

/// The bodies and extents of the types that were asked for last: long lists are made of a few types.
#[derive(Default)]
struct Bodies<'a> {
    known: Vec<(&'a Datatype, (Body, isize))>,
}

impl<'a> Bodies<'a> {
    /// Types that are looked through one by one before their bodies are made anew.
    const KEPT: usize = 8;

    fn of(&mut self, datatype: &'a Datatype) -> Result<&(Body, isize), Overflow> {
        let known = self.known.iter().position(|(known, _)| known.is(datatype));
        let at = match known {
            Some(at) => at,
            None => {
                let body = datatype.body();
                let extent = body.extent()?;
                if self.known.len() == Self::KEPT {
                    self.known.clear();
                }
                self.known.push((datatype, (body, extent)));
                self.known.len() - 1
            }
        };
        Ok(&self.known[at].1)
    }
}
