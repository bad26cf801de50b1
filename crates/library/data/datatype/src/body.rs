//! What a datatype is apart from how it was made: bounds, shape and signature, and how they combine.

use crate::bounds::Bounds;
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
        let mut list = List::with_capacity(count);
        for displacement in displacements {
            list.push(self.origin + displacement * unit, size, &self.shape);
        }
        let (origin, shape) = list.finish();
        Ok(Body {
            bounds,
            origin,
            shape,
            signature: self.signature.repeat(count),
        })
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

    /// Appends `body`, its origin at `displacement`.
    pub fn place(&mut self, body: &Body, displacement: isize) -> Result<(), Overflow> {
        self.bounds = self.bounds.joined(body.bounds.moved(displacement)?)?;
        let size = body.bounds.size;
        if size > 0 {
            self.list
                .push(body.origin + displacement, size, &body.shape);
            self.signature.push(&body.signature);
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
