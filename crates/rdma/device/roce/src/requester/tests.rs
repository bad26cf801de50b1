use super::retry::{Expiry, Retry};
use super::window::Window;

#[test]
fn the_window_grows_fast_and_then_slowly_and_halves_once_for_each_loss() {
    let mut window = Window::new(256);
    assert_eq!(window.packets(), 32);
    window.acknowledged(32);
    assert_eq!(window.packets(), 64);
    window.acknowledged(1000);
    assert_eq!(window.packets(), 256);
    window.acknowledged(1000);
    assert_eq!(window.packets(), 256);
    window.lost(100, 300);
    assert_eq!(window.packets(), 128);
    window.lost(299, 350);
    assert_eq!(window.packets(), 128, "the same loss");
    window.acknowledged(127);
    assert_eq!(window.packets(), 128);
    window.acknowledged(1);
    assert_eq!(window.packets(), 129);
    window.lost(300, 400);
    assert_eq!(window.packets(), 64);
    window.silent();
    assert_eq!(window.packets(), 4);
    window.acknowledged(4);
    assert_eq!(window.packets(), 8);
    for position in 400..500 {
        window.lost(position, position + 1);
    }
    assert_eq!(window.packets(), 4);
}

const MILLISECOND: u64 = 1_000_000;

fn retry(timeout: u8) -> Retry {
    Retry::new(timeout, 2, 1)
}

#[test]
fn silence_is_probed_ever_more_rarely_until_the_time_out() {
    let mut retry = retry(14);
    assert_eq!(retry.deadline(), None);
    retry.sent(0, 0, true);
    retry.progress(MILLISECOND / 4, 1, true);
    // The round trip was a quarter of a millisecond; no probe comes before 2 ms.
    let start = MILLISECOND / 4;
    let mut probes = Vec::new();
    let timeout = loop {
        let now = retry.deadline().unwrap();
        match retry.expire(now) {
            Expiry::Probe => probes.push((now - start) / MILLISECOND),
            Expiry::Timeout => break now - start,
            Expiry::Nothing => panic!("a deadline without a reason"),
        }
    };
    assert_eq!(probes, [2, 6, 14, 30, 62]);
    assert_eq!(timeout, 4096 << 14);
    assert_eq!(retry.deadline(), Some(start + timeout + 2 * MILLISECOND));
}

#[test]
fn retries_are_given_back_by_progress() {
    let mut retry = retry(14);
    assert!(retry.spend() && retry.spend());
    assert!(!retry.spend());
    retry.progress(0, 1, false);
    assert!(retry.spend());
    assert_eq!(retry.deadline(), None, "nothing is waited for");
    assert!(retry.pause(0, 1));
    assert!(retry.is_paused());
    assert_eq!(retry.deadline(), Some(10_000));
    assert_eq!(retry.expire(10_000), Expiry::Nothing);
    assert!(!retry.is_paused());
    assert!(!retry.pause(0, 1));
}
