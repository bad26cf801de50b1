//! Requests that the program completes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_transport::loopback::Network;

use super::engines;

#[test]
fn a_sleeping_waiter_is_woken() {
    let network = Network::new(1, 4, 100);
    let engine = &engines(&network, 1)[0];
    let id = engine.external(3).unwrap();
    let completed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let status = engine.wait(id);
            assert!(completed.load(Ordering::Acquire));
            status
        });
        // Longer than a waiter stays awake.
        std::thread::sleep(Duration::from_millis(50));
        assert!(!engine.is_complete(id) && !waiter.is_finished());
        completed.store(true, Ordering::Release);
        assert!(engine.complete_external(id));
        let status = waiter.join().unwrap();
        assert!(!status.receive && status.failure.is_none());
    });
    assert!(!engine.exists(id));
}

#[test]
fn it_completes_once_and_detached_ones_are_recycled() {
    let network = Network::new(1, 4, 100);
    let engine = &engines(&network, 1)[0];
    let id = engine.external(0).unwrap();
    assert!(engine.complete_external(id));
    assert!(!engine.complete_external(id));
    engine.finish(id);
    assert!(!engine.complete_external(id));
    let detached = engine.external(0).unwrap();
    engine.detach(detached);
    assert!(engine.exists(detached));
    assert!(engine.complete_external(detached));
    assert!(!engine.exists(detached));
}

#[test]
fn nothing_else_is_completed_so() {
    let network = Network::new(1, 4, 100);
    let engine = &engines(&network, 1)[0];
    let mut byte = [0];
    let receive = engine.receive_from(0, 1, &mut byte);
    assert!(!engine.complete_external(receive));
    engine.cancel(receive);
    assert!(engine.finish(receive).cancelled);
}
