//! Memory stays and comes back.

use weft_matching::{Envelope, Matching, Pattern, Post};

type Subject = Matching<[u64; 4], [u64; 7]>;

fn envelope(tag: u32) -> Envelope {
    Envelope {
        context: 4,
        source: 1,
        tag: tag as i32,
    }
}

fn pattern(tag: u32) -> Pattern {
    Pattern {
        context: 4,
        source: 1,
        tag: tag as i32,
    }
}

fn post(matching: &mut Subject, tag: u32) {
    assert!(matches!(
        matching.post(pattern(tag), [0; 4]),
        Post::Queued(_)
    ));
}

/// One message that finds its receive, one receive that finds its message.
fn exchange(matching: &mut Subject, tag: u32) {
    post(matching, tag);
    assert!(matching.arrive(envelope(tag)).is_some());
    matching.enqueue(envelope(tag), [0; 7]);
    assert!(matches!(
        matching.post(pattern(tag), [0; 4]),
        Post::Matched { .. }
    ));
}

#[test]
fn nothing_is_allocated_before_use() {
    assert_eq!(Subject::new().bytes(), 0);
}

#[test]
fn a_fresh_tag_for_each_message_does_not_grow() {
    let mut matching = Subject::new();
    // Some receives stay, so that the groups that come and go stand in buckets.
    (0..300).for_each(|n| post(&mut matching, i32::MAX as u32 - n));
    exchange(&mut matching, 0);
    let before = matching.bytes();
    for n in 0..10_000_000 / 2 {
        exchange(&mut matching, n);
    }
    assert_eq!(matching.bytes(), before);
    assert_eq!((matching.posted_len(), matching.unexpected_len()), (300, 0));
}

#[test]
fn repeated_bursts_keep_their_memory_and_quiet_gives_it_back() {
    const N: u32 = 1 << 16;
    let mut matching = Subject::new();
    let burst = |matching: &mut Subject| {
        for n in 0..N {
            post(matching, 7 * n);
        }
        for n in 0..N {
            assert!(matching.arrive(envelope(7 * n)).is_some());
        }
        for n in 0..N {
            assert_eq!(matching.arrive(envelope(7 * n)), None);
            matching.enqueue(envelope(7 * n), [0; 7]);
        }
        for n in 0..N {
            assert!(matches!(
                matching.post(pattern(7 * n), [0; 4]),
                Post::Matched { .. }
            ));
        }
    };
    burst(&mut matching);
    let full = matching.bytes();
    for _ in 0..30 {
        burst(&mut matching);
        assert_eq!(matching.bytes(), full);
    }
    for n in 0..3_000_000 {
        exchange(&mut matching, n);
    }
    // Two chunks of cells, eight of buckets, and the directories stay.
    assert!(
        matching.bytes() < 256 << 10,
        "{} of {full} bytes stay",
        matching.bytes()
    );
    assert!(
        // The linking of 64 unexpected messages, in four tables each.
        matching.steps().max < 2304,
        "{} steps at once",
        matching.steps().max
    );
    burst(&mut matching);
    assert_eq!(matching.unexpected_len() + matching.posted_len(), 0);
}

#[test]
fn few_posted_receives_give_back_what_many_took() {
    let mut matching = Subject::new();
    (0..1 << 14).for_each(|n| post(&mut matching, n));
    (0..1 << 14).for_each(|n| assert!(matching.arrive(envelope(n)).is_some()));
    let full = matching.bytes();
    for n in 0..4_000_000 {
        post(&mut matching, n);
        assert!(matching.arrive(envelope(n)).is_some());
    }
    assert!(
        matching.bytes() < full / 8,
        "{} of {full} bytes stay",
        matching.bytes()
    );
}

#[test]
fn an_idle_caller_gets_memory_back_by_upkeep_alone() {
    let mut matching = Subject::new();
    (0..1 << 16).for_each(|n| post(&mut matching, n));
    (0..1 << 16).for_each(|n| assert!(matching.arrive(envelope(n)).is_some()));
    let full = matching.bytes();
    (0..600_000).for_each(|_| matching.upkeep());
    assert!(
        matching.bytes() < full / 16,
        "{} of {full} bytes stay",
        matching.bytes()
    );
}
