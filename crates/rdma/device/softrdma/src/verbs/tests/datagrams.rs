//! Datagrams, and the unreliable connection.

use super::*;

const DATAGRAM: Setup = Setup {
    kind: IBV_QPT_UD,
    depth: 16,
    cqe: 64,
    timeout: 0,
    retries: 0,
    rnr_retries: 0,
    signals_all: false,
    srq: false,
    send_operations: 0,
};

struct Handle(*mut ibv_ah);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `handle`.
        assert_eq!(unsafe { ibv_destroy_ah(self.0) }, 0);
    }
}

fn handle(side: &Side, gid: Option<ibv_gid>) -> Handle {
    let mut attributes = ibv_ah_attr {
        dlid: 1,
        port_num: 1,
        is_global: u8::from(gid.is_some()),
        ..Default::default()
    };
    attributes.grh.dgid = gid.unwrap_or_default();
    attributes.grh.hop_limit = 9;
    // SAFETY: alive, and readable.
    let ah = unsafe { ibv_create_ah(side.pd, &mut attributes) };
    assert!(!ah.is_null());
    Handle(ah)
}

fn own_gid(side: &Side) -> ibv_gid {
    let mut gid = ibv_gid::default();
    // SAFETY: alive, and writable.
    assert_eq!(unsafe { ibv_query_gid(side.context, 1, 0, &mut gid) }, 0);
    gid
}

fn datagram(wr_id: u64, ah: &Handle, qpn: u32, qkey: u32) -> ibv_send_wr {
    let mut wr = request(wr_id, IBV_WR_SEND);
    wr.wr.ud = ibv_send_wr_ud {
        ah: ah.0,
        remote_qpn: qpn,
        remote_qkey: qkey,
    };
    wr
}

#[test]
fn datagrams_arrive_behind_forty_bytes() {
    let [mut a, b] = pair(DATAGRAM);
    a.memory[..4000].copy_from_slice(&pattern(2, 4000));
    let ah = handle(&a, None);
    b.receive(1, 0, 5000);
    assert_eq!(
        a.post(datagram(2, &ah, b.qpn(), QKEY), &[a.sge(0, 4000)]),
        0
    );
    let wc = b.expect(1, IBV_WC_SUCCESS);
    assert_eq!((wc.byte_len, wc.wc_flags, wc.src_qp), (4040, 0, a.qpn()));
    assert_eq!(b.memory[40..4040], pattern(2, 4000));
    a.expect(2, IBV_WC_SUCCESS);
}

#[test]
fn an_answer_finds_its_way_by_the_header() {
    let [a, b] = pair(DATAGRAM);
    let ah = handle(&a, Some(own_gid(&b)));
    b.receive(1, 0, 100);
    a.receive(2, 0, 100);
    a.post(datagram(3, &ah, b.qpn(), QKEY), &[a.sge(0, 5)]);
    let mut wc = b.expect(1, IBV_WC_SUCCESS);
    assert_eq!(wc.wc_flags, IBV_WC_GRH);
    // SAFETY: the header lies in the receive buffer.
    let back = unsafe {
        let grh = b.memory.as_ptr().cast_mut().cast();
        Handle(ibv_create_ah_from_wc(b.pd, &mut wc, grh, 1))
    };
    assert!(!back.0.is_null());
    b.post(datagram(4, &back, wc.src_qp, QKEY), &[b.sge(0, 7)]);
    a.expect(3, IBV_WC_SUCCESS);
    assert_eq!(a.expect(2, IBV_WC_SUCCESS).byte_len, 47);
}

#[test]
fn what_nobody_wants_is_lost() {
    let [a, b] = pair(DATAGRAM);
    let ah = handle(&a, None);
    b.receive(1, 0, 100);
    for (wr_id, qpn, qkey) in [(1, b.qpn(), QKEY + 1), (2, b.qpn() + 1000, QKEY)] {
        assert_eq!(a.post(datagram(wr_id, &ah, qpn, qkey), &[]), 0);
        a.expect(wr_id, IBV_WC_SUCCESS);
    }
    assert!(b.poll().is_none());
    // The upper bit stands for the sender's own key.
    a.post(datagram(3, &ah, b.qpn(), 1 << 31), &[]);
    b.expect(1, IBV_WC_SUCCESS);
    a.expect(3, IBV_WC_SUCCESS);
    // Without a receive request it is lost, too.
    a.post(datagram(4, &ah, b.qpn(), QKEY), &[]);
    a.expect(4, IBV_WC_SUCCESS);
}

#[test]
fn too_long_stops_the_send_queue() {
    let [a, b] = pair(DATAGRAM);
    let ah = handle(&a, None);
    a.post(datagram(1, &ah, b.qpn(), QKEY), &[a.sge(0, 4097)]);
    a.expect(1, IBV_WC_LOC_LEN_ERR);
    assert_eq!(a.state(), IBV_QPS_SQE);
    a.post(datagram(2, &ah, b.qpn(), QKEY), &[]);
    a.expect(2, IBV_WC_WR_FLUSH_ERR);
    a.set_state(IBV_QPS_RTS);
    b.receive(3, 0, 100);
    a.post(datagram(4, &ah, b.qpn(), QKEY), &[]);
    b.expect(3, IBV_WC_SUCCESS);
}

#[test]
fn groups_get_a_copy_each() {
    let sides = [pair(DATAGRAM), pair(DATAGRAM)];
    let mut group = ibv_gid::default();
    group.raw = [0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7];
    let members = [&sides[0][1], &sides[1][0]];
    for side in members {
        // SAFETY: alive, and readable.
        assert_eq!(unsafe { ibv_attach_mcast(side.qp, &group, 0xc001) }, 0);
        side.receive(1, 0, 100);
    }
    let a = &sides[0][0];
    let ah = handle(a, Some(group));
    a.post(datagram(2, &ah, 0xff_ffff, QKEY), &[a.sge(0, 3)]);
    for side in members {
        assert_eq!(side.expect(1, IBV_WC_SUCCESS).byte_len, 43);
        // SAFETY: as above.
        unsafe {
            assert_eq!(ibv_detach_mcast(side.qp, &group, 0xc001), 0);
            assert_eq!(ibv_detach_mcast(side.qp, &group, 0xc001), libc::EINVAL);
        }
    }
}

#[test]
fn unreliable_connections_drop_silently() {
    let setup = Setup {
        kind: IBV_QPT_UC,
        ..Setup::default()
    };
    let [a, b] = pair(setup);
    a.post(request(1, IBV_WR_SEND), &[]);
    a.expect(1, IBV_WC_SUCCESS);
    let wr = remote(2, IBV_WR_RDMA_WRITE, b.address(0), b.key() ^ 1);
    a.post(wr, &[a.sge(0, 1)]);
    a.expect(2, IBV_WC_SUCCESS);
    assert_eq!(b.state(), IBV_QPS_RTS);
    b.receive(3, 0, 10);
    a.post(request(4, IBV_WR_SEND), &[a.sge(0, 10)]);
    assert_eq!(b.expect(3, IBV_WC_SUCCESS).byte_len, 10);
    assert_eq!(
        a.post(remote(5, IBV_WR_RDMA_READ, b.address(0), b.key()), &[]),
        libc::EINVAL
    );
}
