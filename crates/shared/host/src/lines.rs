//! Lines of memory that go from core to core.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::median::{median, of_batches};
use crate::team::{self, await_word};

/// Alone in two lines, which processors fetch together.
#[repr(align(128))]
#[derive(Default)]
struct Word(AtomicUsize);

/// Of a word, in a batch: a tenth of a millisecond and more, beside which the clock costs nothing.
const ROUND_TRIPS: usize = 1000;
/// Each is timed by itself; of so many few are disturbed.
const ROUNDS: usize = 300;
/// By each core in a batch.
const ADDITIONS: usize = 200;

/// From the first CPU to each other, half a round trip in nanoseconds.
pub fn words(cpus: &[usize]) -> Vec<(usize, f64)> {
    let others = cpus.iter().skip(1);
    others.map(|&cpu| (cpu, word(&[cpus[0], cpu]))).collect()
}

fn word(pair: &[usize]) -> f64 {
    let there_and_back = [Word::default(), Word::default()];
    let [there, back] = &there_and_back;
    let times = team::run(pair, |member| {
        let time = |batch: usize| {
            let begin = Instant::now();
            for trip in batch * ROUND_TRIPS..(batch + 1) * ROUND_TRIPS {
                if member.index == 0 {
                    there.0.store(trip + 1, Ordering::Release);
                    await_word(&back.0, trip + 1);
                } else {
                    await_word(&there.0, trip + 1);
                    back.0.store(trip + 1, Ordering::Release);
                }
            }
            begin.elapsed().as_nanos() as f64 / (2 * ROUND_TRIPS) as f64
        };
        of_batches(time)
    });
    times[0]
}

/// Until the first has all answers, in nanoseconds.
pub fn answers(cpus: &[usize]) -> f64 {
    let words: Vec<Word> = cpus.iter().map(|_| Word::default()).collect();
    let times = team::run(cpus, |member| {
        let time = |round: usize| {
            let begin = Instant::now();
            if member.index == 0 {
                words[0].0.store(round + 1, Ordering::Release);
                let answers = &words[1..];
                answers
                    .iter()
                    .for_each(|word| await_word(&word.0, round + 1));
            } else {
                await_word(&words[0].0, round + 1);
                words[member.index].0.store(round + 1, Ordering::Release);
            }
            begin.elapsed().as_nanos() as f64
        };
        median((0..ROUNDS).map(time).collect())
    });
    times[0]
}

/// An addition to a counter of all, in nanoseconds.
pub fn counter(cpus: &[usize]) -> f64 {
    let counter = Word::default();
    let times = team::run(cpus, |member| {
        let time = |_| {
            member.meet();
            let begin = Instant::now();
            for _ in 0..ADDITIONS {
                counter.0.fetch_add(1, Ordering::Relaxed);
            }
            begin.elapsed().as_nanos() as f64 / ADDITIONS as f64
        };
        of_batches(time)
    });
    median(times)
}
