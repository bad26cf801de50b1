//! The view that another process tells of, as words: whatever they say is no view, or one that says the same words again, of which no
//! byte lies before the beginning, and of which each question has one answer.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use weft_datatype::{Growth, Tiling};

/// Runs that are looked at.
const RUNS: usize = 64;

fuzz_target!(|data: &[u8]| {
    let (words, rest) = data.as_chunks::<8>();
    let words: Vec<i64> = words.iter().copied().map(i64::from_le_bytes).collect();
    let Some(tiling) = Tiling::from_words(&words) else {
        return;
    };
    let growth = tiling.growth().expect("it was checked");
    assert_eq!(tiling.words(), words);
    if tiling.size() == 0 {
        assert_eq!(tiling.displacement(0), None);
        return;
    }
    // From a position that the input chooses, as far as there are displacements.
    let start = rest
        .iter()
        .fold(0, |start, &byte| start << 8 | usize::from(byte));
    // Behind the last address there is no end of a run.
    let is_within = |&displacement: &isize| displacement < isize::MAX;
    let Some(mut end) = tiling.displacement(start).filter(is_within) else {
        return;
    };
    if growth != Growth::Throughout {
        let bounds = tiling.bounds().expect("it was checked");
        let most = tiling.size().min(4096);
        tiling.visit(0..most, |displacement, bytes| {
            let displacement = usize::try_from(displacement).expect("it is not negative");
            assert!(bounds.start <= displacement && displacement + bytes <= bounds.end);
            ControlFlow::Continue(())
        });
        return;
    }
    let last = start.saturating_add(4096);
    let is_there = tiling.displacement(last).filter(is_within).is_some();
    let last = if is_there { last } else { start };
    let (mut position, mut left) = (start, RUNS);
    tiling.visit(start..last + 1, |displacement, bytes| {
        assert!(displacement >= end && bytes > 0);
        assert_eq!(tiling.displacement(position), Some(displacement));
        assert_eq!(tiling.below(displacement), position);
        position += bytes;
        end = displacement + bytes as isize;
        assert_eq!(tiling.below(end), position);
        left -= 1;
        match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert!(position == last + 1 || left == 0);
});
