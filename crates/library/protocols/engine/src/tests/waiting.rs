//! Waiting for what no request tells of.

use weft_transport::loopback::Network;

use super::engines;

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
