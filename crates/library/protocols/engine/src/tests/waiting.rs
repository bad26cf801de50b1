//! Waiting for what no request tells of.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use weft_transport::loopback::Network;

use super::{CONTEXT, engines};
use crate::{Pace, Status};

/// Also one of more threads than cores, whose yields would each cost a time slice of another process.
#[test]
fn a_thread_sleeps_where_others_want_its_core() {
    let mut engine = engines(&Network::new(1, 4, 1000), 1).swap_remove(0);
    for threads in [0, u32::MAX] {
        engine.threads = threads;
        assert_eq!(engine.pace_of_waiter().yields, Pace::SHARED.yields);
    }
    // Two yields that take for ever.
    let now_ns = weft_sync::now_ns();
    (0..2).for_each(|_| assert!(engine.crowd.yielded(0, now_ns)));
    for threads in [0, u32::MAX] {
        engine.threads = threads;
        let pace = engine.pace_of_waiter();
        assert_eq!((pace.spins, pace.yields), (0, 0));
    }
}

/// Asked in the first turn, while it yields, and around every step of a sleep.
#[test]
fn what_was_met_is_not_asked_again() {
    let engine = &engines(&Network::new(1, 4, 1000), 1)[0];
    for answer in (1..400).chain([1000, 1001, 1002, 1003]) {
        let mut asked = 0;
        engine.block_on_outside(|| {
            asked += 1;
            assert!(asked <= answer, "asked again after answer {answer}");
            asked == answer
        });
        assert_eq!(asked, answer);
    }
}

/// A long message takes its receiver two turns, between which the receiver keeps its core.
#[test]
fn nobody_sleeps_after_a_turn_in_which_something_came() {
    let pair = engines(&Network::new(1, 4, 1000), 2);
    pair[1].set_pace(Pace::CROWDED);
    for comes in [true, false] {
        if comes {
            pair[0].send_to(1, 5, &mut [1], false);
        }
        // Asked before the first turn, after it, and after the second or before a sleep.
        let (mut asked, sleeps) = (0, Cell::new(0));
        let met = || {
            asked += 1;
            asked == 3
        };
        let sleeping = || sleeps.set(sleeps.get() + 1);
        pair[1].block_on_others(0, met, sleeping, String::new);
        assert_eq!(sleeps.get(), if comes { 0 } else { 1 });
    }
}

/// What was asked for may be a lock, for which an operation that is polled then would wait for ever.
#[test]
fn no_operation_is_polled_once_it_is_met() {
    for answer in (1..400).chain(1000..1004) {
        let engine = &engines(&Network::new(1, 4, 1000), 1)[0];
        let (is_met, mut asked) = (Arc::new(AtomicBool::new(false)), 0);
        let (of_operation, mut called) = (is_met.clone(), None);
        let begun = engine.begin(0, CONTEXT, |awaited| {
            called = Some(awaited);
            poll_fn(move |_| {
                assert!(!of_operation.load(Ordering::Relaxed), "{answer}");
                Poll::<Status>::Pending
            })
        });
        assert!(begun.is_ok());
        engine.block_on_outside(|| {
            asked += 1;
            if asked == answer {
                is_met.store(true, Ordering::Relaxed);
                called.take().unwrap().call();
            }
            asked == answer
        });
    }
}

/// A report has a line for what is alike, however often it is, and room for what is not.
#[test]
fn a_report_counts_what_is_alike() {
    let engine = &engines(&Network::new(1, 4, 1000), 2)[0];
    let mut bytes = [[0u8]; 100];
    let mut receives: Vec<_> = bytes
        .iter_mut()
        .map(|byte| engine.receive_from(-1, 7, byte))
        .collect();
    let mut other = [0; 2];
    receives.push(engine.receive_from(1, 8, &mut other));
    let report = engine.report();
    let any = "receive from any tag 7 context 8 (1 B): no message yet, 100 times";
    let one = "receive from 1 tag 8 context 8 (2 B): no message yet\n";
    assert!(report.contains(any) && report.contains(one), "{report}");
    for receive in receives {
        engine.cancel(receive);
        engine.finish(receive);
    }
}
