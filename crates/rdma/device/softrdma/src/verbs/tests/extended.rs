//! The extended interfaces: requests by calls, completions by fields, memory windows.

use super::*;

const OPERATIONS: u64 = IBV_QP_EX_WITH_SEND
    | IBV_QP_EX_WITH_RDMA_WRITE
    | IBV_QP_EX_WITH_RDMA_READ
    | IBV_QP_EX_WITH_BIND_MW
    | IBV_QP_EX_WITH_LOCAL_INV
    | IBV_QP_EX_WITH_SEND_WITH_INV;

fn setup() -> Setup {
    Setup {
        send_operations: OPERATIONS,
        ..Setup::default()
    }
}

#[test]
fn requests_by_calls_are_posted_together() {
    let [mut a, b] = pair(setup());
    a.memory[..3000].copy_from_slice(&pattern(1, 3000));
    let mut inline = [5u8; 20];
    b.receive(1, 8000, 100);
    // SAFETY: an extended queue pair, used as its protocol says.
    unsafe {
        let qp = ibv_qp_to_qp_ex(a.qp);
        assert!(!qp.is_null());
        (*qp).wr_start.unwrap()(qp);
        ((*qp).wr_id, (*qp).wr_flags) = (1, 0);
        (*qp).wr_rdma_write.unwrap()(qp, b.key(), b.address(0));
        (*qp).wr_set_sge.unwrap()(qp, a.key(), a.address(0), 3000);
        ((*qp).wr_id, (*qp).wr_flags) = (2, IBV_SEND_SIGNALED);
        (*qp).wr_send.unwrap()(qp);
        (*qp).wr_set_inline_data.unwrap()(qp, inline.as_mut_ptr().cast(), inline.len());
        inline.fill(6);
        assert_eq!(b.memory[..3000], vec![0; 3000]);
        assert_eq!((*qp).wr_complete.unwrap()(qp), 0);
    }
    b.expect(1, IBV_WC_SUCCESS);
    a.expect(2, IBV_WC_SUCCESS);
    assert_eq!(b.memory[..3000], pattern(1, 3000));
    assert_eq!(b.memory[8000..8020], [5; 20]);
    assert_eq!(inline, [6; 20]);
}

#[test]
fn one_mistake_posts_nothing() {
    let [a, b] = pair(setup());
    // SAFETY: as above.
    unsafe {
        let qp = ibv_qp_to_qp_ex(a.qp);
        for abort in [false, true] {
            (*qp).wr_start.unwrap()(qp);
            (*qp).wr_flags = IBV_SEND_SIGNALED;
            (*qp).wr_rdma_write.unwrap()(qp, b.key(), b.address(0));
            (*qp).wr_set_sge.unwrap()(qp, a.key(), a.address(0), 1);
            if abort {
                (*qp).wr_abort.unwrap()(qp);
            } else {
                let mut much = [0u8; 65];
                (*qp).wr_send.unwrap()(qp);
                (*qp).wr_set_inline_data.unwrap()(qp, much.as_mut_ptr().cast(), much.len());
                assert_eq!((*qp).wr_complete.unwrap()(qp), libc::EINVAL);
            }
        }
        assert!((*qp).wr_atomic_fetch_add.is_none());
    }
    assert!(a.poll().is_none());
    let plain = Side::new(Setup::default());
    // SAFETY: alive.
    assert!(unsafe { ibv_qp_to_qp_ex(plain.qp) }.is_null());
}

#[test]
fn windows_open_and_close() {
    window(false);
}

#[test]
fn windows_close_when_the_receiver_is_ready_at_last() {
    window(true);
}

fn window(late: bool) {
    let [a, b] = pair(setup());
    // SAFETY: alive objects; the window is freed once.
    unsafe {
        let mw = mw::alloc_mw(b.pd, IBV_MW_TYPE_2);
        assert!(!mw.is_null());
        let key = (*mw).rkey + 1;
        let mut wr = request(1, IBV_WR_BIND_MW);
        wr.extra.bind_mw = ibv_send_wr_bind_mw {
            mw,
            rkey: key,
            bind_info: ibv_mw_bind_info {
                mr: b.mr,
                addr: b.address(100),
                length: 50,
                mw_access_flags: IBV_ACCESS_REMOTE_WRITE,
            },
        };
        assert_eq!(b.post(wr, &[]), 0);
        assert_eq!(b.expect(1, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
        let write = |wr_id, at| remote(wr_id, IBV_WR_RDMA_WRITE, b.address(at), key);
        assert_eq!(a.post(write(2, 100), &[a.sge(0, 50)]), 0);
        a.expect(2, IBV_WC_SUCCESS);
        // The region under it stays while it is bound.
        assert_eq!(ibv_dereg_mr(b.mr), libc::EBUSY);
        if !late {
            b.receive(3, 0, 1);
        }
        let mut invalidate = request(4, IBV_WR_SEND_WITH_INV);
        invalidate.immediate.invalidate_rkey = key;
        assert_eq!(a.post(invalidate, &[]), 0);
        if late {
            // Receiver not ready takes nothing away.
            assert!(a.poll().is_none());
            b.receive(3, 0, 1);
        }
        let wc = b.expect(3, IBV_WC_SUCCESS);
        assert_eq!(
            (wc.wc_flags, wc.immediate.invalidated_rkey),
            (IBV_WC_WITH_INV, key)
        );
        a.expect(4, IBV_WC_SUCCESS);
        assert_eq!(a.post(write(5, 100), &[a.sge(0, 50)]), 0);
        a.expect(5, IBV_WC_REM_ACCESS_ERR);
        assert_eq!(mw::dealloc_mw(mw), 0);
    }
}

#[test]
fn completions_by_fields() {
    let [a, b] = pair(Setup::default());
    let context = open();
    // SAFETY: alive objects, used as their protocol says.
    unsafe {
        let mut wish = ibv_cq_init_attr_ex {
            cqe: 8,
            wc_flags: IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
            ..Default::default()
        };
        let cq = cq::create_cq_ex(context, &mut wish);
        assert!(!cq.is_null());
        let mut nothing = ibv_poll_cq_attr::default();
        assert_eq!((*cq).start_poll.unwrap()(cq, &mut nothing), libc::ENOENT);
        wish.wc_flags = IBV_WC_EX_WITH_TM_INFO;
        assert!(cq::create_cq_ex(context, &mut wish).is_null());

        // The same queue through both views.
        let mine = a.cq.cast::<ibv_cq_ex>();
        for wr_id in [7, 8] {
            let wr = remote(wr_id, IBV_WR_RDMA_WRITE, b.address(0), b.key());
            a.post(wr, &[a.sge(0, 1)]);
        }
        assert_eq!((*mine).start_poll.unwrap()(mine, &mut nothing), 0);
        assert_eq!(((*mine).wr_id, (*mine).status), (7, IBV_WC_SUCCESS));
        assert_eq!((*mine).read_opcode.unwrap()(mine), IBV_WC_RDMA_WRITE);
        assert_eq!((*mine).read_qp_num.unwrap()(mine), a.qpn());
        assert_eq!((*mine).next_poll.unwrap()(mine), 0);
        assert_eq!((*mine).wr_id, 8);
        assert_eq!((*mine).next_poll.unwrap()(mine), libc::ENOENT);
        (*mine).end_poll.unwrap()(mine);
        assert!((*mine).read_completion_ts.is_none());
        assert_eq!(ibv_destroy_cq(cq.cast()), 0);
        assert_eq!(ibv_close_device(context), 0);
    }
}
