//! The shape of a type's bytes: contiguous runs, loops over them, lists of them.
//!
//! Shapes are built bottom up and merged while they are built: runs that touch become one run, a loop
//! that goes on where its child ends becomes one loop. A shape's first run starts at displacement 0; where
//! that lies relative to the buffer is said by whoever holds the shape.
//!
//! The depth is bounded, so that recursion over a shape is: a loop has at least two iterations of at least one
//! byte, so 63 fit above each other, and lists within lists are spliced from [`Shape::DEEPEST`] on.

use std::ops::Range;
use std::sync::Arc;

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
    /// A run of `block` bytes at each of the displacements.
    Blocks {
        block: usize,
        displacements: Arc<[isize]>,
    },
    /// Runs of any sizes at any places: each ends, in packed bytes, where the next one begins. The last entry is the
    /// end.
    Runs {
        runs: Arc<Vec<Run>>,
    },
    /// `count` copies of `child`, `stride` apart; `size` is the child's.
    Loop {
        count: usize,
        stride: isize,
        size: usize,
        child: Arc<Shape>,
    },
    Sequence {
        parts: Arc<[Part]>,
        depth: u32,
    },
}

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub displacement: isize,
    pub packed: usize,
}

/// One member of a sequence: from `packed` of the packed bytes on, lying at `displacement`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub displacement: isize,
    pub packed: usize,
    pub size: usize,
    pub shape: Shape,
}

/// The runs that a window of packed bytes covers, in order: where the first byte of each that is in it lies, and how many are.
#[inline(always)]
pub(crate) fn runs_in(runs: &[Run], window: Range<usize>) -> impl Iterator<Item = (isize, usize)> {
    let Range { start, end } = window;
    let first = runs.partition_point(|run| run.packed <= start) - 1;
    let pairs = runs[first..].windows(2);
    pairs
        .take_while(move |pair| pair[0].packed < end)
        .map(move |pair| {
            let begin = start.max(pair[0].packed);
            let inside = (begin - pair[0].packed) as isize;
            let at = pair[0].displacement.wrapping_add(inside);
            (at, end.min(pair[1].packed) - begin)
        })
}

/// The members of a sequence that a window of packed bytes touches, in order, and which packed bytes of each are in it.
#[inline(always)]
pub(crate) fn parts_in(
    parts: &[Part],
    window: Range<usize>,
) -> impl Iterator<Item = (&Part, Range<usize>)> {
    let Range { start, end } = window;
    let first = parts.partition_point(|part| part.packed + part.size <= start);
    parts[first..]
        .iter()
        .take_while(move |part| part.packed < end)
        .map(move |part| {
            let from = start.max(part.packed) - part.packed;
            let to = end.min(part.packed + part.size) - part.packed;
            (part, from..to)
        })
}

impl Shape {
    pub const EMPTY: Shape = Shape::Run { size: 0 };
    const DEEPEST: u32 = 32;
    /// Lists up to this length are spliced into the list they become part of.
    const SHORT: usize = 16;

    /// Runs of `block` bytes at displacements that count `unit` bytes each, of which none goes on with the one before.
    pub fn runs_at(displacements: &[isize], unit: isize, block: usize) -> Shape {
        let &[first, second, ..] = displacements else {
            return Shape::Run { size: block };
        };
        let stride = second - first;
        if displacements
            .windows(2)
            .all(|pair| pair[1] - pair[0] == stride)
        {
            return Shape::Run { size: block }.repeat(block, displacements.len(), stride * unit);
        }
        let from_first = displacements
            .iter()
            .map(|displacement| (displacement - first) * unit);
        Shape::Blocks {
            block,
            displacements: from_first.collect(),
        }
    }

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
                child: Arc::new(child),
            },
        }
    }

    /// Calls `visit` with place and length of each run, the shape's first byte lying at `at`.
    pub fn visit_runs(&self, at: isize, visit: &mut impl FnMut(isize, usize)) {
        match self {
            Shape::Run { size: 0 } => {}
            Shape::Run { size } => visit(at, *size),
            Shape::Strided {
                count,
                stride,
                block,
            } => (0..*count as isize).for_each(|index| visit(at + stride * index, *block)),
            Shape::Blocks {
                block,
                displacements,
            } => displacements
                .iter()
                .for_each(|displacement| visit(at + displacement, *block)),
            Shape::Runs { runs } => runs
                .windows(2)
                .for_each(|pair| visit(at + pair[0].displacement, pair[1].packed - pair[0].packed)),
            Shape::Loop {
                count,
                stride,
                child,
                ..
            } => {
                (0..*count as isize).for_each(|index| child.visit_runs(at + stride * index, visit))
            }
            Shape::Sequence { parts, .. } => parts
                .iter()
                .for_each(|part| part.shape.visit_runs(at + part.displacement, visit)),
        }
    }

    /// Into how many runs the bytes come apart, without a look at each.
    pub fn count_runs(&self) -> usize {
        match self {
            Shape::Run { .. } => 1,
            Shape::Strided { count, .. } => *count,
            Shape::Blocks { displacements, .. } => displacements.len(),
            Shape::Runs { runs } => runs.len() - 1,
            Shape::Loop { count, child, .. } => count.saturating_mul(child.count_runs()),
            Shape::Sequence { parts, .. } => {
                let counts = parts.iter().map(|part| part.shape.count_runs());
                counts.fold(0, usize::saturating_add)
            }
        }
    }

    /// Lists above each other on the way down.
    fn depth(&self) -> u32 {
        match self {
            Shape::Loop { child, .. } => child.depth(),
            Shape::Sequence { depth, .. } => *depth,
            _ => 0,
        }
    }

    /// Whether two shapes are the same, as far as a look at them tells.
    fn is(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Sequence { parts: a, .. }, Shape::Sequence { parts: b, .. }) => {
                Arc::ptr_eq(a, b)
            }
            (
                Shape::Blocks {
                    displacements: a, ..
                },
                Shape::Blocks {
                    displacements: b, ..
                },
            ) => Arc::ptr_eq(a, b),
            (Shape::Runs { runs: a }, Shape::Runs { runs: b }) => Arc::ptr_eq(a, b),
            (
                Shape::Loop {
                    count,
                    stride,
                    child,
                    ..
                },
                Shape::Loop {
                    count: other_count,
                    stride: other_stride,
                    child: other_child,
                    ..
                },
            ) => count == other_count && stride == other_stride && child.is(other_child),
            (Shape::Run { .. } | Shape::Strided { .. }, _) => self == other,
            _ => false,
        }
    }
}

/// Puts shapes one after the other. As long as all are runs, it keeps of each where it begins and nothing else.
#[derive(Default)]
pub(crate) struct List {
    /// All that was appended, up to the first shape that is no run.
    runs: Vec<Run>,
    /// From then on, all that was appended.
    parts: Vec<Part>,
    packed: usize,
}

impl List {
    pub fn with_capacity(parts: usize) -> List {
        List {
            // And the end.
            runs: Vec::with_capacity(parts + 1),
            ..List::default()
        }
    }

    /// Appends a shape of `size` packed bytes, not none, whose first byte lies at `displacement`.
    #[inline]
    pub fn push(&mut self, displacement: isize, size: usize, shape: &Shape) {
        match shape {
            Shape::Run { .. } => self.append_run(displacement, size),
            Shape::Sequence { parts, depth }
                if parts.len() <= Shape::SHORT || *depth >= Shape::DEEPEST =>
            {
                for part in parts.iter() {
                    self.append(displacement + part.displacement, part.size, &part.shape);
                }
            }
            Shape::Blocks {
                block,
                displacements,
            } if displacements.len() <= Shape::SHORT => {
                for at in displacements.iter() {
                    self.append_run(displacement + at, *block);
                }
            }
            Shape::Runs { runs } if runs.len() <= Shape::SHORT => {
                for pair in runs.windows(2) {
                    let size = pair[1].packed - pair[0].packed;
                    self.append_run(displacement + pair[0].displacement, size);
                }
            }
            _ => self.append(displacement, size, shape),
        }
    }

    fn append(&mut self, displacement: isize, size: usize, shape: &Shape) {
        if let Shape::Run { .. } = shape {
            return self.append_run(displacement, size);
        }
        self.take_apart();
        self.append_part(displacement, size, shape.clone());
    }

    /// Appends a run; one that touches the last goes on with it.
    #[inline]
    pub fn append_run(&mut self, displacement: isize, size: usize) {
        if !self.parts.is_empty() {
            return self.append_run_to_parts(displacement, size);
        }
        let touches = self.runs.last().is_some_and(|last| {
            last.displacement + (self.packed - last.packed) as isize == displacement
        });
        if !touches {
            self.runs.push(Run {
                displacement,
                packed: self.packed,
            });
        }
        self.packed += size;
    }

    fn append_run_to_parts(&mut self, displacement: isize, size: usize) {
        if let Some(last) = self.parts.last_mut()
            && let Shape::Run { size: run } = &mut last.shape
            && last.displacement + *run as isize == displacement
        {
            *run += size;
            last.size = *run;
            self.packed += size;
            return;
        }
        self.append_part(displacement, size, Shape::Run { size });
    }

    fn append_part(&mut self, displacement: isize, size: usize, shape: Shape) {
        self.parts.push(Part {
            displacement,
            packed: self.packed,
            size,
            shape,
        });
        self.packed += size;
    }

    /// Makes parts of the runs, if there are any.
    fn take_apart(&mut self) {
        if self.runs.is_empty() {
            return;
        }
        let packed = std::mem::take(&mut self.packed);
        let mut runs = std::mem::take(&mut self.runs).into_iter().peekable();
        while let Some(run) = runs.next() {
            let end = runs.peek().map_or(packed, |next| next.packed);
            let size = end - run.packed;
            self.append_part(run.displacement, size, Shape::Run { size });
        }
    }

    /// Where the first byte lies, and the shape of all from there.
    pub fn finish(mut self) -> (isize, Shape) {
        let first_run = self.runs.first().map(|run| run.displacement);
        let first_part = self.parts.first().map(|part| part.displacement);
        let Some(origin) = first_run.or(first_part) else {
            return (0, Shape::EMPTY);
        };
        for run in &mut self.runs {
            run.displacement -= origin;
        }
        for part in &mut self.parts {
            part.displacement -= origin;
        }
        let shape = match self.parts.is_empty() {
            true => shape_of_runs(self.runs, self.packed),
            false => shape_of_parts(self.parts),
        };
        (origin, shape)
    }
}

/// The simplest shape of runs of `packed` bytes in all.
fn shape_of_runs(mut runs: Vec<Run>, packed: usize) -> Shape {
    let (size, stride) = match runs.get(1) {
        None => return Shape::Run { size: packed },
        Some(second) => (second.packed, second.displacement),
    };
    let last = runs.len() - 1;
    let mut pairs = runs.windows(2);
    let alike = packed - runs[last].packed == size
        && pairs.all(|pair| pair[1].packed - pair[0].packed == size);
    if !alike {
        let end = Run {
            displacement: 0,
            packed,
        };
        runs.push(end);
        runs.shrink_to_fit();
        return Shape::Runs {
            runs: Arc::new(runs),
        };
    }
    let mut pairs = runs.windows(2);
    match pairs.all(|pair| pair[1].displacement - pair[0].displacement == stride) {
        true => Shape::Run { size }.repeat(size, runs.len(), stride),
        false => Shape::Blocks {
            block: size,
            displacements: runs.iter().map(|run| run.displacement).collect(),
        },
    }
}

/// The simplest shape of parts that are not all runs.
fn shape_of_parts(parts: Vec<Part>) -> Shape {
    let Part { size, shape, .. } = parts[0].clone();
    if parts.len() == 1 {
        return shape;
    }
    let stride = parts[1].displacement;
    let mut steps = parts.windows(2);
    if parts.iter().all(|part| part.shape.is(&shape))
        && steps.all(|pair| pair[1].displacement - pair[0].displacement == stride)
    {
        return shape.repeat(size, parts.len(), stride);
    }
    let below = parts.iter().map(|part| part.shape.depth()).max();
    Shape::Sequence {
        parts: parts.into(),
        depth: below.map_or(0, |below| below + 1),
    }
}
