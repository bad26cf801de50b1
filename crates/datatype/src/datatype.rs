//! Datatypes: immutable, shared, built from other datatypes (MPI-5.0 §5.1).

use crate::copy::Copier;
use crate::shape::Shape;
use crate::{Overflow, Predefined};
use std::sync::{Arc, LazyLock};
use weft_transport::{Layout, Memory};

/// A predefined type or one derived from another. Cloning is cheap; there is nothing to change in it.
#[derive(Clone, Debug)]
pub struct Datatype(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Predefined(Predefined),
    Derived(Arc<Derived>),
}

/// How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` report (§5.1.13).
#[derive(Clone, Debug)]
pub enum Envelope {
    Named(Predefined),
    Contiguous {
        count: usize,
        old: Datatype,
    },
    Vector {
        count: usize,
        blocklength: usize,
        stride: isize,
        old: Datatype,
    },
}

#[derive(Debug)]
struct Derived {
    envelope: Envelope,
    bounds: Bounds,
    /// The one predefined type in the type map, and how often.
    leaf: Predefined,
    leaves: usize,
    /// Whether all data of one element is one run.
    run: bool,
    copier: Arc<Copier>,
}

/// Where one element's bytes lie relative to the buffer address. Everything is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    size: usize,
    lower: isize,
    extent: isize,
    true_lower: isize,
    true_extent: isize,
    alignment: usize,
}

impl From<Predefined> for Datatype {
    fn from(predefined: Predefined) -> Datatype {
        Datatype(Kind::Predefined(predefined))
    }
}

impl Datatype {
    /// `count` elements of `old`, one after the other (MPI_Type_contiguous).
    pub fn contiguous(count: usize, old: &Datatype) -> Result<Datatype, Overflow> {
        let envelope = Envelope::Contiguous {
            count,
            old: old.clone(),
        };
        Datatype::blocks(envelope, old, 1, count, 0)
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
        let stride_bytes = stride.checked_mul(old.extent()).ok_or(Overflow)?;
        Datatype::blocks(envelope, old, count, blocklength, stride_bytes)
    }

    /// `count` blocks, `stride` bytes apart, of `blocklength` elements of `old`.
    fn blocks(
        envelope: Envelope,
        old: &Datatype,
        count: usize,
        blocklength: usize,
        stride: isize,
    ) -> Result<Datatype, Overflow> {
        let (leaf, leaves) = old.leaves();
        let elements = count.checked_mul(blocklength).ok_or(Overflow)?;
        let block = old.bounds().repeated(blocklength, old.extent())?;
        let bounds = block.repeated(count, stride)?;
        let (origin, shape) = if bounds.size == 0 {
            (0, Shape::Run { size: 0 })
        } else {
            let (origin, shape) = old.shape();
            let shape = shape.repeat(old.size(), blocklength, old.extent());
            (origin, shape.repeat(block.size, count, stride))
        };
        Ok(Datatype(Kind::Derived(Arc::new(Derived {
            envelope,
            bounds,
            leaf,
            leaves: leaves.checked_mul(elements).ok_or(Overflow)?,
            run: matches!(shape, Shape::Run { .. }),
            copier: Arc::new(Copier::new(origin, bounds.size, bounds.extent, shape)),
        }))))
    }

    pub fn envelope(&self) -> Envelope {
        match &self.0 {
            Kind::Predefined(predefined) => Envelope::Named(*predefined),
            Kind::Derived(derived) => derived.envelope.clone(),
        }
    }

    /// The predefined type this is, if it is one.
    pub fn predefined(&self) -> Option<Predefined> {
        match &self.0 {
            Kind::Predefined(predefined) => Some(*predefined),
            Kind::Derived(_) => None,
        }
    }

    /// Bytes of data in one element (MPI_Type_size).
    #[inline]
    pub fn size(&self) -> usize {
        match &self.0 {
            Kind::Predefined(predefined) => predefined.size(),
            Kind::Derived(derived) => derived.bounds.size,
        }
    }

    /// Bytes from one element to the next (MPI_Type_get_extent).
    #[inline]
    pub fn extent(&self) -> isize {
        match &self.0 {
            Kind::Predefined(predefined) => predefined.extent() as isize,
            Kind::Derived(derived) => derived.bounds.extent,
        }
    }

    #[inline]
    pub fn lower_bound(&self) -> isize {
        self.bounds().lower
    }

    #[inline]
    pub fn true_lower_bound(&self) -> isize {
        self.bounds().true_lower
    }

    #[inline]
    pub fn true_extent(&self) -> isize {
        self.bounds().true_extent
    }

    /// The strictest alignment of a basic type in the type map.
    #[inline]
    pub fn alignment(&self) -> usize {
        self.bounds().alignment
    }

    /// Whether `count` elements are one run of bytes without holes.
    pub fn is_contiguous(&self, count: usize) -> bool {
        let run = match &self.0 {
            Kind::Predefined(predefined) => predefined.element().is_run(),
            Kind::Derived(derived) => derived.run,
        };
        run && (count <= 1 || self.extent() == self.size() as isize)
    }

    /// The signature for reductions: the predefined type in the type map and how often one element has it.
    pub fn leaves(&self) -> (Predefined, usize) {
        match &self.0 {
            Kind::Predefined(predefined) => (*predefined, 1),
            Kind::Derived(derived) => (derived.leaf, derived.leaves),
        }
    }

    /// How many whole elements `bytes` of received data are (MPI_Get_count); none if it is not a whole number.
    pub fn count(&self, bytes: usize) -> Option<usize> {
        match self.size() {
            0 if bytes == 0 => Some(0),
            0 => None,
            size => bytes.is_multiple_of(size).then(|| bytes / size),
        }
    }

    /// How many basic elements `bytes` of received data are (MPI_Get_elements): a pair is two. None if the
    /// last one is cut.
    pub fn elements(&self, bytes: usize) -> Option<usize> {
        let (leaf, _) = self.leaves();
        if self.size() == 0 {
            return (bytes == 0).then_some(0);
        }
        let (whole, rest) = (bytes / leaf.size(), bytes % leaf.size());
        match leaf.element().fields() {
            None => (rest == 0).then_some(whole),
            Some(_) if rest == 0 => Some(2 * whole),
            Some([value, _]) => (rest == value.1).then_some(2 * whole + 1),
        }
    }

    /// `count` elements at `buffer` as the engine wants them. `buffer` is what the MPI caller gave: element
    /// 0's origin, not its lowest byte.
    #[inline]
    pub fn memory(&self, buffer: *mut u8, count: usize) -> Result<Memory, Overflow> {
        let bytes = self.size().checked_mul(count).ok_or(Overflow)?;
        match &self.0 {
            Kind::Predefined(predefined) if predefined.size() == predefined.extent() => {
                Ok(Memory::contiguous(buffer, bytes))
            }
            _ => Ok(self.scattered(buffer, count, bytes)),
        }
    }

    fn scattered(&self, buffer: *mut u8, count: usize, bytes: usize) -> Memory {
        let copier = self.copier();
        if self.is_contiguous(count) {
            return Memory::contiguous(buffer.wrapping_offset(copier.origin()), bytes);
        }
        let layout: Arc<dyn Layout> = copier.clone();
        Memory {
            base: buffer,
            bytes,
            layout: Some(layout),
        }
    }

    fn copier(&self) -> &Arc<Copier> {
        /// One per predefined type, in the order of [`Predefined::ALL`].
        static PREDEFINED: LazyLock<Vec<Arc<Copier>>> = LazyLock::new(|| {
            let copier = |p: &Predefined| {
                Arc::new(Copier::new(
                    0,
                    p.size(),
                    p.extent() as isize,
                    p.layout_shape(),
                ))
            };
            Predefined::ALL.iter().map(copier).collect()
        });
        match &self.0 {
            Kind::Predefined(predefined) => &PREDEFINED[*predefined as usize],
            Kind::Derived(derived) => &derived.copier,
        }
    }

    #[inline]
    fn bounds(&self) -> Bounds {
        match &self.0 {
            Kind::Predefined(predefined) => Bounds {
                size: predefined.size(),
                lower: 0,
                extent: predefined.extent() as isize,
                true_lower: 0,
                true_extent: predefined.true_extent() as isize,
                alignment: predefined.alignment(),
            },
            Kind::Derived(derived) => derived.bounds,
        }
    }

    /// One element: where its first byte lies, and its shape from there.
    fn shape(&self) -> (isize, Shape) {
        match &self.0 {
            Kind::Predefined(predefined) => (0, predefined.layout_shape()),
            Kind::Derived(derived) => (derived.copier.origin(), derived.copier.shape().clone()),
        }
    }
}

impl Predefined {
    fn layout_shape(self) -> Shape {
        match self.element().fields() {
            Some(fields) => Shape::sequence(&fields),
            None => Shape::Run { size: self.size() },
        }
    }
}

impl Bounds {
    /// The bounds of `count` elements whose origins are `stride` apart. An empty type map has all bounds 0.
    fn repeated(self, count: usize, stride: isize) -> Result<Bounds, Overflow> {
        let empty = Bounds {
            size: 0,
            lower: 0,
            extent: 0,
            true_lower: 0,
            true_extent: 0,
            alignment: self.alignment,
        };
        if count == 0 || self == empty {
            return Ok(empty);
        }
        let last = isize::try_from(count - 1).map_err(|_| Overflow)?;
        let size = self
            .size
            .checked_mul(count)
            .filter(|&s| isize::try_from(s).is_ok());
        let reach = last.checked_mul(stride).ok_or(Overflow)?;
        let spread = |lower: isize, extent: isize| {
            let low = lower.checked_add(reach.min(0))?;
            let high = lower.checked_add(extent)?.checked_add(reach.max(0))?;
            Some((low, high.checked_sub(low)?))
        };
        let (lower, extent) = spread(self.lower, self.extent).ok_or(Overflow)?;
        let (true_lower, true_extent) =
            spread(self.true_lower, self.true_extent).ok_or(Overflow)?;
        Ok(Bounds {
            size: size.ok_or(Overflow)?,
            lower,
            extent,
            true_lower,
            true_extent,
            alignment: self.alignment,
        })
    }
}
