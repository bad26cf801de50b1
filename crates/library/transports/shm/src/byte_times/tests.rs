//! What is believed of times, and what is chosen by them.

use super::*;
use Length::{BeyondRing, Long, Medium};
use Pattern::{Answered, OneWay, Window};

const PIECE: usize = 32 << 10;
const SINGLE: Class = Class::FIRST;

fn class(length: Length, pattern: Pattern) -> Class {
    Class { length, pattern }
}

/// A piece at so many picoseconds a byte.
fn time(picoseconds: u64) -> Duration {
    Duration::from_nanos(PIECE as u64 * picoseconds / 1000)
}

fn words() -> Words {
    Default::default()
}

/// A message behind those that find out what each way takes.
const LATER: u32 = 100;

fn is_ring_chosen(words: [&Words; 2], message: (Class, u32), cores: Cores) -> bool {
    choose(words, message, cores).is_ring
}

/// A sender's words and a receiver's with these times of pieces.
fn pieces(class: Class, fill: u64, drain: u64, copy: u64) -> [Words; 2] {
    let words = [words(), words()];
    note(&words[0], Timed::Fill, class, PIECE, time(fill));
    note(&words[1], Timed::Drain, class, PIECE, time(drain));
    note(&words[1], Timed::Copy, class, PIECE, time(copy));
    words
}

/// A receiver's words with these times of whole messages.
fn wholes(class: Class, ring: u64, copy: u64) -> Words {
    let receiver = words();
    note(&receiver, Timed::WholeRing, class, PIECE, time(ring));
    note(&receiver, Timed::WholeCopy, class, PIECE, time(copy));
    receiver
}

#[test]
fn in_a_window_what_takes_less_in_all_is_chosen() {
    for length in [Medium, Long] {
        let class = class(length, Window);
        for (fill, drain, copy, ring) in [
            (20, 20, 73, true),
            (30, 30, 73, true),
            (30, 30, 33, false),
            (60, 60, 52, false),
            (40, 300, 150, false),
            (1, 1, 5000, true),
            (150, 5000, 1, false),
        ] {
            let [sender, receiver] = pieces(class, fill, drain, copy);
            let chosen = is_ring_chosen([&sender, &receiver], (class, LATER), Cores::Together);
            assert_eq!(chosen, ring, "{fill} {drain} {copy}");
        }
    }
}

#[test]
fn of_single_messages_the_whole_counts() {
    for class in [
        class(Medium, Answered),
        class(Long, OneWay),
        class(BeyondRing, Window),
    ] {
        for (ring, copy) in [(50, 150), (150, 50), (1, 5000), (5000, 1)] {
            let receiver = wholes(class, ring, copy);
            let chosen = is_ring_chosen([&words(), &receiver], (class, LATER), Cores::Together);
            assert_eq!(chosen, ring < copy);
        }
    }
}

#[test]
fn where_cores_are_shared_or_work_apart_pieces_count_for_all_that_a_ring_holds() {
    for (fill, drain, copy, ring) in [(20, 20, 73, true), (35, 35, 73, true), (60, 60, 52, false)] {
        for class in [class(Medium, Answered), class(Long, OneWay)] {
            let [sender, receiver] = pieces(class, fill, drain, copy);
            // Whole messages took what the scheduler made of them: the opposite.
            note(
                &receiver,
                Timed::WholeRing,
                class,
                PIECE,
                time(if ring { 900 } else { 1 }),
            );
            note(&receiver, Timed::WholeCopy, class, PIECE, time(100));
            let chosen = |cores| is_ring_chosen([&sender, &receiver], (class, LATER), cores);
            assert_eq!(
                [Cores::Shared, Cores::Apart, Cores::Together].map(chosen),
                [ring, ring, !ring]
            );
        }
        let class = class(BeyondRing, OneWay);
        let receiver = wholes(class, 1, 100);
        assert!(is_ring_chosen(
            [&words(), &receiver],
            (class, LATER),
            Cores::Shared
        ));
    }
}

#[test]
fn where_cores_are_shared_a_copy_counts_for_more_than_its_piece() {
    for (length, ring, copy, expected) in [
        (Medium, 180, 100, true),
        (Medium, 220, 100, false),
        (Long, 120, 100, true),
        (Long, 140, 100, false),
    ] {
        let class = class(length, Answered);
        let [sender, receiver] = pieces(class, ring / 2, ring / 2, copy);
        let chosen = |cores| is_ring_chosen([&sender, &receiver], (class, LATER), cores);
        assert_eq!(
            [Cores::Shared, Cores::Apart].map(chosen),
            [expected, false],
            "{class:?}"
        );
    }
}

#[test]
fn classes_have_times_of_their_own() {
    let receiver = words();
    let all = (0..Class::COUNT).map(|index| Class::of_index(index).unwrap());
    for (index, class) in all.clone().enumerate() {
        assert_eq!(class.index(), index);
        let time = time(41 + 4 * index as u64);
        note(&receiver, Timed::Copy, class, PIECE, time);
    }
    for (index, class) in all.enumerate() {
        let word = receiver[class.index()].load(Ordering::Relaxed);
        assert_eq!(read(word, Timed::Copy), Some(40 + 4 * index as u32));
    }
    assert_eq!(Class::of_index(Class::COUNT), None);
}

#[test]
fn the_first_are_copied_and_then_go_through_rings_and_then_are_copied_again() {
    for (length, from) in [(Medium, 3), (Long, 9)] {
        let class = class(length, Answered);
        let [sender, receiver] = [words(), words()];
        let is_ring =
            |number| is_ring_chosen([&sender, &receiver], (class, number), Cores::Together);
        // Nothing was copied, or it was not timed.
        assert!((1..40).all(|number| is_ring(number) == (number >= 3)));
        note(&receiver, Timed::WholeCopy, class, PIECE, time(50));
        assert!((2..40).all(|number| is_ring(number) == (number >= from)));
        for (ring, rings, copies_again) in [(60, 6, 3), (40, 6, 3), (110, 4, 3), (24, 6, 0)] {
            let receiver = words();
            note(&receiver, Timed::WholeCopy, class, PIECE, time(50));
            note(&receiver, Timed::WholeRing, class, PIECE, time(ring));
            let chosen = |number| choose([&sender, &receiver], (class, number), Cores::Together);
            for number in from..40 {
                let is_again = (from + 6..from + 6 + copies_again).contains(&number);
                let expected = if number < from + rings {
                    true
                } else if number < from + 6 + copies_again {
                    !is_again && ring < 50
                } else {
                    ring < 50
                };
                assert_eq!(chosen(number).is_ring, expected, "{ring} {number}");
                assert_eq!(chosen(number).is_tried, is_again, "{ring} {number}");
            }
        }
    }
}

#[test]
fn what_no_ring_holds_goes_through_one_where_that_is_much_better_for_what_it_holds() {
    for (ring, tried) in [(50, false), (42, false), (38, true)] {
        let receiver = wholes(class(Long, OneWay), ring, 50);
        let beyond = class(BeyondRing, OneWay);
        note(&receiver, Timed::WholeCopy, beyond, PIECE, time(50));
        assert!(!is_ring_chosen(
            [&words(), &receiver],
            (beyond, 8),
            Cores::Together
        ));
        let chosen = is_ring_chosen([&words(), &receiver], (beyond, 9), Cores::Together);
        assert_eq!(chosen, tried);
    }
}

#[test]
fn the_slower_way_is_tried_now_and_then_and_seldom_if_it_is_much_slower() {
    for (ring, copy, every) in [
        (52, 68, 256),
        (68, 52, 256),
        (52, 84, 512),
        (50, 120, 2048),
        (400, 50, 32768),
        (50, 400, 32768),
    ] {
        let receiver = wholes(SINGLE, ring, copy);
        for number in LATER..40_000 {
            let chosen = choose([&words(), &receiver], (SINGLE, number), Cores::Together);
            assert_eq!(chosen.is_tried, number % every < TRIED_IN_A_ROW);
            assert_eq!(chosen.is_ring, (ring < copy) != chosen.is_tried);
        }
    }
}

#[test]
fn one_piece_that_took_long_is_not_believed_and_a_short_one_is() {
    let words = words();
    let known = || read(words[SINGLE.index()].load(Ordering::Relaxed), Timed::Drain).unwrap();
    let note = |picoseconds| note(&words, Timed::Drain, SINGLE, PIECE, time(picoseconds));
    note(60);
    let first = known();
    note(500);
    assert!((first + 1..first + first / 3).contains(&known()));
    (0..30).for_each(|_| note(500));
    assert!(known() > 450);
    note(61);
    assert!(known() <= first + UNIT_PS);
}

#[test]
fn times_stand_beside_each_other() {
    let receiver = wholes(SINGLE, 200_000, 41);
    note(&receiver, Timed::Copy, SINGLE, PIECE, Duration::ZERO);
    let word = receiver[SINGLE.index()].load(Ordering::Relaxed);
    let all = [
        Timed::WholeRing,
        Timed::WholeCopy,
        Timed::Copy,
        Timed::Drain,
    ];
    let known = all.map(|timed| read(word, timed));
    assert_eq!(known, [Some(LONGEST_PS), Some(40), Some(UNIT_PS), None]);
}

#[test]
fn who_reads_in_no_time_is_near_and_who_takes_very_long_is_not() {
    assert!(
        is_near(PIECE, Duration::ZERO)
            || own_copies().is_none_or(|[plain, kernel]| plain >= kernel)
    );
    assert!(!is_near(PIECE, Duration::from_secs(1)) || own_copies().is_none());
}

#[test]
fn the_first_transfers_are_timed_and_some_later_ones_and_all_long_ones() {
    let mut timing = Timing::default();
    let timed: Vec<bool> = (0..80).map(|_| timing.next(SINGLE)).collect();
    let (first, later) = timed.split_at(FIRST_TIMED as usize);
    assert!(first.iter().all(|&one| one));
    assert_eq!(later.iter().filter(|&&one| one).count(), 18);
    assert!((0..80).all(|_| timing.next(class(Long, OneWay))));
}

#[test]
fn a_ring_whose_lines_are_dear_is_streamed_into_before_it_is_given_up() {
    let class = class(Medium, OneWay);
    let receiver = wholes(class, 450, 150);
    let sender = words();
    assert!(!is_stream_chosen(&sender, class, LATER));
    note(&sender, Timed::Fill, class, PIECE, time(60));
    assert!(!is_stream_chosen(&sender, class, LATER));
    assert!(!is_ring_chosen(
        [&sender, &receiver],
        (class, LATER),
        Cores::Together
    ));
    let sender = words();
    note(&sender, Timed::Fill, class, PIECE, time(400));
    assert!(is_stream_chosen(&sender, class, LATER));
    for plain in [5, TRIED_EVERY, TRIED_EVERY + PLAIN_IN_A_ROW - 1] {
        assert!(!is_stream_chosen(&sender, class, plain));
    }
    assert!(is_ring_chosen(
        [&sender, &receiver],
        (class, LATER),
        Cores::Together
    ));
    note(&sender, Timed::Stream, class, PIECE, time(40));
    assert!(is_stream_chosen(&sender, class, LATER));
    assert!(!is_ring_chosen(
        [&sender, &receiver],
        (class, LATER),
        Cores::Together
    ));
    let receiver = wholes(class, 110, 150);
    assert!(is_ring_chosen(
        [&sender, &receiver],
        (class, LATER),
        Cores::Together
    ));
    // What is answered is written to where this core has just read.
    note(&sender, Timed::Fill, SINGLE, PIECE, time(400));
    assert!(!is_stream_chosen(&sender, SINGLE, LATER));
}
