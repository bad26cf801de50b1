//! Datatypes: immutable, shared, built from other datatypes (MPI-5.0 §5.1).

use crate::body::Body;
use crate::bounds::Bounds;
use crate::copy::{Copier, InSection, Section};
use crate::shape::Shape;
use crate::signature::Signature;
use crate::subarray::{Darray, Subarray};
use crate::{Overflow, Predefined};
use std::sync::{Arc, LazyLock};
use weft_memory::{Layout, Memory};

/// A predefined type or one derived from another. Cloning is cheap; there is nothing to change in it.
#[derive(Clone, Debug)]
pub struct Datatype(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Predefined(Predefined),
    Derived(Arc<Derived>),
    /// Another one, in a buffer that is an array section of Fortran's.
    InSection(Arc<Sectioned>),
}

#[derive(Debug)]
struct Sectioned {
    old: Datatype,
    layout: Arc<InSection>,
}

#[derive(Debug)]
struct Derived {
    envelope: Envelope,
    /// Whether the constructor took large counts.
    large: bool,
    bounds: Bounds,
    lower: isize,
    extent: isize,
    signature: Signature,
    /// Whether all data of one element is one run.
    run: bool,
    copier: Arc<Copier>,
}

impl From<Predefined> for Datatype {
    fn from(predefined: Predefined) -> Datatype {
        Datatype(Kind::Predefined(predefined))
    }
}

impl Datatype {
    /// The datatype of a constructor whose arguments say `body`.
    pub(crate) fn derived(envelope: Envelope, body: Body) -> Result<Datatype, Overflow> {
        let extent = body.extent()?;
        let bounds = body.bounds.finished()?;
        let Body {
            origin,
            shape,
            signature,
            ..
        } = body;
        Ok(Datatype(Kind::Derived(Arc::new(Derived {
            envelope,
            large: false,
            bounds,
            lower: bounds.whole()?.low,
            extent,
            signature,
            run: matches!(shape, Shape::Run { .. }),
            copier: Arc::new(Copier::new(origin, bounds.size, extent, shape)),
        }))))
    }

    /// The same, its buffers lying in the virtual contiguous array of an array section (MPI-5.0 §19.1.12): an address of
    /// one is the section's first byte and a displacement in that array, and count, extent and displacements mean what
    /// they mean there.
    pub fn in_section(&self, section: Section) -> Datatype {
        Datatype(Kind::InSection(Arc::new(Sectioned {
            old: self.clone(),
            layout: Arc::new(InSection::new(section, self.copier().clone())),
        })))
    }

    /// What a constructor is to build on.
    pub(crate) fn body(&self) -> Body {
        match &self.0 {
            Kind::InSection(section) => section.old.body(),
            Kind::Predefined(predefined) => Body::of(*predefined),
            Kind::Derived(derived) => Body {
                bounds: derived.bounds,
                origin: derived.copier.origin(),
                shape: derived.copier.shape().clone(),
                signature: derived.signature.clone(),
            },
        }
    }

    /// Whether two are one and the same, as far as a look at them tells.
    pub(crate) fn is(&self, other: &Datatype) -> bool {
        match (&self.0, &other.0) {
            (Kind::Predefined(a), Kind::Predefined(b)) => a == b,
            (Kind::Derived(a), Kind::Derived(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The same, having been made by the large-count form of its constructor, as [`is_large`](Self::is_large) tells
    /// then. For a datatype just made.
    pub fn made_large(mut self, large: bool) -> Datatype {
        if let Kind::Derived(derived) = &mut self.0
            && let Some(derived) = Arc::get_mut(derived)
        {
            derived.large = large;
        }
        self
    }

    /// Whether the arguments in the envelope are large counts (§5.1.13).
    pub fn is_large(&self) -> bool {
        matches!(&self.0, Kind::Derived(derived) if derived.large)
    }

    pub fn envelope(&self) -> Envelope {
        match &self.0 {
            Kind::InSection(section) => Envelope::Dup {
                old: section.old.clone(),
            },
            Kind::Predefined(predefined) => Envelope::Named(*predefined),
            Kind::Derived(derived) => derived.envelope.clone(),
        }
    }

    /// Whether it is predefined, with or without a name: such a type is not freed, and predefined operations take it.
    pub fn predefined(&self) -> Option<Predefined> {
        match &self.0 {
            Kind::InSection(_) => None,
            Kind::Predefined(predefined) => Some(*predefined),
            Kind::Derived(derived) if derived.envelope.is_unnamed() => derived.signature.first(),
            Kind::Derived(_) => None,
        }
    }

    /// Bytes of data in one element (MPI_Type_size).
    #[inline]
    pub fn size(&self) -> usize {
        match &self.0 {
            Kind::Predefined(predefined) => predefined.size(),
            Kind::Derived(derived) => derived.bounds.size,
            Kind::InSection(section) => section.old.size(),
        }
    }

    /// Bytes from one element to the next (MPI_Type_get_extent).
    #[inline]
    pub fn extent(&self) -> isize {
        match &self.0 {
            Kind::Predefined(predefined) => predefined.extent() as isize,
            Kind::Derived(derived) => derived.extent,
            Kind::InSection(section) => section.old.extent(),
        }
    }

    #[inline]
    pub fn lower_bound(&self) -> isize {
        match &self.0 {
            Kind::Predefined(_) => 0,
            Kind::Derived(derived) => derived.lower,
            Kind::InSection(section) => section.old.lower_bound(),
        }
    }

    #[inline]
    pub fn true_lower_bound(&self) -> isize {
        match &self.0 {
            Kind::Predefined(_) => 0,
            Kind::Derived(derived) => derived.bounds.data.map_or(0, |data| data.low),
            Kind::InSection(section) => section.old.true_lower_bound(),
        }
    }

    #[inline]
    pub fn true_extent(&self) -> isize {
        match &self.0 {
            Kind::Predefined(predefined) => predefined.true_extent() as isize,
            Kind::Derived(derived) => derived.bounds.data.map_or(0, |data| data.high - data.low),
            Kind::InSection(section) => section.old.true_extent(),
        }
    }

    /// Whether `count` elements are one run of bytes without holes.
    pub fn is_contiguous(&self, count: usize) -> bool {
        let run = match &self.0 {
            Kind::Predefined(predefined) => predefined.element().is_run(),
            Kind::Derived(derived) => derived.run,
            Kind::InSection(_) => false,
        };
        run && (count <= 1 || self.extent() == self.size() as isize)
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
        self.with_signature(|signature| signature.elements(bytes))
    }

    /// The length of the first `elements` basic elements of data of this type: what
    /// [`elements`](Self::elements) counts as that many. None if the type has none, or it does not fit.
    pub fn bytes_of(&self, elements: usize) -> Option<usize> {
        self.with_signature(|signature| signature.bytes_of(elements))
    }

    pub(crate) fn with_signature<T>(&self, ask: impl FnOnce(&Signature) -> T) -> T {
        match &self.0 {
            Kind::Predefined(predefined) => ask(&Signature::of(*predefined)),
            Kind::Derived(derived) => ask(&derived.signature),
            Kind::InSection(section) => section.old.with_signature(ask),
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
        let layout: Arc<dyn Layout> = match &self.0 {
            Kind::InSection(section) => section.layout.clone(),
            _ if self.is_contiguous(count) => {
                let first = buffer.wrapping_offset(self.copier().origin());
                return Memory::contiguous(first, bytes);
            }
            _ => self.copier().clone(),
        };
        Memory {
            base: buffer,
            bytes,
            layout: Some(layout),
        }
    }

    /// Calls `visit` with displacement and length of each run of bytes of `count` elements, in type map order. Runs that
    /// touch may come as one, and elements that are one run each and touch do.
    pub fn visit_runs(&self, count: usize, visit: &mut impl FnMut(isize, usize)) {
        if let Kind::InSection(section) = &self.0 {
            return section.layout.visit_runs(0..self.size() * count, visit);
        }
        let copier = self.copier();
        if self.is_contiguous(count)
            && let Some(bytes) = self.size().checked_mul(count)
        {
            if bytes > 0 {
                visit(copier.origin(), bytes);
            }
            return;
        }
        for index in 0..count as isize {
            let at = copier.origin() + self.extent() * index;
            copier.shape().visit_runs(at, visit);
        }
    }

    /// The bytes from the lowest to the highest that `count` elements touch, relative to element 0's origin.
    pub fn span(&self, count: usize) -> Result<std::ops::Range<isize>, Overflow> {
        if count == 0 || self.size() == 0 {
            return Ok(0..0);
        }
        let gaps = isize::try_from(count - 1).map_err(|_| Overflow)?;
        let last = self.extent().checked_mul(gaps).ok_or(Overflow)?;
        let low = self.true_lower_bound().checked_add(last.min(0));
        let high = self.true_lower_bound().checked_add(self.true_extent());
        let high = high.and_then(|high| high.checked_add(last.max(0)));
        Ok(low.ok_or(Overflow)?..high.ok_or(Overflow)?)
    }

    /// The predefined datatype that all basic elements are of, if they are all of one.
    pub fn only_basic(&self) -> Option<Predefined> {
        match &self.0 {
            Kind::Predefined(predefined) => Some(*predefined),
            Kind::Derived(derived) => derived.signature.only(),
            Kind::InSection(section) => section.old.only_basic(),
        }
    }

    pub(crate) fn shared_copier(&self) -> Arc<Copier> {
        self.copier().clone()
    }

    fn copier(&self) -> &Arc<Copier> {
        /// One per predefined type, in the order of [`Predefined::ALL`].
        static PREDEFINED: LazyLock<Vec<Arc<Copier>>> = LazyLock::new(|| {
            let copier =
                |p: &Predefined| Arc::new(Copier::new(0, p.size(), p.extent() as isize, p.shape()));
            Predefined::ALL.iter().map(copier).collect()
        });
        match &self.0 {
            Kind::Predefined(predefined) => &PREDEFINED[*predefined as usize],
            Kind::Derived(derived) => &derived.copier,
            Kind::InSection(section) => section.old.copier(),
        }
    }
}

/// Takes the chain of old datatypes apart link by link: dropped by recursion, a long one would overflow the stack.
impl Drop for Derived {
    fn drop(&mut self) {
        let mut pending = vec![std::mem::replace(
            &mut self.envelope,
            Envelope::Named(Predefined::Byte),
        )];
        while let Some(envelope) = pending.pop() {
            for old in envelope.into_datatypes() {
                if let Kind::Derived(derived) = old.0
                    && let Some(mut last) = Arc::into_inner(derived)
                {
                    pending.push(std::mem::replace(
                        &mut last.envelope,
                        Envelope::Named(Predefined::Byte),
                    ));
                }
            }
        }
    }
}

/// How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` report (MPI-5.0 §5.1.13): a constructor
/// and its arguments, as they were given.
#[derive(Clone, Debug)]
pub enum Envelope {
    Named(Predefined),
    Dup {
        old: Datatype,
    },
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
    /// The stride in bytes.
    Hvector {
        count: usize,
        blocklength: usize,
        stride: isize,
        old: Datatype,
    },
    Indexed {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    /// The displacements in bytes.
    Hindexed {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    IndexedBlock {
        blocklength: usize,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    /// The displacements in bytes.
    HindexedBlock {
        blocklength: usize,
        displacements: Box<[isize]>,
        old: Datatype,
    },
    Struct {
        blocklengths: Box<[usize]>,
        displacements: Box<[isize]>,
        types: Box<[Datatype]>,
    },
    Subarray(Box<Subarray>, Datatype),
    Darray(Box<Darray>, Datatype),
    Resized {
        lower: isize,
        extent: isize,
        old: Datatype,
    },
    /// The predefined, unnamed types of Fortran: decimal digits and range; none where not given (§19.1.9).
    FortranReal {
        precision: Option<i32>,
        range: Option<i32>,
    },
    FortranComplex {
        precision: Option<i32>,
        range: Option<i32>,
    },
    FortranInteger {
        range: i32,
    },
}

impl Envelope {
    /// The datatypes among the arguments, in order.
    pub fn datatypes(&self) -> &[Datatype] {
        match self {
            Envelope::Dup { old }
            | Envelope::Contiguous { old, .. }
            | Envelope::Vector { old, .. }
            | Envelope::Hvector { old, .. }
            | Envelope::Indexed { old, .. }
            | Envelope::Hindexed { old, .. }
            | Envelope::IndexedBlock { old, .. }
            | Envelope::HindexedBlock { old, .. }
            | Envelope::Subarray(_, old)
            | Envelope::Darray(_, old)
            | Envelope::Resized { old, .. } => std::slice::from_ref(old),
            Envelope::Struct { types, .. } => types,
            Envelope::Named(_)
            | Envelope::FortranReal { .. }
            | Envelope::FortranComplex { .. }
            | Envelope::FortranInteger { .. } => &[],
        }
    }

    /// Whether it is a predefined type without a name.
    pub fn is_unnamed(&self) -> bool {
        matches!(
            self,
            Envelope::FortranReal { .. }
                | Envelope::FortranComplex { .. }
                | Envelope::FortranInteger { .. }
        )
    }

    /// The same datatypes as [`datatypes`](Self::datatypes); the other parts of the envelope are dropped.
    pub(crate) fn into_datatypes(self) -> Vec<Datatype> {
        match self {
            Envelope::Struct { types, .. } => types.into_vec(),
            other => other.datatypes().to_vec(),
        }
    }
}
