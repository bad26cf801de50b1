//! The shape of a type's bytes: contiguous runs, loops over them, sequences of them.
//!
//! Shapes are built bottom up and merged while they are built: runs that touch become one run, a loop
//! that goes on where its child ends becomes one loop. A shape's first run starts at displacement 0; where
//! that lies relative to the buffer is said by whoever holds the shape.

/// Displacements are bytes relative to the shape's first byte, sizes are packed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Run {
        size: usize,
    },
    /// `count` runs of `block` bytes, `stride` apart.
    Strided {
        count: usize,
        stride: isize,
        block: usize,
    },
    /// `count` copies of `child`, `stride` apart; `size` is the child's.
    Loop {
        count: usize,
        stride: isize,
        size: usize,
        child: Box<Shape>,
    },
    Sequence {
        parts: Box<[Part]>,
    },
}

/// One member of a sequence: from `packed` of the packed bytes on, lying at `displacement`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub displacement: isize,
    pub packed: usize,
    pub size: usize,
    pub shape: Shape,
}

impl Shape {
    /// `count` copies of the shape, `stride` bytes apart; `size` is the packed size of one. The caller has
    /// checked that `count * size` and the span do not overflow, or never goes that far.
    pub fn repeat(self, size: usize, count: usize, stride: isize) -> Shape {
        // The loop continues its child's where the strides fit; a count that does not fit is a repetition
        // without end, which then stays a loop of its own.
        let continued = |inner: usize, inner_stride: isize| {
            let joins = isize::try_from(inner).ok()?.checked_mul(inner_stride)? == stride;
            if joins {
                inner.checked_mul(count)
            } else {
                None
            }
        };
        match self {
            _ if count == 1 => self,
            Shape::Run { size: block }
                if stride == block as isize && block.checked_mul(count).is_some() =>
            {
                Shape::Run {
                    size: block * count,
                }
            }
            Shape::Run { size: block } => Shape::Strided {
                count,
                stride,
                block,
            },
            Shape::Strided {
                count: inner,
                stride: inner_stride,
                block,
            } if continued(inner, inner_stride).is_some() => Shape::Strided {
                count: inner * count,
                stride: inner_stride,
                block,
            },
            Shape::Loop {
                count: inner,
                stride: inner_stride,
                size,
                child,
            } if continued(inner, inner_stride).is_some() => Shape::Loop {
                count: inner * count,
                stride: inner_stride,
                size,
                child,
            },
            child => Shape::Loop {
                count,
                stride,
                size,
                child: Box::new(child),
            },
        }
    }

    /// Runs of (displacement, bytes), in the order of the type map; those that touch are merged.
    pub fn sequence(runs: &[(usize, usize)]) -> Shape {
        let mut parts: Vec<Part> = Vec::with_capacity(runs.len());
        let mut packed = 0;
        for &(displacement, size) in runs {
            match parts.last_mut() {
                Some(last) if last.displacement + last.size as isize == displacement as isize => {
                    last.size += size;
                    last.shape = Shape::Run { size: last.size };
                }
                _ => parts.push(Part {
                    displacement: displacement as isize,
                    packed,
                    size,
                    shape: Shape::Run { size },
                }),
            }
            packed += size;
        }
        match parts.as_slice() {
            [one] => one.shape.clone(),
            _ => Shape::Sequence {
                parts: parts.into(),
            },
        }
    }
}
