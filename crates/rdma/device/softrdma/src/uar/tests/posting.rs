//! Doorbell or BlueFlame, and what is counted of it.

use super::*;
use crate::uar::adapter::{Payload, WorkRequest};

fn write(payload: Payload) -> WorkRequest {
    WorkRequest {
        remote_address: true,
        payload,
        ..WorkRequest::default()
    }
}

#[test]
fn lengths_of_work_requests() {
    let bytes = |request: WorkRequest| request.bytes();
    assert_eq!(bytes(WorkRequest::default()), 16);
    assert_eq!(bytes(write(Payload::Elements(1))), 48);
    assert_eq!(bytes(write(Payload::Inline(1))), 48);
    assert_eq!(bytes(write(Payload::Inline(12))), 48);
    assert_eq!(bytes(write(Payload::Inline(13))), 64);
    // What fits in one unit of BlueFlame, and what does not.
    assert_eq!(bytes(write(Payload::Inline(28))), 64);
    assert_eq!(bytes(write(Payload::Inline(29))), 80);
    let atomic = WorkRequest {
        atomic: true,
        ..write(Payload::Elements(1))
    };
    assert_eq!(bytes(atomic), 64);
    let datagram = WorkRequest {
        datagram: true,
        payload: Payload::Elements(1),
        ..WorkRequest::default()
    };
    assert_eq!(bytes(datagram), 80);
    let xrc = WorkRequest {
        xrc: true,
        payload: Payload::Elements(2),
        ..WorkRequest::default()
    };
    assert_eq!(bytes(xrc), 64);
}

/// How one call on a fresh queue pair of a context is made known.
fn rung(settings: Settings, requests: u32, last: WorkRequest) -> Option<Rung> {
    let context = Host::new().open(settings);
    let queue_pair = context.create_qp(None).unwrap();
    queue_pair.enter_send().ring(requests, &last)
}

#[test]
fn blueflame_is_for_one_request_that_fits() {
    let ring = |requests, last| rung(Settings::default(), requests, last);
    let one = Payload::Elements(1);
    assert_eq!(ring(1, write(one)), Some(Rung::BlueFlame));
    assert_eq!(ring(1, write(Payload::Inline(2))), Some(Rung::BlueFlame));
    assert_eq!(ring(2, write(one)), Some(Rung::Doorbell));
    assert_eq!(ring(0, write(one)), None);
    assert_eq!(ring(1, WorkRequest::default()), Some(Rung::Doorbell));
    // 16 + 16 + 14 × 16 = 256 bytes is a whole buffer.
    assert_eq!(ring(1, write(Payload::Elements(14))), Some(Rung::BlueFlame));
    assert_eq!(ring(1, write(Payload::Elements(15))), Some(Rung::Doorbell));
    assert_eq!(ring(1, write(Payload::Inline(220))), Some(Rung::BlueFlame));
    assert_eq!(ring(1, write(Payload::Inline(221))), Some(Rung::Doorbell));
}

#[test]
fn blueflame_can_be_shut_up() {
    for settings in [Settings::default(), dynamic()] {
        let settings = Settings {
            blueflame: false,
            ..settings
        };
        assert_eq!(
            rung(settings, 1, write(Payload::Inline(2))),
            Some(Rung::Doorbell)
        );
    }
}

#[test]
fn blueflame_can_be_kept_for_inline_data() {
    let settings = Settings {
        prefer_blueflame: false,
        ..Settings::default()
    };
    let ring = |payload| rung(settings.clone(), 1, write(payload));
    assert_eq!(ring(Payload::Elements(1)), Some(Rung::Doorbell));
    assert_eq!(ring(Payload::Inline(2)), Some(Rung::BlueFlame));
}

#[test]
fn uuar_0_takes_doorbells_only() {
    let context = Host::new().open(uuars(2, 1));
    let _low_latency = context.create_qp(None).unwrap();
    let queue_pair = context.create_qp(None).unwrap();
    assert_eq!(queue_pair.uuar(), 0);
    let rung = queue_pair.enter_send().ring(1, &write(Payload::Inline(2)));
    assert_eq!(rung, Some(Rung::Doorbell));
}

#[test]
fn thread_domains_use_blueflame_without_locks() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let domain = context.alloc_td(None).unwrap();
    let queue_pair = context.create_qp(Some(&domain)).unwrap();
    assert_eq!(
        queue_pair.disciplines(),
        (Discipline::Promised, Discipline::Absent)
    );
    let rung = queue_pair.enter_send().ring(1, &write(Payload::Inline(2)));
    assert_eq!(rung, Some(Rung::BlueFlame));
    drop(queue_pair.enter_receive());
    assert_eq!(host.figures().locks(), LockFigures::default());
}

#[test]
fn what_is_posted_is_counted_and_outlives_the_queue_pair() {
    let host = Host::new();
    let context = host.open(uuars(6, 2));
    // The third queue pair is on a medium-latency uUAR.
    let mut queue_pairs: Vec<_> = (0..3).map(|_| context.create_qp(None).unwrap()).collect();
    for queue_pair in &queue_pairs {
        queue_pair
            .enter_send()
            .ring(1, &write(Payload::Elements(1)));
        queue_pair
            .enter_send()
            .ring(32, &write(Payload::Elements(1)));
        let sending = queue_pair.enter_send();
        sending.ring(1, &write(Payload::Inline(29)));
        drop(sending);
        drop(queue_pair.enter_receive());
    }
    let check = || {
        let figures = host.figures();
        assert_eq!((figures.posts, figures.requests), (9, 3 * 34));
        assert_eq!((figures.doorbells, figures.blueflame_writes), (3, 6));
        assert_eq!(figures.blueflame_bytes, 3 * (64 + 128));
        assert_eq!(figures.send_lock.takes, 9);
        assert_eq!(figures.uuar_lock.takes, 3);
        assert_eq!(figures.receive_lock.takes, 3);
        assert_eq!(figures.locks().contentions, 0);
    };
    check();
    queue_pairs.truncate(1);
    check();
    drop(queue_pairs);
    check();
    assert_eq!(host.figures().qps, 0);
}

#[test]
fn single_threaded_takes_no_lock_anywhere() {
    let host = Host::new();
    let context = host.open(Settings {
        single_threaded: true,
        ..uuars(6, 2)
    });
    let queue_pairs: Vec<_> = (0..7).map(|_| context.create_qp(None).unwrap()).collect();
    for queue_pair in &queue_pairs {
        assert_eq!(
            queue_pair.disciplines(),
            (Discipline::Promised, Discipline::Absent)
        );
        queue_pair
            .enter_send()
            .ring(1, &write(Payload::Elements(1)));
        drop(queue_pair.enter_receive());
    }
    drop(context.create_cq(false).unwrap().enter());
    drop(context.create_srq(None).unwrap().enter());
    assert_eq!(host.figures().locks(), LockFigures::default());
}

#[test]
fn completion_queues_keep_their_lock_in_thread_domains() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let domain = context.alloc_td(None).unwrap();
    let queue = context.create_cq(false).unwrap();
    drop(queue.enter());
    assert_eq!(host.figures().cq_lock.takes, 1);
    assert_eq!(
        context.create_cq(true).unwrap().discipline(),
        Discipline::Promised
    );
    let receive = |domain| context.create_srq(domain).unwrap().discipline();
    assert_eq!(receive(Some(&domain)), Discipline::Promised);
    assert_eq!(receive(None), Discipline::Taken);
    drop(context.create_srq(None).unwrap().enter());
    assert_eq!(host.figures().srq_lock.takes, 1);
}
