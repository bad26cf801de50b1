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
        let mut origins = Origins::default();
        for (blocklength, displacement) in blocks().filter(|&(blocklength, _)| blocklength > 0) {
            let first = displacement.checked_mul(unit).ok_or(Overflow)?;
            origins.add(first, blocklength, extent)?;
        }
        let Some(bounds) = origins.bounds_of(self)? else {
            return Ok(Body::empty());
        };
        let count = origins.count;
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

/// Where the origins of elements lie, and how many there are.
#[derive(Default)]
struct Origins {
    span: Option<Span>,
    count: usize,
}

impl Origins {
    /// Adds those of `count` elements, not none, `extent` bytes apart.
    #[inline]
    fn add(&mut self, first: isize, count: usize, extent: isize) -> Result<Span, Overflow> {
        let reach = isize::try_from(count - 1).map_err(|_| Overflow)?;
        let reach = reach.checked_mul(extent).ok_or(Overflow)?;
        let last = first.checked_add(reach).ok_or(Overflow)?;
        let span = Span::new(first.min(last), first.max(last));
        self.span = Some(self.span.map_or(span, |others| others.joined(span)));
        self.count = self.count.checked_add(count).ok_or(Overflow)?;
        Ok(span)
    }

    /// The bounds of all, each a `body`; none if there are none.
    fn bounds_of(&self, body: &Body) -> Result<Option<Bounds>, Overflow> {
        let placed = |span: Span| body.bounds.placed(span.low, span.high, self.count);
        self.span.map(placed).transpose()
    }
}

/// A body that an [`Assembly`] has blocks of, whose elements are `extent` bytes apart.
pub(crate) struct Part {
    body: Body,
    extent: isize,
    origins: Origins,
}

impl Part {
    pub fn new(body: Body, extent: isize) -> Part {
        Part {
            body,
            extent,
            origins: Origins::default(),
        }
    }
}

/// Puts bodies one after the other.
pub(crate) struct Assembly {
    bounds: Bounds,
    bytes: usize,
    list: List,
    signature: signature::Builder,
}

impl Assembly {
    pub fn with_capacity(parts: usize) -> Assembly {
        Assembly {
            bounds: Bounds::EMPTY,
            bytes: 0,
            list: List::with_capacity(parts),
            signature: signature::Builder::default(),
        }
    }

    /// Appends a block of `count` elements of `part`, its origin at `displacement`. Its bounds come with
    /// [`bound`](Self::bound), of all blocks of the part together; here is checked what is reckoned with meanwhile.
    #[inline]
    pub fn place(
        &mut self,
        part: &mut Part,
        count: usize,
        displacement: isize,
    ) -> Result<(), Overflow> {
        if count == 0 {
            return Ok(());
        }
        let Part {
            body,
            extent,
            origins,
        } = part;
        let block = origins.add(displacement, count, *extent)?;
        let Some(data) = body.bounds.data else {
            return Ok(());
        };
        let ends = block
            .low
            .checked_add(data.low)
            .zip(block.high.checked_add(data.high));
        let bytes = body.bounds.size.checked_mul(count).ok_or(Overflow)?;
        self.bytes = self.bytes.checked_add(bytes).ok_or(Overflow)?;
        ends.ok_or(Overflow)?;
        if bytes > 0 {
            body.append_block(&mut self.list, count, *extent, displacement);
            self.signature.push(&body.signature, count);
        }
        Ok(())
    }

    /// Takes account of where the blocks of `part` are.
    pub fn bound(&mut self, part: &Part) -> Result<(), Overflow> {
        if let Some(bounds) = part.origins.bounds_of(&part.body)? {
            self.bounds = self.bounds.joined(bounds)?;
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
