//! Completion queues and receive rings against queues of the standard library.

use std::collections::VecDeque;

use super::super::completion::{Arm, CARRIED_BYTES, Carried, Completion, Cqe, PushError};
use super::super::lock::PATIENT;
use super::super::receive::Full;
use super::super::record::receive::{MAX_RECEIVE_SGES, Sge};
use super::{Random, completion, join};
use crate::fabric::Number;

#[test]
fn completions_come_out_as_they_went_in() {
    let fabric = join("completions");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(5, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let mut model = VecDeque::new();
    let mut random = Random(7);
    let mut overrun = false;
    for step in 0..20_000u64 {
        if random.next().is_multiple_of(2) {
            let entry = Completion {
                wr_id: step,
                status: random.next() as u16,
                opcode: random.next() as u16,
                wc_flags: random.next() as u32,
                byte_len: random.next() as u32,
                immediate: random.next() as u32,
                qp_num: random.next() as u32,
                src_qp: random.next() as u32,
                vendor_err: random.next() as u32,
                slid: random.next() as u16,
                sl: random.next() as u8,
                dlid_path_bits: random.next() as u8,
                pkey_index: random.next() as u16,
                timestamp_ns: random.next(),
                send_index: random.next() as u32,
                carries: random.next().is_multiple_of(2),
            };
            match cq.push(processes, &entry, false, PATIENT) {
                Ok(pushed) => {
                    assert_eq!(pushed.notify, None);
                    model.push_back(entry);
                }
                Err(error) => {
                    assert_eq!(model.len(), 5);
                    assert_eq!(error, PushError::Overrun { first: !overrun });
                    overrun = true;
                }
            }
        } else {
            assert_eq!(cq.poll(), model.pop_front());
        }
        assert_eq!(cq.pending() as usize, model.len());
        assert_eq!(cq.peek(1), model.get(1).copied());
    }
    assert!(overrun && cq.overrun());
    own_segment.destroy_cq(processes, id).unwrap();
    assert_eq!(
        cq.push(processes, &completion(1), false, PATIENT),
        Err(PushError::Gone)
    );
}

#[test]
fn a_ring_is_filled_wherever_the_heap_has_room_for_it() {
    const LINE: u64 = 64;
    let fabric = join("odd-lines");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let mut rings_by_half = [0; 2];
    for _ in 0..4 {
        // It takes one line, so that the next ring begins in the other half of a pair of lines.
        own_segment.create_srq(1, 1, |_, _| {}).unwrap();
        let id = own_segment.create_cq(2, None).unwrap();
        let cq = own_segment.segment().cq(id);
        rings_by_half[(cq.ring().0 / LINE % 2) as usize] += 1;
        for wr_id in 0..4 {
            let pushed = cq.push(processes, &completion(wr_id), false, PATIENT);
            assert_eq!(pushed.map(|pushed| pushed.notify), Ok(None));
            assert_eq!(cq.poll(), Some(completion(wr_id)));
        }
    }
    assert_eq!(rings_by_half, [2, 2]);
}

#[test]
fn a_completion_that_finds_no_ring_is_told_as_lost() {
    let fabric = join("no-ring");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    // Between two words, and beyond the segment.
    for nowhere in [|ring: u64| ring + 1, |_| u64::MAX - 63] {
        let id = own_segment.create_cq(4, None).unwrap();
        let cq = own_segment.segment().cq(id);
        let (ring, slots) = cq.ring();
        let record = own_segment.segment().cq_record(id.index);
        record.lay(nowhere(ring), slots, 4);
        for first in [true, false] {
            assert_eq!(
                cq.push(processes, &completion(1), false, PATIENT),
                Err(PushError::Overrun { first })
            );
        }
        assert!(cq.overrun());
        assert_eq!(cq.poll(), None);
        record.lay(ring, slots, 4);
        own_segment.destroy_cq(processes, id).unwrap();
    }
}

#[test]
fn resizing_keeps_what_waits() {
    let fabric = join("resizing");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(4, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let push = |wr_id| {
        cq.push(processes, &completion(wr_id), false, PATIENT)
            .map(drop)
    };
    // The ring is entered in the middle, so that what waits wraps.
    for wr_id in 0..3 {
        push(wr_id).unwrap();
        assert_eq!(cq.poll(), Some(completion(wr_id)));
    }
    for wr_id in 3..7 {
        push(wr_id).unwrap();
    }
    let error = own_segment.resize_cq(processes, id, 3).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    own_segment.resize_cq(processes, id, 9).unwrap();
    for wr_id in 7..12 {
        push(wr_id).unwrap();
    }
    assert_eq!(push(12), Err(PushError::Overrun { first: true }));
    own_segment.resize_cq(processes, id, 9).unwrap();
    for wr_id in 3..12 {
        assert_eq!(cq.poll(), Some(completion(wr_id)));
    }
    assert_eq!(cq.poll(), None);
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn a_queue_pair_takes_its_completions_along() {
    let fabric = join("sweeping");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(8, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let push = |wr_id, qp_num| {
        let entry = Completion {
            qp_num,
            ..completion(wr_id)
        };
        cq.push(processes, &entry, false, PATIENT)
            .map(drop)
            .unwrap();
    };
    for wr_id in 0..6 {
        push(wr_id, 9);
        cq.poll();
    }
    for (wr_id, qp_num) in [(0, 1), (1, 2), (2, 1), (3, 1), (4, 3), (5, 1)] {
        push(wr_id, qp_num);
    }
    cq.sweep(processes, |entry| entry.qp_num == 1).unwrap();
    push(6, 4);
    let left: Vec<u64> = std::iter::from_fn(|| cq.poll())
        .map(|entry| entry.wr_id)
        .collect();
    assert_eq!(left, [1, 4, 6]);
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn what_a_completion_carries_stays_with_it() {
    let fabric = join("carrying");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(4, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let srq = own_segment.create_srq(8, 1, |_, _| {}).unwrap();
    let ring = own_segment.segment().shared_ring(srq);
    let carried = |wr_id: u64| Carried {
        address: wr_id << 32,
        lkey: wr_id as u32 + 7,
        length: 48 - wr_id as u32,
        bytes: std::array::from_fn::<u8, CARRIED_BYTES, _>(|byte| byte as u8 ^ wr_id as u8),
    };
    for wr_id in 0..4 {
        ring.post(wr_id, &[]).unwrap();
        let turn = ring.lock(processes, PATIENT).unwrap();
        let entry = Completion {
            carries: wr_id != 3,
            ..completion(wr_id)
        };
        let with = entry.carries.then(|| carried(wr_id));
        let cqe = Cqe {
            completion: &entry,
            carried: with.as_ref(),
            solicited: false,
        };
        let received = turn.finish_if(cq, &cqe, PATIENT, || false);
        assert_eq!(received, Err(PushError::Refused));
        assert_eq!(turn.request().unwrap().wr_id(), wr_id);
        let _ = turn.finish_if(cq, &cqe, PATIENT, || true).unwrap();
    }
    cq.sweep(processes, |entry| entry.wr_id == 1).unwrap();
    own_segment.resize_cq(processes, id, 9).unwrap();
    for (ahead, wr_id) in [(0, 0), (1, 2)] {
        assert_eq!(cq.carried(ahead), Some(carried(wr_id)));
    }
    let left: Vec<_> = std::iter::from_fn(|| cq.poll())
        .map(|entry| (entry.wr_id, entry.carries))
        .collect();
    assert_eq!(left, [(0, true), (2, true), (3, false)]);
    own_segment.destroy_srq(processes, srq).unwrap();
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn events_are_wanted_once() {
    let fabric = join("arming");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(100, Some(7)).unwrap();
    let cq = own_segment.segment().cq(id);
    let push = |solicited| {
        let pushed = cq.push(processes, &completion(0), solicited, PATIENT);
        pushed.unwrap().notify
    };
    assert_eq!(push(true), None);
    cq.arm(Arm::Any);
    assert_eq!(push(false), Some(7));
    assert_eq!(push(true), None);
    cq.arm(Arm::Solicited);
    assert_eq!(push(false), None);
    assert_eq!(push(true), Some(7));
    cq.arm(Arm::Any);
    cq.arm(Arm::Solicited);
    assert_eq!(push(false), Some(7));
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn receive_requests_are_used_up_in_order() {
    let fabric = join("receiving");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(1000, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let srq = own_segment.create_srq(6, 3, |_, _| ()).unwrap();
    let ring = own_segment.segment().shared_ring(srq);
    let mut model: VecDeque<(u64, Vec<Sge>)> = VecDeque::new();
    let mut random = Random(3);
    for step in 0..20_000u64 {
        let choice = random.next();
        if choice % 5 < 2 {
            let sges: Vec<Sge> = (0..random.next() % 4)
                .map(|_| Sge {
                    address: random.next(),
                    length: random.next() as u32,
                    lkey: random.next() as u32,
                })
                .collect();
            let posted = ring.post(step, &sges);
            if model.len() == 6 {
                assert_eq!(posted, Err(Full));
            } else {
                posted.unwrap();
                model.push_back((step, sges));
            }
            continue;
        }
        let turn = ring.lock(processes, PATIENT).unwrap();
        let Some(request) = turn.request() else {
            assert!(model.is_empty());
            continue;
        };
        let (wr_id, sges) = model.front().unwrap().clone();
        assert_eq!(request.wr_id(), wr_id);
        assert_eq!(request.sges().collect::<Vec<_>>(), sges);
        match choice % 5 {
            // Left where it is.
            2 => {}
            3 => {
                let _ = turn.finish(cq, &completion(wr_id), false, PATIENT).unwrap();
                assert_eq!(cq.poll(), Some(completion(wr_id)));
                model.pop_front();
            }
            _ => {
                let taken = turn.take(Number::new(0, 77)).unwrap();
                assert!(taken.receiving.busy());
                assert_eq!(taken.receiving.wr_id(), wr_id);
                assert_eq!(taken.receiving.sges().collect::<Vec<_>>(), sges);
                let end = || {
                    let receiving = own_segment.segment().receiving(Number::new(0, 77));
                    receiving.finish(processes, cq, &completion(wr_id), false, PATIENT)
                };
                assert!(end().unwrap().is_some());
                assert!(end().unwrap().is_none());
                assert_eq!(cq.poll(), Some(completion(wr_id)));
                assert_eq!(cq.poll(), None);
                model.pop_front();
            }
        }
    }
    own_segment.destroy_srq(processes, srq).unwrap();
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn a_full_completion_queue_leaves_the_request() {
    let fabric = join("leaving");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(1, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let qp = own_segment.create_qp(4, 1, |_, _| ()).unwrap();
    let ring = own_segment.segment().receive_ring(qp);
    ring.post(1, &[]).unwrap();
    ring.post(2, &[]).unwrap();
    let turn = ring.lock(processes, PATIENT).unwrap();
    let _ = turn.finish(cq, &completion(1), false, PATIENT).unwrap();
    let second = turn.finish(cq, &completion(2), false, PATIENT);
    assert_eq!(second, Err(PushError::Overrun { first: true }));
    assert_eq!(turn.request().unwrap().wr_id(), 2);
    drop(turn);
    own_segment.destroy_qp(processes, qp).unwrap();
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn who_polls_a_receive_has_room_for_the_next() {
    const RECEIVES: u64 = 200_000;
    let fabric = join("room");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(4, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let qp = own_segment.create_qp(1, 1, |_, _| ()).unwrap();
    let ring = own_segment.segment().receive_ring(qp);
    ring.post(0, &[]).unwrap();
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut received = 0;
            while received < RECEIVES {
                let turn = ring.lock(processes, PATIENT).unwrap();
                if turn.request().is_some() {
                    let entry = completion(received);
                    let _ = turn.finish(cq, &entry, false, PATIENT).unwrap();
                    received += 1;
                } else {
                    drop(turn);
                    std::thread::yield_now();
                }
            }
        });
        for polled in 0..RECEIVES {
            let mut looked = 0;
            while cq.poll().is_none() {
                looked += 1;
                // The other thread may have no processor.
                match looked % 128 {
                    0 => std::thread::yield_now(),
                    _ => std::hint::spin_loop(),
                }
            }
            while ring.post(polled, &[]).is_err() {
                refused += 1;
            }
        }
    });
    assert_eq!(refused, 0);
    own_segment.destroy_qp(processes, qp).unwrap();
    own_segment.destroy_cq(processes, id).unwrap();
}

#[test]
fn limits_are_told_once() {
    let fabric = join("limits");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(100, None).unwrap();
    let cq = own_segment.segment().cq(id);
    let srq = own_segment.create_srq(8, 1, |_, _| ()).unwrap();
    let ring = own_segment.segment().shared_ring(srq);
    for wr_id in 0..8 {
        ring.post(wr_id, &[]).unwrap();
    }
    ring.set_limit(6);
    let take = || {
        let turn = ring.lock(processes, PATIENT).unwrap();
        let received = turn.finish(cq, &completion(0), false, PATIENT);
        received.unwrap().limit_reached
    };
    let told: Vec<bool> = (0..4).map(|_| take()).collect();
    assert_eq!(told, [false, false, true, false]);
    assert_eq!(ring.limit(), 0);
    own_segment.destroy_srq(processes, srq).unwrap();
    own_segment.destroy_cq(processes, id).unwrap();
}

/// What the words of a segment say may be anything; nothing is touched that is not there.
#[test]
fn nonsense_in_the_segment_is_harmless() {
    use crate::fabric::layout::process;
    use std::sync::atomic::{AtomicU64, Ordering};
    let fabric = join("nonsense");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let id = own_segment.create_cq(4, None).unwrap();
    let qp = own_segment
        .create_qp(4, MAX_RECEIVE_SGES as u32, |_, _| ())
        .unwrap();
    let key = super::regions::register(fabric, 4096);
    let mut random = Random(11);
    let records = [
        process::CQS + u64::from(id.index) * 128,
        process::QPS + u64::from(qp) * 512,
        process::QPS + u64::from(qp) * 512 + 384,
        process::RECEIVINGS + u64::from(qp) * 576,
        process::REGIONS + u64::from(key >> 8) * 64,
    ];
    for _ in 0..20_000 {
        let record = records[random.next() as usize % records.len()];
        let word: &AtomicU64 = {
            let offset = record + random.next() % 16 * 8;
            own_segment.segment().mapping().at(offset).unwrap()
        };
        let value = match random.next() % 3 {
            0 => random.next(),
            1 => random.next() % 64,
            _ => u64::MAX << (random.next() % 64),
        };
        word.store(value, Ordering::Relaxed);
        let cq = own_segment.segment().cq(id);
        let patience = std::time::Duration::from_micros(1);
        let _ = cq.push(processes, &completion(1), true, patience);
        let _ = cq.poll();
        if let Ok(turn) = own_segment
            .segment()
            .receive_ring(qp)
            .lock(processes, patience)
        {
            let _ = turn.request().map(|request| request.sges().count());
            let _ = turn.finish(cq, &completion(2), false, patience);
            let _ = turn.take(Number::new(0, qp));
        }
        if let Some(visit) = fabric.own().visit(key, 0) {
            let _ = visit.region().span(0, 8, 0, 0);
        }
        let _ = own_segment
            .segment()
            .receiving(Number::new(0, qp))
            .sges()
            .count();
    }
}
