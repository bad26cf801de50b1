//! Completion events and asynchronous events.

use weft_kernel::Interest;

use super::*;

/// The next asynchronous event of the side's context.
pub fn next_event(side: &Side) -> ibv_event_type {
    let mut event = ibv_async_event::default();
    // SAFETY: alive, and writable.
    unsafe {
        assert_eq!(ibv_get_async_event(side.context, &mut event), 0);
        ibv_ack_async_event(&mut event);
    }
    event.event_type
}

fn is_readable(fd: c_int) -> bool {
    weft_kernel::is_ready(&fd, Interest::Reading, 0)
}

fn channel_is_readable(side: &Side) -> bool {
    // SAFETY: alive.
    is_readable(unsafe { (*side.channel).fd })
}

fn take_event(side: &Side) {
    let (mut cq, mut context) = (null_mut(), null_mut());
    // SAFETY: alive, and writable.
    unsafe {
        assert_eq!(ibv_get_cq_event(side.channel, &mut cq, &mut context), 0);
        assert_eq!(cq, side.cq);
        ibv_ack_cq_events(cq, 1);
    }
}

fn arm(side: &Side, solicited: bool) {
    // SAFETY: alive.
    let answer = unsafe { cq::req_notify_cq(side.cq, c_int::from(solicited)) };
    assert_eq!(answer, 0);
}

#[test]
fn one_event_for_each_wish() {
    let [a, b] = pair(Setup::default());
    for wr_id in 0..3 {
        b.receive(wr_id, 0, 1);
    }
    a.post(request(1, IBV_WR_SEND), &[]);
    assert!(!channel_is_readable(&b));
    arm(&b, false);
    // What came before counts for nothing.
    assert!(!channel_is_readable(&b));
    a.post(request(2, IBV_WR_SEND), &[]);
    a.post(request(3, IBV_WR_SEND), &[]);
    assert!(channel_is_readable(&b));
    take_event(&b);
    assert!(!channel_is_readable(&b));
}

#[test]
fn solicited_events_pass_over_others() {
    let [a, b] = pair(Setup::default());
    for wr_id in 0..2 {
        b.receive(wr_id, 0, 1);
    }
    arm(&b, true);
    a.post(request(1, IBV_WR_SEND), &[]);
    assert!(!channel_is_readable(&b));
    let mut wr = request(2, IBV_WR_SEND);
    wr.send_flags |= IBV_SEND_SOLICITED;
    a.post(wr, &[]);
    assert!(channel_is_readable(&b));
    take_event(&b);
}

#[test]
fn first_message_before_rts_is_told() {
    let sides = [Side::new(Setup::default()), Side::new(Setup::default())];
    sides[0].connect(sides[1].qpn());
    sides[1].to_init();
    sides[1].receive(1, 0, 1);
    sides[1].to_rtr(sides[0].qpn());
    sides[0].post(request(2, IBV_WR_SEND), &[]);
    sides[1].expect(1, IBV_WC_SUCCESS);
    assert_eq!(next_event(&sides[1]), IBV_EVENT_COMM_EST);
}

#[test]
fn overrun_is_an_event_and_an_error() {
    let setup = Setup {
        cqe: 2,
        ..Setup::default()
    };
    let [a, b] = pair(setup);
    for wr_id in 0..3 {
        let wr = remote(wr_id, IBV_WR_RDMA_WRITE, b.address(0), b.key());
        assert_eq!(a.post(wr, &[a.sge(0, 1)]), 0);
    }
    assert_eq!(next_event(&a), IBV_EVENT_CQ_ERR);
    assert_eq!(a.state(), IBV_QPS_ERR);
}

#[test]
fn send_queue_drains_and_goes_on() {
    let [a, b] = pair(Setup::default());
    let mut sqd = ibv_qp_attr {
        qp_state: IBV_QPS_SQD,
        en_sqd_async_notify: 1,
        ..Default::default()
    };
    let mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;
    assert_eq!(a.modify(&mut sqd, mask), 0);
    assert_eq!(next_event(&a), IBV_EVENT_SQ_DRAINED);
    b.receive(1, 0, 1);
    assert_eq!(a.post(request(2, IBV_WR_SEND), &[]), 0);
    std::thread::sleep(Duration::from_millis(20));
    assert!(b.poll().is_none());
    a.set_state(IBV_QPS_RTS);
    b.expect(1, IBV_WC_SUCCESS);
    a.expect(2, IBV_WC_SUCCESS);
}
