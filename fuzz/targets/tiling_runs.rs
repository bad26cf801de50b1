//! The part of a view that another process tells of, as the differences of its runs: whatever they say are no runs, or some that tell of
//! themselves in the same way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_datatype::{Growth, Tiling};

fuzz_target!(|data: &[u8]| {
    let Some((extent, runs)) = data.split_first_chunk() else {
        return;
    };
    let extent = i64::from_le_bytes(*extent) as isize;
    let Some(tiling) = Tiling::of_runs(runs, extent) else {
        return;
    };
    if tiling.growth() != Some(Growth::Throughout) {
        return;
    }
    let mut told = Vec::new();
    tiling.append_runs(0..tiling.size(), &mut told);
    let again = Tiling::of_runs(&told, extent).expect("they are runs");
    assert_eq!(again.words(), tiling.words());
});
