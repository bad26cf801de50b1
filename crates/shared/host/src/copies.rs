//! Copies by the cores themselves.

use std::cell::UnsafeCell;
use std::time::Instant;

use crate::median::{median, of_batches};
use crate::pages::Pages;
use crate::team;

/// Copied in a batch by each core, at least.
const BATCH_BYTES: usize = 2 << 20;

/// Each copies memory of its own, in bytes a nanosecond: the middle core's.
pub fn own(cpus: &[usize], bytes: usize) -> f64 {
    let rates = team::run(cpus, |member| {
        let (source, mut copy) = (Pages::new(bytes), Pages::new(bytes));
        let count = BATCH_BYTES.div_ceil(bytes);
        let rate = |_| {
            member.meet();
            let begin = Instant::now();
            for _ in 0..count {
                let source = std::hint::black_box(source.bytes());
                std::hint::black_box(copy.bytes_mut()).copy_from_slice(source);
            }
            (count * bytes) as f64 / begin.elapsed().as_nanos() as f64
        };
        of_batches(rate)
    });
    median(rates)
}

/// What the first member writes and the others read, in turns that meetings part.
struct Written(UnsafeCell<Pages>);

// SAFETY: it is written and read by turns (`same`).
unsafe impl Sync for Written {}

/// The others copy what the first has just written, in microseconds: the middle core's.
pub fn same(cpus: &[usize], bytes: usize) -> f64 {
    let written = Written(UnsafeCell::new(Pages::new(bytes)));
    let written = &written;
    let times = team::run(cpus, |member| {
        let mut copy = Pages::new(bytes);
        let time = |batch: usize| {
            if member.index == 0 {
                // SAFETY: nobody reads it before the meeting that follows, or still reads it since the one before.
                unsafe { (*written.0.get()).bytes_mut().fill(batch as u8) };
            }
            member.meet();
            let begin = Instant::now();
            if member.index > 0 {
                // SAFETY: nobody writes it between the two meetings.
                let written = unsafe { (*written.0.get()).bytes() };
                std::hint::black_box(copy.bytes_mut()).copy_from_slice(written);
            }
            let us = begin.elapsed().as_nanos() as f64 / 1e3;
            member.meet();
            us
        };
        of_batches(time)
    });
    median(times[1..].to_vec())
}
