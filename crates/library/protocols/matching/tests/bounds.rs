//! Steps of one operation with 2^18 outstanding, counted; with 2^20 where they are optimised. A step is a bucket or a
//! cell looked at.

use weft_matching::{Envelope, Matching, Pattern, Post};

const N: u32 = if cfg!(debug_assertions) {
    1 << 18
} else {
    1 << 20
};
/// Of posted receives: the linking of 64 that have gathered, each with a chain now and then and two more buckets; or the move
/// of 128 from the array; or an operation with a chain of eight in each of its tables; and a turn of upkeep. An arrival
/// takes two to ten.
const POSTED_STEPS_MAX: u32 = 960;
/// Of unexpected messages: the linking of 64 that have gathered, in four tables each.
const UNEXPECTED_STEPS_MAX: u32 = 2304;
/// Mean steps of an operation that fills or drains. Growth looks at each leader about twice in all.
const STEPS_MEAN: f64 = 40.0;

type Subject = Matching<u32, u32>;

/// A permutation of `0..N`.
fn shuffled(n: u32) -> u32 {
    n.wrapping_mul(0x9e37_79b1).wrapping_add(12_345) & (N - 1)
}

/// Which message and which receive are the `n`th.
struct Scenario {
    name: &'static str,
    envelope: fn(u32) -> Envelope,
    pattern: fn(u32) -> Pattern,
}

fn envelope(source: u32, tag: u32) -> Envelope {
    Envelope {
        context: 4,
        source: source as i32,
        tag: tag as i32,
    }
}

fn pattern(source: u32, tag: u32) -> Pattern {
    Pattern {
        context: 4,
        source: source as i32,
        tag: tag as i32,
    }
}

const ANY: u32 = u32::MAX;

const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "exact, in order",
        envelope: |n| envelope(1, n),
        pattern: |n| pattern(1, n),
    },
    Scenario {
        name: "exact, shuffled",
        envelope: |n| envelope(1, shuffled(n)),
        pattern: |n| pattern(1, n),
    },
    Scenario {
        name: "exact, strided",
        envelope: |n| envelope(1, n << 10),
        pattern: |n| pattern(1, n << 10),
    },
    Scenario {
        name: "exact, sources and tags",
        envelope: |n| envelope(shuffled(n) & 1023, shuffled(n) >> 10),
        pattern: |n| pattern(n & 1023, n >> 10),
    },
    Scenario {
        name: "one key",
        envelope: |_| envelope(1, 7),
        pattern: |_| pattern(1, 7),
    },
    Scenario {
        name: "any source",
        envelope: |n| envelope(n & 15, shuffled(n)),
        pattern: |n| pattern(ANY, n),
    },
    Scenario {
        name: "any tag",
        envelope: |n| envelope(shuffled(n), n),
        pattern: |n| pattern(n, ANY),
    },
    Scenario {
        name: "wildcard",
        envelope: envelope_of_wildcard,
        pattern: |_| pattern(ANY, ANY),
    },
    Scenario {
        name: "mixed",
        envelope: |n| envelope(shuffled(n), shuffled(n)),
        pattern: |n| match n & 3 {
            0 => pattern(n, n),
            1 => pattern(ANY, n),
            2 => pattern(n, ANY),
            _ => pattern(n, n),
        },
    },
];

fn envelope_of_wildcard(n: u32) -> Envelope {
    envelope(n & 1023, n >> 5)
}

fn check(name: &str, matching: &Subject, steps_max: u32) {
    let steps = matching.steps();
    let mean = steps.total as f64 / steps.operations as f64;
    println!("{name}: at most {} steps, {mean:.2} in the mean", steps.max);
    assert!(
        steps.max <= steps_max,
        "{name}: {} steps in one operation",
        steps.max
    );
    assert!(mean <= STEPS_MEAN, "{name}: {mean} steps in the mean");
}

#[test]
fn posted_receives() {
    for Scenario {
        name,
        envelope,
        pattern,
    } in SCENARIOS
    {
        let mut matching = Subject::new();
        for n in 0..N {
            assert!(matches!(matching.post(pattern(n), n), Post::Queued(_)));
        }
        assert_eq!(matching.posted_len(), N as usize);
        for n in 0..N {
            assert!(
                matching.arrive(envelope(n)).is_some(),
                "{name}: message {n}"
            );
        }
        assert_eq!(matching.posted_len(), 0);
        check(name, &matching, POSTED_STEPS_MAX);
    }
}

#[test]
fn unexpected_messages() {
    for Scenario {
        name,
        envelope,
        pattern,
    } in SCENARIOS
    {
        let mut matching = Subject::new();
        for n in 0..N {
            assert_eq!(matching.arrive(envelope(n)), None);
            matching.enqueue(envelope(n), n);
        }
        assert_eq!(matching.unexpected_len(), N as usize);
        for n in 0..N {
            assert!(
                matches!(matching.post(pattern(n), n), Post::Matched { .. }),
                "{name}: receive {n}"
            );
        }
        assert_eq!(matching.unexpected_len(), 0);
        check(name, &matching, UNEXPECTED_STEPS_MAX);
    }
}

/// Into the tables and back again and again, at every size around that of the array.
#[test]
fn around_the_array() {
    for Scenario {
        name,
        envelope,
        pattern,
    } in SCENARIOS
    {
        let mut matching = Subject::new();
        for size in (1..80).chain((1..80).rev()).cycle().take(1_000) {
            for n in 0..size {
                assert!(matches!(matching.post(pattern(n), n), Post::Queued(_)));
            }
            for n in 0..size {
                // Shuffled messages are not those of the receives here.
                if matching.arrive(envelope(n)).is_none() {
                    matching.enqueue(envelope(n), n);
                }
            }
            let left: Vec<_> = matching.posted_iter().map(|(id, ..)| id).collect();
            left.into_iter()
                .for_each(|id| assert!(matching.cancel(id).is_some()));
            let left: Vec<_> = matching.unexpected_iter().map(|(id, ..)| id).collect();
            left.into_iter()
                .for_each(|id| assert!(matching.remove(id).is_some()));
        }
        check(name, &matching, UNEXPECTED_STEPS_MAX);
    }
}

#[test]
fn cancelled_and_removed() {
    let mut matching = Subject::new();
    let posted: Vec<_> = (0..N)
        .map(
            |n| match matching.post(pattern(n & 255, if n & 1 == 0 { n } else { ANY }), n) {
                Post::Queued(id) => id,
                Post::Matched { .. } => panic!("nothing has arrived"),
            },
        )
        .collect();
    let unexpected: Vec<_> = (0..N)
        .map(|n| matching.enqueue(envelope(n & 255, n >> 4), n))
        .collect();
    for n in 0..N {
        let at = shuffled(n);
        assert_eq!(matching.cancel(posted[at as usize]), Some(at));
        assert_eq!(
            matching
                .remove(unexpected[at as usize])
                .map(|(_, value)| value),
            Some(at)
        );
    }
    check("cancel and remove", &matching, UNEXPECTED_STEPS_MAX);
}
