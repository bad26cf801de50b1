//! Cost of matching: nanoseconds for one receive and one message together, at 1 to 2^20 outstanding.
//!
//! `cargo run --release -p weft-matching --example matching_cost` prints a table. The reference, measured in turn with
//! it, is a linear queue of length one: what the simplest matching would cost at best.
//! `matching_cost 'exact, in order' 1` runs 4096 pairs of one case at one size, for counting instructions with
//! `valgrind --tool=callgrind --toggle-collect='*counted_*'`.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use weft_matching::{Envelope, Matching, POSTED_TOGETHER, Pattern, Post};

/// The size of what the engine keeps with a receive, and with a message.
type Receive = [u64; 4];
type Message = [u64; 7];
type Subject = Matching<Receive, Message>;

const SIZES: [u32; 4] = [1, 64, 4096, 1 << 20];
/// Pairs measured at each size, at least.
const PAIRS: u32 = 1 << 21;
const ROUNDS_MIN: u32 = 3;
const PAIRS_COUNTED: u32 = 4096;
const BATCH: u32 = 16;
const ANY: i32 = -1;

fn envelope(source: i32, tag: i32) -> Envelope {
    Envelope {
        context: 4,
        source,
        tag,
    }
}

fn pattern(source: i32, tag: i32) -> Pattern {
    Pattern {
        context: 4,
        source,
        tag,
    }
}

/// A permutation of `0..size`; `size` is a power of two.
fn shuffled(n: u32, size: u32) -> i32 {
    (n.wrapping_mul(0x9e37_79b1).wrapping_add(12_345) & (size - 1)) as i32
}

struct Case {
    name: &'static str,
    round: fn(&mut Subject, u32),
}

fn post_then_arrive(
    subject: &mut Subject,
    size: u32,
    receive: fn(i32) -> Pattern,
    message: impl Fn(u32) -> Envelope,
) {
    for n in 0..size {
        black_box(subject.post(receive(n as i32), [u64::from(n); 4]));
    }
    for n in 0..size {
        black_box(subject.arrive(message(n)).expect("a receive waits"));
    }
}

fn post_then_arrive_in_batches(
    subject: &mut Subject,
    size: u32,
    receive: fn(i32) -> Pattern,
    message: impl Fn(u32) -> Envelope,
) {
    for n in 0..size {
        black_box(subject.post(receive(n as i32), [u64::from(n); 4]));
    }
    for first in (0..size).step_by(BATCH as usize) {
        let envelopes: [Envelope; BATCH as usize] =
            std::array::from_fn(|n| message(first + n as u32));
        let batch = &envelopes[..BATCH.min(size) as usize];
        let mut prepared = [None; BATCH as usize];
        batch
            .iter()
            .zip(&mut prepared)
            .for_each(|(envelope, prepared)| *prepared = Some(subject.prepare(envelope)));
        prepared
            .iter()
            .flatten()
            .for_each(|prepared| subject.prefetch(prepared));
        for envelope in batch {
            black_box(subject.arrive(*envelope).expect("a receive waits"));
        }
    }
}

fn arrive_then_post(subject: &mut Subject, size: u32, receive: fn(u32, u32) -> Pattern) {
    for n in 0..size {
        let envelope = envelope(1, n as i32);
        if subject.arrive(envelope).is_none() {
            black_box(subject.enqueue(envelope, [u64::from(n); 7]));
        }
    }
    for n in 0..size {
        match subject.post(receive(n, size), [u64::from(n); 4]) {
            Post::Matched { unexpected, .. } => black_box(unexpected),
            Post::Queued(_) => panic!("a message waits"),
        };
    }
}

fn arrive_then_post_in_batches(subject: &mut Subject, size: u32, receive: fn(u32, u32) -> Pattern) {
    for n in 0..size {
        let envelope = envelope(1, n as i32);
        if subject.arrive(envelope).is_none() {
            black_box(subject.enqueue(envelope, [u64::from(n); 7]));
        }
    }
    let mut batch = Vec::with_capacity(POSTED_TOGETHER);
    for first in (0..size).step_by(POSTED_TOGETHER) {
        batch.clear();
        for n in first..size.min(first + POSTED_TOGETHER as u32) {
            let receive = receive(n, size);
            subject.prepare_post(&receive);
            batch.push(receive);
        }
        if subject.posts_together() {
            subject.prefetch_posts(&batch);
        }
        for &receive in &batch {
            match subject.post(receive, [7; 4]) {
                Post::Matched { unexpected, .. } => black_box(unexpected),
                Post::Queued(_) => panic!("a message waits"),
            };
        }
    }
}

const CASES: [Case; 12] = [
    Case {
        name: "exact, in order",
        round: |s, size| post_then_arrive(s, size, |n| pattern(1, n), |n| envelope(1, n as i32)),
    },
    Case {
        name: "exact, one tag",
        round: |s, size| post_then_arrive(s, size, |_| pattern(1, 7), |_| envelope(1, 7)),
    },
    Case {
        name: "exact, shuffled",
        round: |s, size| {
            post_then_arrive(
                s,
                size,
                |n| pattern(1, n),
                |n| envelope(1, shuffled(n, size)),
            )
        },
    },
    Case {
        name: "exact, shuffled, batches",
        round: |s, size| {
            post_then_arrive_in_batches(
                s,
                size,
                |n| pattern(1, n),
                |n| envelope(1, shuffled(n, size)),
            )
        },
    },
    Case {
        name: "any source",
        round: |s, size| post_then_arrive(s, size, |n| pattern(ANY, n), |n| envelope(1, n as i32)),
    },
    Case {
        name: "any tag",
        round: |s, size| post_then_arrive(s, size, |n| pattern(n, ANY), |n| envelope(n as i32, 7)),
    },
    Case {
        name: "both wildcards",
        round: |s, size| {
            post_then_arrive(s, size, |_| pattern(ANY, ANY), |n| envelope(1, n as i32))
        },
    },
    Case {
        name: "mixed, in order",
        round: |s, size| {
            let receive = |n| match n & 3 {
                0 => pattern(n, n),
                1 => pattern(ANY, n),
                2 => pattern(n, ANY),
                _ => pattern(n, n),
            };
            post_then_arrive(s, size, receive, |n| envelope(n as i32, n as i32))
        },
    },
    Case {
        name: "unexpected, in order",
        round: |s, size| arrive_then_post(s, size, |n, _| pattern(1, n as i32)),
    },
    Case {
        name: "unexpected, shuffled",
        round: |s, size| arrive_then_post(s, size, |n, size| pattern(1, shuffled(n, size))),
    },
    Case {
        name: "unexpected, shuffled, batches",
        round: |s, size| {
            arrive_then_post_in_batches(s, size, |n, size| pattern(1, shuffled(n, size)))
        },
    },
    Case {
        name: "unexpected, both wildcards",
        round: |s, size| arrive_then_post(s, size, |_, _| pattern(ANY, ANY)),
    },
];

/// The reference: posts to and takes from the front of a queue that holds one receive.
fn linear_queue(pairs: u32) -> f64 {
    let mut queue: VecDeque<(Pattern, Receive)> = VecDeque::with_capacity(4);
    let start = Instant::now();
    for n in 0..pairs {
        queue.push_back((black_box(pattern(1, n as i32)), [u64::from(n); 4]));
        let message = black_box(envelope(1, n as i32));
        let at = queue
            .iter()
            .position(|(pattern, _)| pattern.accepts(&message));
        black_box(at.and_then(|at| queue.remove(at)));
    }
    nanoseconds(start, pairs)
}

fn nanoseconds(start: Instant, pairs: u32) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / f64::from(pairs)
}

/// The median over rounds, after one round that fills the memory.
fn measure(case: &Case, size: u32) -> f64 {
    let mut subject = Subject::new();
    let repeats = (PAIRS / size / 16).max(1);
    (case.round)(&mut subject, size);
    let mut rounds: Vec<f64> = (0..ROUNDS_MIN.max(PAIRS / size / repeats))
        .map(|_| {
            let start = Instant::now();
            (0..repeats).for_each(|_| (case.round)(&mut subject, size));
            nanoseconds(start, repeats * size)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Apart, and never in line, so that a tool can find it by name.
#[inline(never)]
fn counted_round(case: &Case, subject: &mut Subject, size: u32) {
    (case.round)(subject, size);
}

#[inline(never)]
fn counted_linear_queue() {
    linear_queue(PAIRS_COUNTED);
}

/// Runs rounds of one case, or of the reference, for a tool to count: 4096 pairs, after a round that fills the memory.
fn count(arguments: &[String]) -> Option<()> {
    let [name, size] = arguments else { return None };
    let size: u32 = size.parse().ok()?;
    if name == "linear queue" {
        counted_linear_queue();
        return Some(());
    }
    let case = CASES.iter().find(|case| case.name == name)?;
    let mut subject = Subject::new();
    (case.round)(&mut subject, size);
    (0..PAIRS_COUNTED / size).for_each(|_| counted_round(case, &mut subject, size));
    Some(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.is_empty() {
        if count(&arguments).is_none() {
            eprintln!(
                "give the name of a case and a power of two up to {PAIRS_COUNTED}, or nothing"
            );
        }
        return;
    }
    let reference = linear_queue(PAIRS).min(linear_queue(PAIRS));
    println!("nanoseconds a pair; linear queue of length one: {reference:.1}");
    println!(
        "{:28}{:>10}{:>10}{:>10}{:>10}{:>12}",
        "outstanding", 1, 64, 4096, "2^20", "2^20 to 64"
    );
    for case in &CASES {
        let [one, few, many, most] = SIZES.map(|size| measure(case, size));
        println!(
            "{:28}{one:>10.1}{few:>10.1}{many:>10.1}{most:>10.1}{:>12.2}",
            case.name,
            most / few
        );
    }
}
