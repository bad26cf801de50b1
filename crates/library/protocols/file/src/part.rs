//! Some positions of a view as bytes for another process, which then needs nothing else of the view: of one that is a long list,
//! an aggregator learns no more than what lies in its domain, when there is an access.

use std::ops::Range;

use weft_datatype::{Growth, Tiling};

use crate::view::View;

/// What stands before the runs: displacement, extent, and the positions in the view that the other process makes.
const NUMBERS: usize = 4;
const HEADER_BYTES: usize = 8 * NUMBERS;
/// What a byte of the view takes at most, where it is a run of its own: two numbers of ten bytes.
const RUN_BYTES: u64 = 20;

impl View {
    /// Some positions of this view, not none, whose offsets grow with them throughout. It takes no more than a run of them each, and no more
    /// than a run of the file type each.
    pub fn pack(&self, positions: &Range<u64>) -> Vec<u8> {
        let tiling = self.tiling();
        let (start, end) = (positions.start as usize, positions.end as usize);
        let whole_tile = end - start > tiling.size();
        let (runs, extent, shown) = match whole_tile {
            true => (0..tiling.size(), tiling.extent(), positions.clone()),
            false => {
                let hull = self.hull(positions).unwrap_or(0..0);
                let extent = (hull.end - hull.start) as isize;
                (start..end, extent, 0..positions.end - positions.start)
            }
        };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + runs.len() / 8);
        let numbers: [u64; NUMBERS] = [self.displacement(), extent as u64, shown.start, shown.end];
        for number in numbers {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        tiling.append_runs(runs, &mut bytes);
        bytes
    }

    /// The most bytes that so many positions take.
    pub fn most_packed_bytes(positions: u64) -> u64 {
        positions
            .saturating_mul(RUN_BYTES)
            .saturating_add(HEADER_BYTES as u64)
    }

    /// A view, and positions of it that have offsets, from another process's bytes; none if they say none.
    pub fn unpack(bytes: &[u8]) -> Option<(View, Range<u64>)> {
        let (header, runs) = bytes.split_at_checked(HEADER_BYTES)?;
        let mut numbers = [0; NUMBERS];
        for (number, bytes) in numbers.iter_mut().zip(header.as_chunks().0) {
            *number = u64::from_le_bytes(*bytes);
        }
        let [displacement, extent, start, end] = numbers;
        let tiling = Tiling::of_runs(runs, isize::try_from(extent).ok()?)?;
        let view = View::of(displacement, tiling)?;
        let grows = view.growth() == Growth::Throughout && start < end;
        let positions = start..end;
        (grows && view.hull(&positions).is_some()).then_some((view, positions))
    }
}
