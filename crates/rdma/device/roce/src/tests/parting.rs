//! The last acknowledgement of a queue pair that goes is lost, or the request that it answers comes again: nobody is there any more.

use super::pair::{Pair, Settings, local, pattern, send, work};
use crate::Injection;
use crate::host::Status;

/// Side 0 sends, side 1 goes as soon as it has everything. How each of the sends ended.
fn statuses(injection: Injection, parts: bool) -> Vec<Status> {
    const MESSAGES: u64 = 3;
    let mut pair = Pair::new(Settings {
        injection,
        ..Settings::default()
    });
    pattern(&mut pair.sides[0], 0, 5000, 1);
    for token in 0..MESSAGES {
        pair.sides[1].post_receive(token, token * 5000, 5000);
        pair.post(0, work(token, send(), local(0, 5000)));
    }
    pair.run_until(|sides| sides[1].receives_done.len() as u64 == MESSAGES);
    pair.leave(1, parts);
    pair.run(60_000_000_000);
    assert_eq!(pair.sides[0].sends_done.len() as u64, MESSAGES);
    pair.sides[0].sends_done.iter().map(|d| d.status).collect()
}

fn failures(parts: bool) -> usize {
    let failed = |seed: &u64| {
        let injection = Injection {
            loss: 0.05,
            duplicate: 0.02,
            reorder: 0.05,
            delay_us: 50,
            seed: *seed,
            ..Injection::default()
        };
        let statuses = statuses(injection, parts);
        statuses.iter().any(|status| *status != Status::Success)
    };
    (0..400).filter(failed).count()
}

/// Without the copies one in twenty of the senders hears nothing any more.
#[test]
fn who_leaves_acknowledges_once_more() {
    assert_eq!(failures(true), 0);
    assert!(failures(false) > 5, "the test's wire loses nothing");
}

/// What is still owed at that moment is said, too.
#[test]
fn who_leaves_owes_nothing() {
    let all = [Status::Success; 3];
    assert_eq!(statuses(Injection::default(), true), all);
    assert_ne!(statuses(Injection::default(), false), all);
}
