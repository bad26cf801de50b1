//! The constructors of derived datatypes but those of arrays (MPI-5.0 §5.1.2, §5.1.7).
//!
//! Each costs what its arguments are long, whatever the counts in them.

use crate::body::{Assembly, Body, Part};
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
        let mut olds = Olds::default();
        for ((old, &blocklength), &displacement) in
            types.iter().zip(&*blocklengths).zip(&*displacements)
        {
            let part = olds.of(old, &mut assembly)?;
            assembly.place(part, blocklength, displacement)?;
        }
        let body = olds.finish(assembly)?;
        let envelope = Envelope::Struct {
            blocklengths,
            displacements,
            types,
        };
        Datatype::derived(envelope, body)
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

/// The types that were asked for last: long lists are made of a few types.
#[derive(Default)]
struct Olds<'a> {
    known: Vec<(&'a Datatype, Part)>,
}

impl<'a> Olds<'a> {
    /// Types that are looked through one by one before all are made anew.
    const KEPT: usize = 8;

    #[inline]
    fn of(
        &mut self,
        datatype: &'a Datatype,
        assembly: &mut Assembly,
    ) -> Result<&mut Part, Overflow> {
        let known = self.known.iter().position(|(known, _)| known.is(datatype));
        let at = match known {
            Some(at) => at,
            None => self.make(datatype, assembly)?,
        };
        Ok(&mut self.known[at].1)
    }

    #[cold]
    fn make(&mut self, datatype: &'a Datatype, assembly: &mut Assembly) -> Result<usize, Overflow> {
        if self.known.len() == Self::KEPT {
            self.end(assembly)?;
        }
        let body = datatype.body();
        let extent = body.extent()?;
        self.known.push((datatype, Part::new(body, extent)));
        Ok(self.known.len() - 1)
    }

    fn end(&mut self, assembly: &mut Assembly) -> Result<(), Overflow> {
        self.known
            .drain(..)
            .try_for_each(|(_, part)| assembly.bound(&part))
    }

    fn finish(mut self, mut assembly: Assembly) -> Result<Body, Overflow> {
        self.end(&mut assembly)?;
        Ok(assembly.finish())
    }
}
