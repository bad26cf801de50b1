//! Shared receive queues.

use super::*;

const WITH_SRQ: Setup = Setup {
    kind: IBV_QPT_RC,
    depth: 8,
    cqe: 64,
    timeout: 12,
    retries: 3,
    rnr_retries: 7,
    signals_all: false,
    srq: true,
    send_operations: 0,
};

#[test]
fn requests_serve_whoever_comes() {
    let [mut a, mut b] = pair(WITH_SRQ);
    a.memory[0] = 11;
    b.memory[0] = 22;
    for wr_id in 0..2 {
        assert_eq!(b.receive(wr_id, 100 + wr_id as usize, 1), 0);
        assert_eq!(a.post(request(9, IBV_WR_SEND), &[a.sge(0, 1)]), 0);
        b.expect(wr_id, IBV_WC_SUCCESS);
        a.expect(9, IBV_WC_SUCCESS);
        assert_eq!(b.memory[100 + wr_id as usize], 11);
    }
    assert_eq!(qp_receive(&b), libc::EINVAL);
}

fn qp_receive(side: &Side) -> c_int {
    let mut wr = ibv_recv_wr::default();
    let mut bad = null_mut();
    // SAFETY: readable.
    unsafe { qp::post_recv(side.qp, &mut wr, &mut bad) }
}

#[test]
fn long_messages_take_a_request_each() {
    let [mut a, b] = pair(WITH_SRQ);
    a.memory[..200_000].copy_from_slice(&pattern(1, 200_000));
    b.receive(1, 0, BYTES);
    b.receive(2, 0, 1);
    assert_eq!(a.post(request(3, IBV_WR_SEND), &[a.sge(0, 200_000)]), 0);
    b.expect(1, IBV_WC_SUCCESS);
    assert_eq!(b.memory[..200_000], pattern(1, 200_000));
    a.expect(3, IBV_WC_SUCCESS);
}

#[test]
fn limit_is_told_once() {
    let [a, b] = pair(WITH_SRQ);
    for wr_id in 0..4 {
        b.receive(wr_id, 0, 1);
    }
    let mut attributes = ibv_srq_attr {
        srq_limit: 3,
        ..Default::default()
    };
    // SAFETY: alive, and writable.
    unsafe {
        assert_eq!(
            ibv_modify_srq(b.srq, &mut attributes, IBV_SRQ_LIMIT as c_int),
            0
        );
        for wr_id in 0..3 {
            a.post(request(wr_id, IBV_WR_SEND), &[]);
            b.expect(wr_id, IBV_WC_SUCCESS);
        }
        assert_eq!(events::next_event(&b), IBV_EVENT_SRQ_LIMIT_REACHED);
        assert_eq!(ibv_query_srq(b.srq, &mut attributes), 0);
    }
    assert_eq!(attributes.srq_limit, 0);
    assert_eq!(attributes.max_wr, 8);
}

#[test]
fn last_request_of_a_queue_pair_in_error() {
    let [a, b] = pair(WITH_SRQ);
    b.receive(1, 0, 1);
    b.set_state(IBV_QPS_ERR);
    assert_eq!(events::next_event(&b), IBV_EVENT_QP_LAST_WQE_REACHED);
    // The request belongs to the queue, not to the queue pair.
    assert!(b.poll().is_none());
    drop(a);
}
