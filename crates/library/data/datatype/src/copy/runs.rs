//! Where packed bytes lie, run by run: for those who have something else read or write them in place.

use std::ops::Range;

use crate::shape::Shape;

/// Tells the runs of the packed bytes `window` of `shape`, whose first byte lies at `at`, until `visit` returns false. Whether it never
/// did.
pub fn visit_window(
    shape: &Shape,
    at: isize,
    window: Range<usize>,
    visit: &mut dyn FnMut(isize, usize) -> bool,
) -> bool {
    let begin_of = |displacement: isize, part: &Range<usize>| {
        at.wrapping_add(displacement)
            .wrapping_add(part.start as isize)
    };
    match shape {
        _ if window.is_empty() => true,
        Shape::Run { .. } => visit(begin_of(0, &window), window.len()),
        Shape::Strided { stride, block, .. } => each_piece(window, *block, |index, part| {
            let displacement = stride.wrapping_mul(index as isize);
            visit(begin_of(displacement, &part), part.len())
        }),
        Shape::Blocks {
            block,
            displacements,
        } => each_piece(window, *block, |index, part| {
            visit(begin_of(displacements[index], &part), part.len())
        }),
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => each_piece(window, *size, |index, part| {
            let at = at.wrapping_add(stride.wrapping_mul(index as isize));
            visit_window(child, at, part, visit)
        }),
        Shape::Runs { runs } => {
            let first = runs.partition_point(|run| run.packed <= window.start) - 1;
            let pairs = runs[first..].windows(2);
            let mut pairs = pairs.take_while(|pair| pair[0].packed < window.end);
            pairs.all(|pair| {
                let part = within(&window, pair[0].packed, pair[1].packed);
                visit(begin_of(pair[0].displacement, &part), part.len())
            })
        }
        Shape::Sequence { parts, .. } => {
            let first = parts.partition_point(|part| part.packed + part.size <= window.start);
            let parts = parts[first..].iter();
            let mut parts = parts.take_while(|part| part.packed < window.end);
            parts.all(|part| {
                let inside = within(&window, part.packed, part.packed + part.size);
                let at = at.wrapping_add(part.displacement);
                visit_window(&part.shape, at, inside, visit)
            })
        }
    }
}

/// The part of the bytes from `begin` to `end` that is in the window, counted from `begin`.
fn within(window: &Range<usize>, begin: usize, end: usize) -> Range<usize> {
    window.start.max(begin) - begin..window.end.min(end) - begin
}

/// Each of the pieces of `size` packed bytes that a window touches, by number, and which of its bytes are in the window.
fn each_piece(
    window: Range<usize>,
    size: usize,
    mut each: impl FnMut(usize, Range<usize>) -> bool,
) -> bool {
    let (mut index, mut begin, mut left) = (window.start / size, window.start % size, window.len());
    while left != 0 {
        let part = begin..size.min(begin + left);
        left -= part.len();
        if !each(index, part) {
            return false;
        }
        (index, begin) = (index + 1, 0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::List;

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
        }
    }

    /// A shape of any kind, and its packed size.
    fn any_shape(random: &mut Random, depth: u32) -> (Shape, usize) {
        if depth == 0 || random.below(5) == 0 {
            let size = 1 + random.below(9) as usize;
            return (Shape::Run { size }, size);
        }
        let (child, size) = any_shape(random, depth - 1);
        if random.below(2) == 0 {
            let count = 1 + random.below(5) as usize;
            let stride = random.below(400) as isize - 100;
            return (child.repeat(size, count, stride), size * count);
        }
        let mut list = List::default();
        let mut packed = 0;
        for index in 0..1 + random.below(6) {
            let (part, size) = if index % 2 == 0 {
                (child.clone(), size)
            } else {
                any_shape(random, depth - 1)
            };
            list.push(random.below(3000) as isize, size, &part);
            packed += size;
        }
        (list.finish().1, packed)
    }

    /// Where each packed byte of some repetitions lies, by the shape's own list of runs.
    fn places(shape: &Shape) -> Vec<isize> {
        let mut places = Vec::new();
        shape.visit_runs(7, &mut |at, bytes| {
            places.extend((0..bytes as isize).map(|byte| at + byte));
        });
        places
    }

    #[test]
    fn any_window_lies_where_its_bytes_do() {
        for seed in 1..400 {
            let mut random = Random(seed);
            let (shape, size) = any_shape(&mut random, 4);
            let expected = places(&shape);
            assert_eq!(expected.len(), size);
            let mut runs = 0;
            shape.visit_runs(0, &mut |_, _| runs += 1);
            assert_eq!(shape.count_runs(), runs, "seed {seed}");
            for _ in 0..20 {
                let begin = random.below(size as u64) as usize;
                let end = begin + random.below((size - begin) as u64 + 1) as usize;
                let most = 1 + random.below(10);
                let (mut got, mut told) = (Vec::new(), 0);
                let whole = visit_window(&shape, 7, begin..end, &mut |at, bytes| {
                    got.extend((0..bytes as isize).map(|byte| at + byte));
                    told += 1;
                    told < most
                });
                assert_eq!(whole, told < most);
                if whole {
                    assert_eq!(got, expected[begin..end], "seed {seed}");
                } else {
                    assert!(expected[begin..end].starts_with(&got), "seed {seed}");
                }
            }
        }
    }
}
