//! Size, bounds, extent and alignment of a type map (MPI-5.0 §5.1.6 to §5.1.8).

use crate::{Overflow, Predefined};

/// Displacements from `low` up to and without `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub low: isize,
    pub high: isize,
}

/// What a type map says beside its entries' types. All sums were checked: they fit into 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub size: usize,
    pub alignment: usize,
    /// Where the data lie; none without data.
    pub data: Option<Span>,
    /// From the lowest lower bound to the highest upper bound of the types it is made of; none without data.
    pub parts: Option<Span>,
    /// The bounds that somebody set (`MPI_Type_create_resized` and the array constructors): they outweigh
    /// those that follow from the data, in all types built on this one (§5.1.7).
    pub markers: Option<Span>,
}

impl Span {
    pub fn new(low: isize, high: isize) -> Span {
        Span { low, high }
    }

    fn moved(self, by: isize) -> Result<Span, Overflow> {
        let moved = |bound: isize| bound.checked_add(by).ok_or(Overflow);
        Ok(Span::new(moved(self.low)?, moved(self.high)?))
    }

    pub fn joined(self, other: Span) -> Span {
        Span::new(self.low.min(other.low), self.high.max(other.high))
    }

    fn extent(self) -> Result<isize, Overflow> {
        self.high.checked_sub(self.low).ok_or(Overflow)
    }
}

/// The join of two spans of which any may be missing.
fn joined(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.joined(b)),
        (one, other) => one.or(other),
    }
}

impl Bounds {
    /// Of an empty type map.
    pub const EMPTY: Bounds = Bounds {
        size: 0,
        alignment: 1,
        data: None,
        parts: None,
        markers: None,
    };

    pub fn of(predefined: Predefined) -> Bounds {
        Bounds {
            size: predefined.size(),
            alignment: predefined.alignment(),
            data: Some(Span::new(0, predefined.true_extent() as isize)),
            parts: Some(Span::new(0, predefined.extent() as isize)),
            markers: None,
        }
    }

    /// The same with both bounds set.
    pub fn resized(self, lower: isize, extent: isize) -> Result<Bounds, Overflow> {
        let upper = lower.checked_add(extent).ok_or(Overflow)?;
        Ok(Bounds {
            markers: Some(Span::new(lower, upper)),
            ..self
        })
    }

    /// Of `count` copies whose origins are `stride` apart.
    pub fn repeated(self, count: usize, stride: isize) -> Result<Bounds, Overflow> {
        match count {
            0 => return Ok(Bounds::EMPTY),
            1 => return Ok(self),
            _ => {}
        }
        let last = isize::try_from(count - 1).map_err(|_| Overflow)?;
        let reach = last.checked_mul(stride).ok_or(Overflow)?;
        let size = self.size.checked_mul(count).ok_or(Overflow)?;
        let spread = |span: Option<Span>| -> Result<Option<Span>, Overflow> {
            let moved = span.map(|span| span.moved(reach)).transpose()?;
            Ok(joined(span, moved))
        };
        Bounds {
            size,
            alignment: self.alignment,
            data: spread(self.data)?,
            parts: spread(self.parts)?,
            markers: spread(self.markers)?,
        }
        .checked()
    }

    /// Of `count` copies, their origins from `first` to `last` on the way up or down.
    pub fn placed(self, first: isize, last: isize, count: usize) -> Result<Bounds, Overflow> {
        let size = self.size.checked_mul(count).ok_or(Overflow)?;
        let (at_first, at_last) = (self.moved(first)?, self.moved(last)?);
        Bounds {
            size,
            alignment: self.alignment,
            data: joined(at_first.data, at_last.data),
            parts: joined(at_first.parts, at_last.parts),
            markers: joined(at_first.markers, at_last.markers),
        }
        .checked()
    }

    pub fn moved(self, by: isize) -> Result<Bounds, Overflow> {
        let moved = |span: Option<Span>| span.map(|span| span.moved(by)).transpose();
        Ok(Bounds {
            data: moved(self.data)?,
            parts: moved(self.parts)?,
            markers: moved(self.markers)?,
            ..self
        })
    }

    /// Of the entries of both.
    pub fn joined(self, other: Bounds) -> Result<Bounds, Overflow> {
        Bounds {
            size: self.size.checked_add(other.size).ok_or(Overflow)?,
            alignment: self.alignment.max(other.alignment),
            data: joined(self.data, other.data),
            parts: joined(self.parts, other.parts),
            markers: joined(self.markers, other.markers),
        }
        .checked()
    }

    fn checked(self) -> Result<Bounds, Overflow> {
        isize::try_from(self.size).map_err(|_| Overflow)?;
        self.whole().map(|_| self)
    }

    /// From the lower to the upper bound. Without set bounds the extent is rounded up to the alignment, so
    /// that elements of an array of the type are aligned (§5.1.6).
    pub fn whole(self) -> Result<Span, Overflow> {
        if let Some(markers) = self.markers {
            return markers.extent().map(|_| markers);
        }
        let Some(parts) = self.parts else {
            return Ok(Span::new(0, 0));
        };
        // The high end is never below the low one, as no part's is.
        let extent = (parts.extent()? as usize).next_multiple_of(self.alignment);
        let extent = isize::try_from(extent).map_err(|_| Overflow)?;
        let high = parts.low.checked_add(extent).ok_or(Overflow)?;
        Ok(Span::new(parts.low, high))
    }

    /// As what a finished datatype gives to those made of it: its own extent is rounded up.
    pub fn finished(self) -> Result<Bounds, Overflow> {
        let whole = self.whole()?;
        Ok(Bounds {
            parts: self.parts.map(|_| whole),
            ..self
        })
    }
}
