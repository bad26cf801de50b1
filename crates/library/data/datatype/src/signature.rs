//! Type signatures: the basic types of a type map in order, without their places (MPI-5.0 §5.1).
//!
//! A signature is a list of stretches, each so many times the same unit: a basic type, or another signature. Units
//! that follow each other are counted, not listed. The depth is bounded as that of shapes is.

use crate::Predefined;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Not a slice of its own: a long one is not copied once it is complete.
    stretches: Arc<Vec<Stretch>>,
    bytes: usize,
    elements: usize,
    depth: u32,
}

#[derive(Clone, Debug)]
struct Stretch {
    unit: Unit,
    count: usize,
    /// Packed bytes and basic elements of the stretches before this one.
    bytes_before: usize,
    elements_before: usize,
}

#[derive(Clone, Debug)]
enum Unit {
    Basic(Predefined),
    Nested(Arc<Signature>),
}

impl Unit {
    fn bytes(&self) -> usize {
        match self {
            Unit::Basic(predefined) => predefined.size(),
            Unit::Nested(signature) => signature.bytes,
        }
    }

    /// Basic elements as `MPI_Get_elements` counts them: a pair is two.
    fn elements(&self) -> usize {
        match self {
            Unit::Basic(predefined) if predefined.element().fields().is_some() => 2,
            Unit::Basic(_) => 1,
            Unit::Nested(signature) => signature.elements,
        }
    }

    /// Whether two units are the same, as far as a look at them tells.
    fn is(&self, other: &Unit) -> bool {
        match (self, other) {
            (Unit::Basic(a), Unit::Basic(b)) => a == b,
            (Unit::Nested(a), Unit::Nested(b)) => Arc::ptr_eq(&a.stretches, &b.stretches),
            _ => false,
        }
    }
}

impl Signature {
    const DEEPEST: u32 = 32;
    /// Signatures up to this length are spliced into the one they become part of.
    const SHORT: usize = 16;

    pub fn of(predefined: Predefined) -> Signature {
        let mut builder = Builder::default();
        builder.append(&Unit::Basic(predefined), 1);
        builder.finish()
    }

    pub fn empty() -> Signature {
        Builder::default().finish()
    }

    /// The first basic type, if there is one.
    pub fn first(&self) -> Option<Predefined> {
        match &self.stretches.first()?.unit {
            Unit::Basic(predefined) => Some(*predefined),
            Unit::Nested(signature) => signature.first(),
        }
    }

    /// The signature `count` times.
    pub fn repeat(&self, count: usize) -> Signature {
        if count == 1 || self.bytes == 0 {
            return self.clone();
        }
        let mut builder = Builder::default();
        if count > 0 {
            builder.push(self, count);
        }
        builder.finish()
    }

    /// How many basic elements `bytes` of data with this signature, again and again, are; none if the last one is
    /// cut.
    pub fn elements(&self, bytes: usize) -> Option<usize> {
        if self.bytes == 0 {
            return (bytes == 0).then_some(0);
        }
        let whole = (bytes / self.bytes).checked_mul(self.elements)?;
        Some(whole + self.elements_of_part(bytes % self.bytes)?)
    }

    fn elements_of_part(&self, bytes: usize) -> Option<usize> {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.bytes_before <= bytes);
        let stretch = &self.stretches[after - 1];
        let rest = bytes - stretch.bytes_before;
        let (whole, cut) = (rest / stretch.unit.bytes(), rest % stretch.unit.bytes());
        let elements = stretch.elements_before + whole * stretch.unit.elements();
        match &stretch.unit {
            _ if cut == 0 => Some(elements),
            Unit::Nested(signature) => Some(elements + signature.elements_of_part(cut)?),
            Unit::Basic(predefined) => match predefined.element().fields() {
                Some([value, _]) if value.1 == cut => Some(elements + 1),
                _ => None,
            },
        }
    }

    /// The packed length of the first `elements` basic elements of data with this signature, again and again; none
    /// if there are none or they are too long.
    pub fn bytes_of(&self, elements: usize) -> Option<usize> {
        if self.elements == 0 {
            return (elements == 0).then_some(0);
        }
        let whole = (elements / self.elements).checked_mul(self.bytes)?;
        whole.checked_add(self.bytes_of_part(elements % self.elements))
    }

    fn bytes_of_part(&self, elements: usize) -> usize {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.elements_before <= elements);
        let stretch = &self.stretches[after - 1];
        let rest = elements - stretch.elements_before;
        let (whole, cut) = (
            rest / stretch.unit.elements(),
            rest % stretch.unit.elements(),
        );
        let bytes = stretch.bytes_before + whole * stretch.unit.bytes();
        match &stretch.unit {
            _ if cut == 0 => bytes,
            Unit::Nested(signature) => bytes + signature.bytes_of_part(cut),
            Unit::Basic(predefined) => {
                let fields = predefined.element().fields();
                bytes + fields.map_or(0, |[value, _]| value.1)
            }
        }
    }

    /// The basic type of all elements, if it is one.
    pub fn only(&self) -> Option<Predefined> {
        let mut found = self.stretches.iter().map(|stretch| match &stretch.unit {
            Unit::Basic(predefined) => Some(*predefined),
            Unit::Nested(signature) => signature.only(),
        });
        let first = found.next()??;
        found.all(|other| other == Some(first)).then_some(first)
    }

    /// Calls `visit` with each basic type and how often it follows, in order.
    pub fn visit(&self, visit: &mut impl FnMut(Predefined, usize)) {
        for stretch in self.stretches.iter() {
            match &stretch.unit {
                Unit::Basic(predefined) => visit(*predefined, stretch.count),
                Unit::Nested(signature) => {
                    (0..stretch.count).for_each(|_| signature.visit(visit));
                }
            }
        }
    }

    /// The sum over all basic elements of what `bytes` says of each type; none if it does not fit.
    pub fn sum(&self, bytes: &impl Fn(Predefined) -> usize) -> Option<usize> {
        self.stretches.iter().try_fold(0usize, |sum, stretch| {
            let unit = match &stretch.unit {
                Unit::Basic(predefined) => bytes(*predefined),
                Unit::Nested(signature) => signature.sum(bytes)?,
            };
            sum.checked_add(unit.checked_mul(stretch.count)?)
        })
    }
}

/// Puts signatures one after the other.
#[derive(Default)]
pub(crate) struct Builder {
    stretches: Vec<Stretch>,
    bytes: usize,
    elements: usize,
}

impl Builder {
    /// Appends a signature `count` times, not none.
    pub fn push(&mut self, signature: &Signature, count: usize) {
        match signature.stretches.as_slice() {
            [] => {}
            [only] => self.append(&only.unit, only.count * count),
            stretches
                if count == 1
                    && (stretches.len() <= Signature::SHORT
                        || signature.depth >= Signature::DEEPEST) =>
            {
                for stretch in stretches {
                    self.append(&stretch.unit, stretch.count);
                }
            }
            _ => self.append(&Unit::Nested(Arc::new(signature.clone())), count),
        }
    }

    fn append(&mut self, unit: &Unit, count: usize) {
        let (bytes_before, elements_before) = (self.bytes, self.elements);
        self.bytes += unit.bytes() * count;
        self.elements += unit.elements() * count;
        match self.stretches.last_mut() {
            Some(last) if last.unit.is(unit) => last.count += count,
            _ => self.stretches.push(Stretch {
                unit: unit.clone(),
                count,
                bytes_before,
                elements_before,
            }),
        }
    }

    pub fn finish(self) -> Signature {
        let depth = |stretch: &Stretch| match &stretch.unit {
            Unit::Basic(_) => 0,
            Unit::Nested(signature) => signature.depth + 1,
        };
        Signature {
            depth: self.stretches.iter().map(depth).max().unwrap_or(0),
            stretches: Arc::new(self.stretches),
            bytes: self.bytes,
            elements: self.elements,
        }
    }
}
