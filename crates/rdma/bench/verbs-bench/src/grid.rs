//! The grid of the stencil: strips of rows for ranks, columns of a strip for threads; and the whole grid computed in one
//! place, as a reference.
//!
//! Rows form a ring, so that every rank has two neighbours; what is left and right of the grid is 0.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use fnv::FnvHasher;

use crate::matrix::element;

const SEED: u64 = 5;

/// The value of a cell before the first step.
pub fn initial(row: usize, column: usize) -> f64 {
    element(SEED, row, column)
}

/// One step: the mean of a cell and its four neighbours, added in one fixed order.
#[inline]
pub fn step(up: f64, left: f64, here: f64, right: f64, down: f64) -> f64 {
    (up + left + here + right + down) * 0.2
}

/// The whole grid after `steps`, row by row.
pub fn reference(rows: usize, columns: usize, steps: usize) -> Vec<f64> {
    let start = |i: usize| initial(i / columns, i % columns);
    let mut grid: Vec<f64> = (0..rows * columns).map(start).collect();
    for _ in 0..steps {
        let at = |row: usize, column: usize| grid[row % rows * columns + column];
        let next = |i: usize| {
            let (row, column) = (i / columns, i % columns);
            let left = if column > 0 { at(row, column - 1) } else { 0.0 };
            let right = if column + 1 < columns {
                at(row, column + 1)
            } else {
                0.0
            };
            let up = at(row + rows - 1, column);
            step(up, left, at(row, column), right, at(row + 1, column))
        };
        grid = (0..rows * columns).map(next).collect();
    }
    grid
}

/// A rank's rows, shared by its threads: each writes its own columns, and reads one more to either side.
///
/// Cells are atomics as threads read their neighbours' columns; barriers between steps order them, so that relaxed loads and
/// stores do.
#[derive(Debug)]
pub struct Strip {
    columns: usize,
    cells: Vec<AtomicU64>,
}

impl Strip {
    /// `rows` rows from `first_row` of the grid on, as they are before the first step.
    pub fn new(first_row: usize, rows: usize, columns: usize) -> Strip {
        let start = |i: usize| initial(first_row + i / columns, i % columns).to_bits();
        Strip {
            columns,
            cells: (0..rows * columns)
                .map(|i| AtomicU64::new(start(i)))
                .collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.cells.len() / self.columns
    }

    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> f64 {
        f64::from_bits(self.cells[row * self.columns + column].load(Ordering::Relaxed))
    }

    #[inline]
    fn set(&self, row: usize, column: usize, value: f64) {
        self.cells[row * self.columns + column].store(value.to_bits(), Ordering::Relaxed);
    }

    /// Steps the columns `own` from `self` to `next`; `above` and `below` are those columns of the neighbours' rows.
    pub fn advance(&self, next: &Strip, own: Range<usize>, above: &[f64], below: &[f64]) {
        let rows = self.rows();
        for row in 0..rows {
            for column in own.clone() {
                let halo = column - own.start;
                let up = if row == 0 {
                    above[halo]
                } else {
                    self.cell(row - 1, column)
                };
                let down = if row + 1 == rows {
                    below[halo]
                } else {
                    self.cell(row + 1, column)
                };
                let left = if column > 0 {
                    self.cell(row, column - 1)
                } else {
                    0.0
                };
                let right = if column + 1 < self.columns {
                    self.cell(row, column + 1)
                } else {
                    0.0
                };
                next.set(
                    row,
                    column,
                    step(up, left, self.cell(row, column), right, down),
                );
            }
        }
    }

    /// All cells as bits, row by row.
    pub fn bits(&self) -> Vec<u64> {
        self.cells
            .iter()
            .map(|c| c.load(Ordering::Relaxed))
            .collect()
    }
}

/// A number that says, with its order, all bits of a strip.
pub fn digest(bits: impl IntoIterator<Item = u64>) -> u64 {
    let mut hasher = FnvHasher::default();
    bits.into_iter().for_each(|word| hasher.write_u64(word));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks and threads one after the other, halos copied by hand.
    fn by_strips(
        rows: usize,
        columns: usize,
        ranks: usize,
        threads: usize,
        steps: usize,
    ) -> Vec<f64> {
        let (height, width) = (rows / ranks, columns / threads);
        let fresh = |r: usize| Strip::new(r * height, height, columns);
        let mut now: Vec<Strip> = (0..ranks).map(fresh).collect();
        let mut next: Vec<Strip> = (0..ranks).map(fresh).collect();
        for _ in 0..steps {
            for rank in 0..ranks {
                for thread in 0..threads {
                    let own = thread * width..(thread + 1) * width;
                    let row = |r: usize, row: usize| -> Vec<f64> {
                        own.clone().map(|column| now[r].cell(row, column)).collect()
                    };
                    let above = row((rank + ranks - 1) % ranks, height - 1);
                    let below = row((rank + 1) % ranks, 0);
                    now[rank].advance(&next[rank], own, &above, &below);
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        now.iter()
            .flat_map(Strip::bits)
            .map(f64::from_bits)
            .collect()
    }

    #[test]
    fn any_division_gives_the_same_bits() {
        let expected: Vec<u64> = reference(12, 16, 5).iter().map(|v| v.to_bits()).collect();
        for (ranks, threads) in [(1, 1), (2, 4), (3, 16), (12, 2)] {
            let seen = by_strips(12, 16, ranks, threads, 5);
            let bits: Vec<u64> = seen.iter().map(|v| v.to_bits()).collect();
            assert_eq!(bits, expected, "{ranks} ranks of {threads} threads");
        }
    }

    #[test]
    fn a_step_spreads_by_one_cell_and_rows_form_a_ring() {
        let (before, after) = (reference(4, 3, 0), reference(4, 3, 1));
        let expected = step(before[9], 0.0, before[0], before[1], before[3]);
        assert_eq!(after[0].to_bits(), expected.to_bits());
    }

    #[test]
    fn a_digest_tells_order_and_every_bit() {
        let plain = digest([1, 2, 3]);
        assert_ne!(plain, digest([1, 3, 2]));
        assert_ne!(plain, digest([1, 2, 3 ^ 1 << 63]));
        assert_ne!(digest([0]), digest([0, 0]));
    }
}
