//! The locks under threads.

use std::sync::Barrier;
use std::thread;

use super::*;
use crate::uar::adapter::WorkRequest;

/// Two threads at a place that one queue pair's or uUAR's lock guards, the count of which is then exact.
#[test]
fn threads_on_one_queue_pair_lose_no_count() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let queue_pair = context.create_qp(None).unwrap();
    let each = 50_000;
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..each {
                    queue_pair.enter_send().ring(1, &WorkRequest::default());
                }
            });
        }
    });
    let figures = host.figures();
    assert_eq!((figures.requests, figures.doorbells), (3 * each, 3 * each));
    assert_eq!(figures.send_lock.takes, 3 * each);
    assert_eq!(figures.uuar_lock.takes, 0);
}

#[test]
fn threads_on_one_uuar_count_apart() {
    let host = Host::new();
    let context = host.open(uuars(2, 0));
    let queue_pairs = [(); 2].map(|()| context.create_qp(None).unwrap());
    assert_eq!(queue_pairs.each_ref().map(QueuePair::uuar), [1, 1]);
    let each = 50_000;
    thread::scope(|scope| {
        for queue_pair in &queue_pairs {
            scope.spawn(move || {
                for _ in 0..each {
                    queue_pair.enter_send().ring(2, &WorkRequest::default());
                }
            });
        }
    });
    let figures = host.figures();
    assert_eq!((figures.requests, figures.doorbells), (4 * each, 2 * each));
    assert_eq!(figures.uuar_lock.takes, 2 * each);
    assert_eq!(figures.send_lock.contentions, 0);
}

/// That a thread comes while the lock is held cannot be had for certain, only soon.
#[test]
fn a_lock_that_is_found_taken_is_counted_as_contended() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let queue = context.create_cq(false).unwrap();
    for turn in 1..=500 {
        let held = queue.enter();
        let started = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                started.wait();
                drop(queue.enter());
            });
            started.wait();
            thread::sleep(std::time::Duration::from_millis(turn.min(20)));
            drop(held);
        });
        let LockFigures { takes, contentions } = host.figures().cq_lock;
        assert_eq!(takes, 2 * turn);
        if contentions > 0 {
            assert_eq!(contentions, 1);
            return;
        }
    }
    panic!("no contention was counted");
}

/// What the broken promise of one thread does to the process is seen from outside of it: this test runs itself again.
#[test]
fn two_threads_where_one_was_promised_end_the_process() {
    const CHILD: &str = "SOFTRDMA_TEST_BREAKS_PROMISE";
    if std::env::var_os(CHILD).is_some() {
        let context = Host::new().open(Settings::default());
        let domain = context.alloc_td(None).unwrap();
        let queue_pair = context.create_qp(Some(&domain)).unwrap();
        let _first = queue_pair.enter_send();
        let _second = queue_pair.enter_send();
        return;
    }
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -c 0; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "uar::tests::threads::two_threads_where_one_was_promised_end_the_process",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(signal, Some(libc::SIGABRT));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("softrdma: two threads at once"), "{text}");
}
