//! What goes wrong, and what follows from it.

use super::*;

#[test]
fn wrong_remote_keys_end_both_sides() {
    /// An address and a key that do not go together.
    type Case = fn(&Side) -> (u64, u32);
    let cases: [Case; 3] = [
        |b| (b.address(0), b.key() ^ 1),
        |b| (b.address(BYTES - 3), b.key()),
        |b| (b.address(0) - 1, b.key()),
    ];
    for case in cases {
        let [a, b] = pair(Setup::default());
        b.receive(5, 0, 8);
        let (address, key) = case(&b);
        let wr = remote(1, IBV_WR_RDMA_WRITE, address, key);
        assert_eq!(a.post(wr, &[a.sge(0, 4)]), 0);
        a.expect(1, IBV_WC_REM_ACCESS_ERR);
        assert_eq!((a.state(), b.state()), (IBV_QPS_ERR, IBV_QPS_ERR));
        b.expect(5, IBV_WC_WR_FLUSH_ERR);
        assert_eq!(events::next_event(&b), IBV_EVENT_QP_ACCESS_ERR);
    }
}

#[test]
fn wrong_local_keys_are_the_senders() {
    let [a, b] = pair(Setup::default());
    let element = ibv_sge {
        lkey: a.key() ^ 1,
        ..a.sge(0, 4)
    };
    assert_eq!(a.post(request(1, IBV_WR_SEND), &[element]), 0);
    a.expect(1, IBV_WC_LOC_PROT_ERR);
    assert_eq!((a.state(), b.state()), (IBV_QPS_ERR, IBV_QPS_RTS));
}

#[test]
fn too_long_for_the_receiver() {
    let [a, b] = pair(Setup::default());
    b.receive(2, 0, 3);
    b.receive(3, 0, 3);
    assert_eq!(a.post(request(1, IBV_WR_SEND), &[a.sge(0, 4)]), 0);
    b.expect(2, IBV_WC_LOC_LEN_ERR);
    a.expect(1, IBV_WC_REM_INV_REQ_ERR);
    b.expect(3, IBV_WC_WR_FLUSH_ERR);
}

#[test]
fn receivers_that_never_get_ready() {
    let setup = Setup {
        rnr_retries: 2,
        ..Setup::default()
    };
    let [a, b] = pair(setup);
    assert_eq!(a.post(request(1, IBV_WR_SEND), &[]), 0);
    a.expect(1, IBV_WC_RNR_RETRY_EXC_ERR);
    assert_eq!(b.state(), IBV_QPS_RTS);
}

#[test]
fn peers_that_do_not_answer() {
    let sides = [Side::new(Setup::default()), Side::new(Setup::default())];
    sides[0].connect(sides[1].qpn());
    let begin = Instant::now();
    assert_eq!(sides[0].post(request(1, IBV_WR_SEND), &[]), 0);
    assert_eq!(sides[0].post(request(2, IBV_WR_SEND), &[]), 0);
    sides[0].expect(1, IBV_WC_RETRY_EXC_ERR);
    // Four times 4.096 us times 2^12.
    assert!(begin.elapsed() >= Duration::from_millis(64));
    sides[0].expect(2, IBV_WC_WR_FLUSH_ERR);
}

#[test]
fn a_peer_that_comes_late_is_found() {
    // Seven times a second, however busy the machine is meanwhile.
    let setup = Setup {
        timeout: 18,
        retries: 7,
        ..Setup::default()
    };
    let sides = [Side::new(setup), Side::new(setup)];
    sides[0].connect(sides[1].qpn());
    assert_eq!(sides[0].post(request(1, IBV_WR_SEND), &[]), 0);
    std::thread::sleep(Duration::from_millis(50));
    sides[1].to_init();
    sides[1].receive(2, 0, 1);
    sides[1].to_rtr(sides[0].qpn());
    sides[1].expect(2, IBV_WC_SUCCESS);
    sides[0].expect(1, IBV_WC_SUCCESS);
}

#[test]
fn error_state_flushes_everything_in_order() {
    let [a, b] = pair(Setup::default());
    for wr_id in 0..4 {
        a.receive(wr_id, 0, 1);
        assert_eq!(a.post(request(10 + wr_id, IBV_WR_SEND), &[]), 0);
    }
    a.set_state(IBV_QPS_ERR);
    assert_eq!(a.post(request(14, IBV_WR_SEND), &[]), 0);
    assert_eq!(a.receive(4, 0, 1), 0);
    let mut flushed: Vec<u64> = (0..10)
        .map(|_| {
            let wc = a.wait();
            assert_eq!(wc.status, IBV_WC_WR_FLUSH_ERR);
            wc.wr_id
        })
        .collect();
    let sends: Vec<u64> = flushed
        .iter()
        .copied()
        .filter(|wr_id| *wr_id >= 10)
        .collect();
    flushed.retain(|wr_id| *wr_id < 10);
    assert_eq!(sends, [10, 11, 12, 13, 14]);
    assert_eq!(flushed, [0, 1, 2, 3, 4]);
    drop(b);
}

#[test]
fn reset_forgets_everything() {
    let [a, b] = pair(Setup::default());
    a.receive(1, 0, 1);
    let wr = remote(2, IBV_WR_RDMA_WRITE, b.address(0), b.key());
    assert_eq!(a.post(wr, &[a.sge(0, 1)]), 0);
    a.set_state(IBV_QPS_RESET);
    assert!(a.poll().is_none());
    b.set_state(IBV_QPS_RESET);
    a.connect(b.qpn());
    b.connect(a.qpn());
    b.receive(3, 0, 1);
    assert_eq!(a.post(request(4, IBV_WR_SEND), &[]), 0);
    b.expect(3, IBV_WC_SUCCESS);
    a.expect(4, IBV_WC_SUCCESS);
}

#[test]
fn what_cannot_be_posted_is_refused() {
    let side = Side::new(Setup::default());
    assert_eq!(side.post(request(1, IBV_WR_SEND), &[]), libc::EINVAL);
    assert_eq!(side.receive(1, 0, 1), libc::EINVAL);
    let [a, b] = pair(Setup::default());
    assert_eq!(a.post(request(1, IBV_WR_TSO), &[]), libc::EINVAL);
    assert_eq!(
        a.post(request(1, IBV_WR_SEND), &[a.sge(0, 1); 5]),
        libc::EINVAL
    );
    drop(b);
}

#[test]
fn objects_in_use_stay() {
    let side = Side::new(Setup::default());
    // SAFETY: alive objects, which the calls refuse to end.
    unsafe {
        assert_eq!(ibv_destroy_cq(side.cq), libc::EBUSY);
        assert_eq!(ibv_destroy_comp_channel(side.channel), libc::EBUSY);
        assert_eq!(ibv_dealloc_pd(side.pd), libc::EBUSY);
    }
}

#[test]
fn thread_domains_are_held_by_parent_domains() {
    let context = open();
    // SAFETY: alive objects; each freed once.
    unsafe {
        let pd = ibv_alloc_pd(context);
        let td = domain::alloc_td(context, &mut ibv_td_init_attr::default());
        assert!(!td.is_null());
        assert!(domain::alloc_td(context, &mut ibv_td_init_attr { comp_mask: 2 }).is_null());
        let mut wish = ibv_parent_domain_init_attr {
            pd,
            td,
            ..Default::default()
        };
        let parent = domain::alloc_parent_domain(context, &mut wish);
        assert!(!parent.is_null());
        assert_eq!(domain::dealloc_td(td), libc::EBUSY);
        assert_eq!(ibv_dealloc_pd(pd), libc::EBUSY);
        assert_eq!(ibv_dealloc_pd(parent), 0);
        assert_eq!(domain::dealloc_td(td), 0);
        assert_eq!(ibv_dealloc_pd(pd), 0);
        assert_eq!(ibv_close_device(context), 0);
    }
}

#[test]
fn what_is_not_there_is_not_registered() {
    let context = open();
    // SAFETY: alive objects; the memory is only named.
    unsafe {
        let pd = ibv_alloc_pd(context);
        let mut word = 0u64;
        let address = (&raw mut word).cast();
        for (address, length, access) in [
            (address, 0, IBV_ACCESS_LOCAL_WRITE),
            (address, 8, IBV_ACCESS_REMOTE_WRITE),
            (4096 as *mut _, 8, IBV_ACCESS_LOCAL_WRITE),
            (address, usize::MAX, IBV_ACCESS_LOCAL_WRITE),
        ] {
            assert!(ibv_reg_mr(pd, address, length, access as c_int).is_null());
        }
        assert_eq!(ibv_dealloc_pd(pd), 0);
        assert_eq!(ibv_close_device(context), 0);
    }
}
