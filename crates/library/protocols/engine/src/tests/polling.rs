//! Programs that poll make way where others want the core, and nowhere else.

use weft_transport::loopback::Network;

use super::engines;
use crate::Pace;

/// How often this thread has slept. A row of yields has sleeps in it.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// The sleeps in many polls in vain.
fn sleeps_while_polling(pace: Pace) -> u64 {
    let engine = &engines(&Network::new(1, 4, 1000), 1)[0];
    engine.set_pace(pace);
    let before = sleeps();
    (0..1 << 18).for_each(|_| engine.polled_in_vain());
    sleeps() - before
}

#[test]
fn polls_in_vain_yield_where_cores_are_shared() {
    assert_eq!(sleeps_while_polling(Pace::ALONE), 0);
    // Eight are due; one whose time is over before it gives up the core is not counted.
    assert!(sleeps_while_polling(Pace::SHARED) >= 4);
}
