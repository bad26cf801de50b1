//! What a datatype is apart from how it was made: bounds, shape and signature, and how they combine.

use crate::bounds::{Bounds, Span};
use crate::shape::{List, Shape};
use crate::signature::{self, Signature};
use crate::{Overflow, Predefined};

#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub bounds: Bounds,
    /// Displacement of the first byte in type map order.
    pub origin: isize,
    pub shape: Shape,
    pub signature: Signature,
}

impl Body {
    pub fn of(predefined: Predefined) -> Body {
        Body {
            bounds: Bounds::of(predefined),
            origin: 0,
            shape: predefined.shape(),
            signature: Signature::of(predefined),
        }
    }

    fn empty() -> Body {
        Body {
            bounds: Bounds::EMPTY,
            origin: 0,
            shape: Shape::EMPTY,
            signature: Signature::empty(),
        }
    }

    pub fn extent(&self) -> Result<isize, Overflow> {
        let whole = self.bounds.whole()?;
        Ok(whole.high - whole.low)
    }

    /// `count` copies whose origins are `stride` bytes apart.
    pub fn repeated(&self, count: usize, stride: isize) -> Result<Body, Overflow> {
        if count == 0 {
            return Ok(Body::empty());
        }
        let bounds = self.bounds.repeated(count, stride)?;
        let size = self.bounds.size;
        let shape = match size {
            0 => Shape::EMPTY,
            _ => self.shape.clone().repeat(size, count, stride),
        };
        Ok(Body {
            bounds,
            origin: self.origin,
            shape,
            signature: self.signature.repeat(count),
        })
    }

    /// A copy at each of some displacements, which count `unit` bytes each.
    pub fn placed(&self, displacements: &[isize], unit: isize) -> Result<Body, Overflow> {
        let ends = displacements.iter().min().zip(displacements.iter().max());
        let Some((least, greatest)) = ends else {
            return Ok(Body::empty());
        };
        let bytes = |displacement: isize| displacement.checked_mul(unit).ok_or(Overflow);
        let (count, size) = (displacements.len(), self.bounds.size);
        let bounds = self
            .bounds
            .placed(bytes(*least)?, bytes(*greatest)?, count)?;
        if size == 0 {
            return Ok(Body {
                bounds,
                ..Body::empty()
            });
        }
        let (origin, shape) = match &self.shape {
            Shape::Run { .. } if !touch(displacements, unit, size) => {
                let shape = Shape::runs_at(displacements, unit, size);
                (self.origin + displacements[0] * unit, shape)
            }
            shape => {
                let mut list = List::with_capacity(count);
                for displacement in displacements {
                    list.push(self.origin + displacement * unit, size, shape);
                }
                list.finish()
            }
        };
        Ok(Body {
            bounds,
            origin,
            shape,
            signature: self.signature.repeat(count),
        })
    }

    /// A block of so many elements, one after the other, at each of some displacements, which count `unit` bytes each.
    pub fn blocks(
        &self,
        blocklengths: &[usize],
        displacements: &[isize],
        unit: isize,
    ) -> Result<Body, Overflow> {
        let blocks = || {
            blocklengths
                .iter()
                .copied()
                .zip(displacements.iter().copied())
        };
        let extent = self.extent()?;
        // Where the origins of elements lie, and how many there are.
        let mut origins: Option<Span> = None;
        let mut count = 0usize;
        for (blocklength, displacement) in blocks().filter(|&(blocklength, _)| blocklength > 0) {
            let first = displacement.checked_mul(unit).ok_or(Overflow)?;
            let reach = isize::try_from(blocklength - 1).map_err(|_| Overflow)?;
            let reach = reach.checked_mul(extent).ok_or(Overflow)?;
            let last = first.checked_add(reach).ok_or(Overflow)?;
            let span = Span::new(first.min(last), first.max(last));
            origins = Some(origins.map_or(span, |others| others.joined(span)));
            count = count.checked_add(blocklength).ok_or(Overflow)?;
        }
        let Some(origins) = origins else {
            return Ok(Body::empty());
        };
        let bounds = self.bounds.placed(origins.low, origins.high, count)?;
        if self.bounds.size == 0 {
            return Ok(Body {
                bounds,
                ..Body::empty()
            });
        }
        let mut list = List::with_capacity(displacements.len());
        for (blocklength, displacement) in blocks().filter(|&(blocklength, _)| blocklength > 0) {
            self.append_block(&mut list, blocklength, extent, displacement * unit);
        }
        let (origin, shape) = list.finish();
        Ok(Body {
            bounds,
            origin,
            shape,
            signature: self.signature.repeat(count),
        })
    }

    /// Appends a block of `count` elements, its origin at `displacement`. There are data, and bounds were checked.
    #[inline]
    fn append_block(&self, list: &mut List, count: usize, extent: isize, displacement: isize) {
        let (size, at) = (self.bounds.size, self.origin + displacement);
        match &self.shape {
            Shape::Run { .. } if count == 1 || extent == size as isize => {
                list.append_run(at, size * count)
            }
            shape if count == 1 => list.push(at, size, shape),
            shape => list.push(at, size * count, &shape.clone().repeat(size, count, extent)),
        }
    }

    /// `count` copies, one after the other.
    pub fn block(&self, count: usize) -> Result<Body, Overflow> {
        self.repeated(count, self.extent()?)
    }

    pub fn moved(&self, by: isize) -> Result<Body, Overflow> {
        Ok(Body {
            bounds: self.bounds.moved(by)?,
            origin: self.origin.checked_add(by).ok_or(Overflow)?,
            ..self.clone()
        })
    }

    /// The same with both bounds set.
    pub fn resized(&self, lower: isize, extent: isize) -> Result<Body, Overflow> {
        Ok(Body {
            bounds: self.bounds.resized(lower, extent)?,
            ..self.clone()
        })
    }
}

impl Predefined {
    pub(crate) fn shape(self) -> Shape {
        let Some(fields) = self.element().fields() else {
            return Shape::Run { size: self.size() };
        };
        let mut list = List::default();
        for (displacement, size) in fields {
            list.push(displacement as isize, size, &Shape::Run { size });
        }
        list.finish().1
    }
}

/// Whether a run of `size` bytes at one of the displacements goes on with the one before. Their bounds were checked.
fn touch(displacements: &[isize], unit: isize, size: usize) -> bool {
    let mut pairs = displacements.windows(2);
    pairs.any(|pair| (pair[1] - pair[0]) * unit == size as isize)
}

/// Puts bodies one after the other.
pub(crate) struct Assembly {
    bounds: Bounds,
    list: List,
    signature: signature::Builder,
}

impl Assembly {
    pub fn with_capacity(parts: usize) -> Assembly {
        Assembly {
            bounds: Bounds::EMPTY,
            list: List::with_capacity(parts),
            signature: signature::Builder::default(),
        }
    }

    /// Appends a block of `count` elements of `body`, `extent` bytes apart, its origin at `displacement`.
    pub fn place(
        &mut self,
        body: &Body,
        count: usize,
        extent: isize,
        displacement: isize,
    ) -> Result<(), Overflow> {
        if count == 0 {
            return Ok(());
        }
        let block = body.bounds.repeated(count, extent)?;
        self.bounds = self.bounds.joined(block.moved(displacement)?)?;
        if body.bounds.size > 0 {
            body.append_block(&mut self.list, count, extent, displacement);
            self.signature.push(&body.signature, count);
        }
        Ok(())
    }

    pub fn finish(self) -> Body {
        let (origin, shape) = self.list.finish();
        Body {
            bounds: self.bounds,
            origin,
            shape,
            signature: self.signature.finish(),
        }
    }
}
