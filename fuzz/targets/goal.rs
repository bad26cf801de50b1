//! A schedule in GOAL: whatever is read is written so that it is read again, and its simulation ends; whatever is not
//! is one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_goal::{Fold, Machine, Network};

fuzz_target!(|data: &[u8]| {
    let schedule = match weft_goal::read(data) {
        Ok(schedule) => schedule,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1),
    };
    let mut text = Vec::new();
    weft_goal::write(&schedule, &mut text).unwrap();
    assert_eq!(weft_goal::read(&text[..]), Ok(schedule.clone()));
    let network = Network {
        eager_bytes: 8,
        ..Network::LOGGOPSIM
    };
    let machine = Machine {
        ranks_a_host: 2,
        between: network,
        within: network,
    };
    if let Ok(times) = weft_goal::simulate(&schedule, &machine, Fold::None) {
        assert!(times.end_ns.is_finite());
    }
});
