//! Against a linear scan. Chunks and windows are small in unit tests, so the sequences grow and shrink every part.

use proptest::prelude::*;

use super::*;

/// The oracle: two lists in order of time, searched from the front.
#[derive(Default)]
struct Linear {
    posted: Vec<(PostedId, Pattern, u64)>,
    unexpected: Vec<(UnexpectedId, Envelope, Box<u64>)>,
}

impl Linear {
    fn oldest_posted(&self, envelope: &Envelope) -> Option<usize> {
        self.posted
            .iter()
            .position(|(_, pattern, _)| pattern.accepts(envelope))
    }

    fn oldest_unexpected(&self, pattern: &Pattern) -> Option<usize> {
        self.unexpected
            .iter()
            .position(|(_, envelope, _)| pattern.accepts(envelope))
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Post(Pattern),
    Message(Envelope),
    Peek(Pattern),
    Take(Pattern),
    /// Of the identifiers given so far, good and stale.
    Cancel(prop::sample::Index),
    Remove(prop::sample::Index),
    Prefetch(Envelope),
    PrefetchPosts(Vec<Pattern>),
    Upkeep(u8),
    /// As many receives one after the other, then as many messages.
    Burst(Pattern, u32, Envelope, u32),
    /// Takes all that is left, so that parts become empty in the middle of a sequence.
    Drain,
}

/// `sources` and `tags` are how many there are; few make wildcards meet, many make tables grow.
fn operations(sources: i32, tags: i32, stride: i32) -> impl Strategy<Value = Vec<Operation>> {
    let context = || 0u32..3;
    let pattern = move || {
        (
            context(),
            prop_oneof![1 => Just(-1), 3 => 0..sources],
            prop_oneof![1 => Just(-1), 3 => 0..tags],
        )
            .prop_map(move |(context, source, tag)| Pattern {
                context,
                source,
                tag: if tag < 0 { tag } else { tag * stride },
            })
    };
    let envelope = move || {
        (context(), 0..sources, 0..tags).prop_map(move |(context, source, tag)| Envelope {
            context,
            source,
            tag: tag * stride,
        })
    };
    let operation = prop_oneof![
        200 => pattern().prop_map(Operation::Post),
        200 => envelope().prop_map(Operation::Message),
        20 => pattern().prop_map(Operation::Peek),
        20 => pattern().prop_map(Operation::Take),
        40 => any::<prop::sample::Index>().prop_map(Operation::Cancel),
        40 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        20 => envelope().prop_map(Operation::Prefetch),
        20 => prop::collection::vec(pattern(), 0..40).prop_map(Operation::PrefetchPosts),
        20 => any::<u8>().prop_map(Operation::Upkeep),
        4 => (pattern(), 0u32..160, envelope(), 0u32..160)
            .prop_map(|(pattern, posts, envelope, messages)| Operation::Burst(pattern, posts, envelope, messages)),
        1 => Just(Operation::Drain),
    ];
    prop::collection::vec(operation, 1..1200)
}

struct Pair {
    matching: Matching<u64, Box<u64>>,
    linear: Linear,
    posted_ids: Vec<PostedId>,
    unexpected_ids: Vec<UnexpectedId>,
    next: u64,
    /// Whether the posted receives stand in the tables, and how often that changed.
    in_tables: bool,
    moves: u32,
}

impl Pair {
    fn new() -> Pair {
        Pair {
            matching: Matching::new(),
            linear: Linear::default(),
            posted_ids: Vec::new(),
            unexpected_ids: Vec::new(),
            next: 0,
            in_tables: false,
            moves: 0,
        }
    }

    fn post(&mut self, pattern: Pattern) {
        self.next += 1;
        let expected = self
            .linear
            .oldest_unexpected(&pattern)
            .map(|at| self.linear.unexpected.remove(at));
        match (self.matching.post(pattern, self.next), expected) {
            (Post::Queued(id), None) => {
                self.linear.posted.push((id, pattern, self.next));
                self.posted_ids.push(id);
            }
            (
                Post::Matched {
                    envelope,
                    unexpected,
                    posted,
                },
                Some((id, expected_envelope, expected)),
            ) => {
                assert_eq!(
                    (envelope, unexpected, posted),
                    (expected_envelope, expected, self.next)
                );
                assert_eq!(
                    self.matching.unexpected(id),
                    None,
                    "a matched message's identifier is stale"
                );
            }
            (got, expected) => panic!("post {pattern:?}: {got:?}, expected {expected:?}"),
        }
    }

    fn message(&mut self, envelope: Envelope) {
        let expected = self
            .linear
            .oldest_posted(&envelope)
            .map(|at| self.linear.posted.remove(at));
        assert_eq!(
            self.matching.arrive(envelope),
            expected.map(|(_, _, posted)| posted),
            "arrive {envelope:?}"
        );
        if expected.is_none() {
            self.next += 1;
            let id = self.matching.enqueue(envelope, Box::new(self.next));
            self.linear
                .unexpected
                .push((id, envelope, Box::new(self.next)));
            self.unexpected_ids.push(id);
        }
    }

    fn peek(&mut self, pattern: Pattern) {
        let expected = self
            .linear
            .oldest_unexpected(&pattern)
            .map(|at| &self.linear.unexpected[at]);
        let got = self.matching.peek(pattern);
        assert_eq!(
            got,
            expected.map(|(id, envelope, value)| (*id, *envelope, value)),
            "peek {pattern:?}"
        );
        if let Some((id, _, value)) = got {
            let value = value.clone();
            assert_eq!(self.matching.unexpected_mut(id), Some(&mut value.clone()));
            assert_eq!(self.matching.unexpected(id), Some(&value));
        }
    }

    fn take(&mut self, pattern: Pattern) {
        let expected = self
            .linear
            .oldest_unexpected(&pattern)
            .map(|at| self.linear.unexpected.remove(at));
        let got = self.matching.take(pattern);
        assert_eq!(
            got,
            expected.map(|(_, envelope, value)| (envelope, value)),
            "take {pattern:?}"
        );
    }

    fn cancel(&mut self, id: PostedId) {
        let at = self
            .linear
            .posted
            .iter()
            .position(|(other, ..)| *other == id);
        let expected = at.map(|at| self.linear.posted.remove(at).2);
        assert_eq!(self.matching.cancel(id), expected);
    }

    fn remove(&mut self, id: UnexpectedId) {
        let at = self
            .linear
            .unexpected
            .iter()
            .position(|(other, ..)| *other == id);
        let expected = at
            .map(|at| self.linear.unexpected.remove(at))
            .map(|(_, envelope, value)| (envelope, value));
        assert_eq!(self.matching.remove(id), expected);
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::Post(pattern) => self.post(pattern),
            Operation::Message(envelope) => self.message(envelope),
            Operation::Peek(pattern) => self.peek(pattern),
            Operation::Take(pattern) => self.take(pattern),
            Operation::Cancel(index) if !self.posted_ids.is_empty() => {
                self.cancel(*index.get(&self.posted_ids))
            }
            Operation::Remove(index) if !self.unexpected_ids.is_empty() => {
                self.remove(*index.get(&self.unexpected_ids));
            }
            Operation::Cancel(_) | Operation::Remove(_) => {}
            Operation::Prefetch(envelope) => self.matching.prefetch_arrival(&envelope),
            Operation::PrefetchPosts(patterns) => {
                patterns
                    .iter()
                    .for_each(|one| self.matching.prepare_post(one));
                self.matching.prefetch_posts(&patterns);
            }
            Operation::Upkeep(turns) => (0..turns).for_each(|_| self.matching.upkeep()),
            Operation::Burst(pattern, posts, envelope, messages) => {
                (0..posts).for_each(|_| self.post(pattern));
                (0..messages).for_each(|_| self.message(envelope));
            }
            Operation::Drain => {
                self.linear
                    .posted
                    .clone()
                    .into_iter()
                    .for_each(|(id, ..)| self.cancel(id));
                self.linear
                    .unexpected
                    .clone()
                    .into_iter()
                    .for_each(|(id, ..)| self.remove(id));
            }
        }
        if self.matching.steps().operations.is_multiple_of(16) {
            self.matching.audit();
        }
        if (self.matching.posted.cells.len() != 0) != self.in_tables {
            self.in_tables = !self.in_tables;
            self.moves += 1;
        }
        assert_eq!(self.matching.posted_len(), self.linear.posted.len());
        assert_eq!(self.matching.unexpected_len(), self.linear.unexpected.len());
    }

    fn compare_lists(&self) {
        let mut posted: Vec<_> = self
            .matching
            .posted_iter()
            .map(|(id, pattern, value)| (id, pattern, *value))
            .collect();
        posted.sort_by_key(|(id, ..)| *id);
        assert_eq!(posted, self.linear.posted);
        let mut unexpected: Vec<_> = self
            .matching
            .unexpected_iter()
            .map(|(id, envelope, value)| (id, envelope, value.clone()))
            .collect();
        unexpected.sort_by_key(|(id, ..)| *id);
        assert_eq!(unexpected, self.linear.unexpected);
    }
}

impl<P, U> Matching<P, U> {
    fn audit(&self) {
        self.posted.audit();
        self.unexpected.audit();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn few_keys_as_a_linear_scan(operations in operations(3, 3, 1)) {
        let mut pair = Pair::new();
        operations.into_iter().for_each(|operation| pair.run(operation));
        pair.compare_lists();
    }

    #[test]
    fn many_tags_as_a_linear_scan(operations in operations(2, 400, 16)) {
        let mut pair = Pair::new();
        operations.into_iter().for_each(|operation| pair.run(operation));
        pair.compare_lists();
    }

    #[test]
    fn many_sources_as_a_linear_scan(operations in operations(300, 2, 1)) {
        let mut pair = Pair::new();
        operations.into_iter().for_each(|operation| pair.run(operation));
        pair.compare_lists();
    }
}

/// What one turn of [`around_the_array_as_a_linear_scan`] does: posts, then cancels, then messages.
#[derive(Clone, Debug)]
struct Turn {
    /// With each receive, whether a message that it would get is taken before, so that it waits.
    posts: Vec<(Pattern, bool)>,
    messages: Vec<Envelope>,
    cancels: Vec<prop::sample::Index>,
}

fn turn() -> impl Strategy<Value = Turn> {
    let pattern = (-1i32..4, -1i32..4).prop_map(|(source, tag)| pattern(source, tag));
    let envelope = (0i32..4, 0i32..4).prop_map(|(source, tag)| envelope(source, tag));
    let posts = prop::collection::vec((pattern, prop::bool::weighted(0.9)), 0..240);
    (
        posts,
        prop::collection::vec(envelope, 0..240),
        prop::collection::vec(any::<prop::sample::Index>(), 0..80),
    )
        .prop_map(|(posts, messages, cancels)| Turn {
            posts,
            messages,
            cancels,
        })
}

/// Around as many receives as the array holds, all kinds of wildcards mixed: into the tables and back, in the middle of
/// matching and cancelling by identifiers given before and after the move.
#[test]
fn around_the_array_as_a_linear_scan() {
    let config = ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let moved = std::cell::Cell::new(0);
    runner
        .run(&prop::collection::vec(turn(), 1..20), |turns| {
            let mut pair = Pair::new();
            for Turn {
                posts,
                messages,
                cancels,
            } in turns
            {
                for (pattern, take) in posts {
                    if take {
                        pair.run(Operation::Take(pattern));
                    }
                    pair.run(Operation::Post(pattern));
                }
                for index in cancels {
                    pair.run(Operation::Cancel(index));
                }
                for envelope in messages {
                    pair.run(Operation::Message(envelope));
                }
                pair.compare_lists();
            }
            moved.set(moved.get() + pair.moves);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let moves = moved.get();
    assert!(moves > 50, "{moves} times into the tables or back");
}

const CONTEXT: u32 = 8;

fn envelope(source: i32, tag: i32) -> Envelope {
    Envelope {
        context: CONTEXT,
        source,
        tag,
    }
}

fn pattern(source: i32, tag: i32) -> Pattern {
    Pattern {
        context: CONTEXT,
        source,
        tag,
    }
}

#[test]
fn the_oldest_posted_receive_wins_in_every_order_of_kinds() {
    let kinds = [
        pattern(3, 5),
        pattern(-1, 5),
        pattern(3, -1),
        pattern(-1, -1),
    ];
    // Every order of the four kinds, as base-4 numbers without a repeated digit.
    for order in (0..256usize).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]) {
        if (0..4).any(|kind| !order.contains(&kind)) {
            continue;
        }
        let mut matching: Matching<usize, ()> = Matching::new();
        for _ in 0..2 {
            order.iter().for_each(|&kind| {
                assert!(matches!(matching.post(kinds[kind], kind), Post::Queued(_)))
            });
        }
        assert_eq!(
            matching.arrive(Envelope {
                context: CONTEXT + 1,
                ..envelope(3, 5)
            }),
            None
        );
        for _ in 0..2 {
            order
                .iter()
                .for_each(|&kind| assert_eq!(matching.arrive(envelope(3, 5)), Some(kind)));
        }
        assert_eq!(matching.arrive(envelope(3, 5)), None);
    }
}

#[test]
fn each_kind_of_receive_gets_the_oldest_message_it_accepts() {
    let mut matching: Matching<(), u32> = Matching::new();
    for (number, (source, tag)) in (0..).zip([(1, 1), (2, 1), (1, 2), (2, 2), (1, 1), (2, 2)]) {
        matching.enqueue(envelope(source, tag), number);
    }
    let mut take = |source, tag| {
        matching
            .take(pattern(source, tag))
            .map(|(_, number)| number)
    };
    assert_eq!(take(2, -1), Some(1));
    assert_eq!(take(-1, 2), Some(2));
    assert_eq!(take(-1, -1), Some(0));
    assert_eq!(take(1, 1), Some(4));
    assert_eq!(take(1, -1), None);
    assert_eq!(take(2, 2), Some(3));
    assert_eq!(take(i32::MIN, i32::MIN), Some(5));
    assert_eq!(take(-1, -1), None);
}

#[test]
fn extreme_values_are_values() {
    let mut matching: Matching<i32, ()> = Matching::new();
    for (number, context) in (0..).zip([0, 1, u32::MAX - 1, u32::MAX]) {
        for (source, tag) in [(0, 0), (i32::MAX, i32::MAX), (0, i32::MAX), (i32::MAX, 0)] {
            matching.post(
                Pattern {
                    context,
                    source,
                    tag,
                },
                number,
            );
        }
    }
    for (number, context) in (0..).zip([0, 1, u32::MAX - 1, u32::MAX]) {
        for (source, tag) in [(i32::MAX, 0), (0, 0), (0, i32::MAX), (i32::MAX, i32::MAX)] {
            assert_eq!(
                matching.arrive(Envelope {
                    context,
                    source,
                    tag
                }),
                Some(number)
            );
            assert_eq!(
                matching.arrive(Envelope {
                    context,
                    source,
                    tag
                }),
                None
            );
        }
    }
}

#[test]
fn stale_identifiers_name_nothing_even_after_their_chunk_is_gone() {
    let mut matching: Matching<i32, i32> = Matching::new();
    let mut stale_posted = Vec::new();
    let mut stale_unexpected = Vec::new();
    for round in 0..3 {
        let mut posted = Vec::new();
        for tag in 0..600 {
            match matching.post(pattern(0, tag), tag) {
                Post::Queued(id) => posted.push(id),
                matched => panic!("{matched:?}"),
            }
        }
        let unexpected: Vec<_> = (0..600)
            .map(|tag| matching.enqueue(envelope(1, tag), tag))
            .collect();
        for id in &stale_posted {
            assert_eq!(matching.cancel(*id), None, "round {round}");
        }
        for id in &stale_unexpected {
            assert_eq!(matching.unexpected(*id), None);
            assert_eq!(matching.unexpected_mut(*id), None);
            assert_eq!(matching.remove(*id), None);
        }
        let full = matching.bytes();
        for (tag, (posted, unexpected)) in (0..).zip(posted.iter().zip(&unexpected)) {
            assert_eq!(matching.cancel(*posted), Some(tag));
            assert_eq!(matching.cancel(*posted), None);
            assert_eq!(matching.remove(*unexpected), Some((envelope(1, tag), tag)));
            assert_eq!(matching.remove(*unexpected), None);
        }
        stale_posted.extend(posted);
        stale_unexpected.extend(unexpected);
        (0..20_000).for_each(|_| matching.upkeep());
        assert!(
            matching.bytes() < full / 2,
            "{} of {full} bytes given back",
            full - matching.bytes()
        );
        matching.audit();
    }
}

#[test]
fn payloads_are_dropped_once() {
    use std::rc::Rc;
    let payload = Rc::new(());
    let mut matching: Matching<Rc<()>, Rc<()>> = Matching::new();
    for tag in 0..100 {
        matching.post(pattern(0, tag), payload.clone());
        matching.enqueue(envelope(1, tag), payload.clone());
    }
    for tag in 0..50 {
        assert!(matching.arrive(envelope(0, tag)).is_some());
        assert!(matching.take(pattern(-1, tag)).is_some());
    }
    assert_eq!(Rc::strong_count(&payload), 101);
    drop(matching);
    assert_eq!(Rc::strong_count(&payload), 1);
}

/// Two threads have each posted a window: the second one's messages come first, in a run.
#[test]
fn a_run_is_looked_for_once() {
    const WINDOW: u64 = 48;
    let mut matching: Matching<u64, u64> = Matching::new();
    for number in 0..2 * WINDOW {
        matching.post(pattern(1, (number / WINDOW) as i32), number);
    }
    let before = matching.steps();
    for number in 0..WINDOW {
        assert_eq!(matching.arrive(envelope(1, 1)), Some(WINDOW + number));
    }
    for _ in 0..WINDOW {
        assert_eq!(matching.arrive(envelope(1, 1)), None);
    }
    let steps = matching.steps().total - before.total;
    assert!(steps < 6 * WINDOW, "{steps} steps for a run and its like");
    for number in 0..WINDOW {
        assert_eq!(matching.arrive(envelope(1, 0)), Some(number));
    }
}
