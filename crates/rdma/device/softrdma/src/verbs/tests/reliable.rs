//! Operations of a reliable connection.

use super::*;

#[test]
fn send_arrives_whole() {
    let [mut a, b] = pair(Setup::default());
    // Short, of a chunk, and such that go to the agent; with more room than needed.
    for (wr_id, length) in [0, 1, 2, 4095, 65536, 65537, 200_000]
        .into_iter()
        .enumerate()
    {
        let wr_id = wr_id as u64;
        a.memory[..length].copy_from_slice(&pattern(wr_id as u8, length));
        assert_eq!(b.receive(wr_id, 0, BYTES), 0);
        assert_eq!(
            a.post(request(100 + wr_id, IBV_WR_SEND), &[a.sge(0, length)]),
            0
        );
        let wc = b.expect(wr_id, IBV_WC_SUCCESS);
        assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RECV, length as u32));
        assert_eq!((wc.qp_num, wc.src_qp), (b.qpn(), a.qpn()));
        assert_eq!(b.memory[..length], pattern(wr_id as u8, length));
        assert_eq!(a.expect(100 + wr_id, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
    }
}

#[test]
fn gather_and_scatter() {
    let [mut a, b] = pair(Setup::default());
    a.memory[..1000].copy_from_slice(&pattern(3, 1000));
    let mut elements = [
        b.sge(5000, 10),
        b.sge(6000, 0),
        b.sge(7000, 300),
        b.sge(8000, 690),
    ];
    let mut wr = ibv_recv_wr {
        wr_id: 1,
        next: null_mut(),
        sg_list: elements.as_mut_ptr(),
        num_sge: 4,
    };
    let mut bad = null_mut();
    // SAFETY: all are readable.
    assert_eq!(unsafe { qp::post_recv(b.qp, &mut wr, &mut bad) }, 0);
    let elements = [a.sge(0, 500), a.sge(500, 499), a.sge(999, 1)];
    assert_eq!(a.post(request(2, IBV_WR_SEND), &elements), 0);
    b.expect(1, IBV_WC_SUCCESS);
    let got = [
        &b.memory[5000..5010],
        &b.memory[7000..7300],
        &b.memory[8000..8690],
    ]
    .concat();
    assert_eq!(got, pattern(3, 1000));
}

#[test]
fn immediate_data_and_writes() {
    let [mut a, b] = pair(Setup::default());
    a.memory[..100].copy_from_slice(&pattern(9, 100));
    b.receive(1, 0, 10);
    let mut wr = remote(2, IBV_WR_RDMA_WRITE_WITH_IMM, b.address(500), b.key());
    wr.immediate.imm_data = 0x0102_0304;
    assert_eq!(a.post(wr, &[a.sge(0, 100)]), 0);
    let wc = b.expect(1, IBV_WC_SUCCESS);
    assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RECV_RDMA_WITH_IMM, 100));
    assert_eq!(wc.wc_flags, IBV_WC_WITH_IMM);
    // SAFETY: the flag says which member it is.
    assert_eq!(unsafe { wc.immediate.imm_data }, 0x0102_0304);
    assert_eq!(b.memory[500..600], pattern(9, 100));
    assert_eq!(a.expect(2, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);
}

#[test]
fn read_fetches() {
    let [a, mut b] = pair(Setup::default());
    for length in [1, 5000, 150_000] {
        b.memory[..length].copy_from_slice(&pattern(7, length));
        let wr = remote(1, IBV_WR_RDMA_READ, b.address(0), b.key());
        assert_eq!(a.post(wr, &[a.sge(0, length)]), 0);
        let wc = a.expect(1, IBV_WC_SUCCESS);
        assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RDMA_READ, length as u32));
        assert_eq!(a.memory[..length], pattern(7, length));
    }
}

#[test]
fn atomics_change_and_return() {
    let [a, mut b] = pair(Setup::default());
    let word = |memory: &[u8]| u64::from_ne_bytes(memory[..8].try_into().unwrap());
    // The allocation is aligned for any type.
    let at = b.address(0).next_multiple_of(8) - b.address(0);
    let at = at as usize;
    b.memory[at..at + 8].copy_from_slice(&40u64.to_ne_bytes());
    let atomic = |wr_id, opcode, compare_add, swap| {
        let mut wr = request(wr_id, opcode);
        wr.wr.atomic = ibv_send_wr_atomic {
            remote_addr: b.address(at),
            compare_add,
            swap,
            rkey: b.key(),
        };
        assert_eq!(a.post(wr, &[a.sge(0, 8)]), 0);
        a.expect(wr_id, IBV_WC_SUCCESS);
        word(&a.memory)
    };
    assert_eq!(atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
    assert_eq!(atomic(2, IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
    assert_eq!(atomic(3, IBV_WR_ATOMIC_CMP_AND_SWP, 42, 9), 7);
    assert_eq!(word(&b.memory[at..]), 7);
}

#[test]
fn inline_data_are_taken_at_once() {
    let [a, b] = pair(Setup::default());
    // No receive request: it waits, while the buffer changes.
    let mut data = [1u8; 64];
    let mut wr = request(1, IBV_WR_SEND);
    wr.send_flags |= IBV_SEND_INLINE;
    let element = ibv_sge {
        addr: data.as_ptr() as u64,
        length: 64,
        lkey: 0,
    };
    assert_eq!(a.post(wr, &[element]), 0);
    data.fill(2);
    b.receive(2, 0, 64);
    b.expect(2, IBV_WC_SUCCESS);
    assert_eq!(b.memory[..64], [1; 64]);
    let element = ibv_sge {
        length: 65,
        ..element
    };
    assert_eq!(a.post(wr, &[element]), libc::EINVAL);
    assert_eq!(data, [2; 64]);
}

#[test]
fn order_is_kept_behind_what_waits() {
    let [mut a, b] = pair(Setup::default());
    for (at, byte) in a.memory[..32].iter_mut().enumerate() {
        *byte = at as u8;
    }
    // Receiver not ready at first; then a long one between short ones.
    for wr_id in 0..16 {
        let length = if wr_id == 8 { 100_000 } else { 1 };
        assert_eq!(
            a.post(
                request(wr_id, IBV_WR_SEND),
                &[a.sge(wr_id as usize, length)]
            ),
            0
        );
    }
    for wr_id in 0..16 {
        b.receive(wr_id, wr_id as usize * 1000 % 8000, 100_000);
        let wc = b.expect(wr_id, IBV_WC_SUCCESS);
        assert_eq!(wc.byte_len, if wr_id == 8 { 100_000 } else { 1 });
        assert_eq!(b.memory[wr_id as usize * 1000 % 8000], wr_id as u8);
    }
    for wr_id in 0..16 {
        a.expect(wr_id, IBV_WC_SUCCESS);
    }
}

#[test]
fn places_come_back_with_polled_completions() {
    let setup = Setup {
        depth: 4,
        ..Setup::default()
    };
    let [a, b] = pair(setup);
    let write = |flags| {
        let mut wr = remote(1, IBV_WR_RDMA_WRITE, b.address(0), b.key());
        wr.send_flags = flags;
        a.post(wr, &[a.sge(0, 1)])
    };
    for _ in 0..3 {
        assert_eq!(write(0), 0);
    }
    assert_eq!(write(IBV_SEND_SIGNALED), 0);
    // The four are done, but nobody knows before the completion is polled.
    assert_eq!(write(0), libc::ENOMEM);
    a.expect(1, IBV_WC_SUCCESS);
    for _ in 0..3 {
        assert_eq!(write(0), 0);
    }
    assert!(a.poll().is_none());
}

#[test]
fn buffers_of_the_device_are_registered_and_reached() {
    let [mut a, b] = pair(Setup::default());
    let mut buffer = null_mut();
    // SAFETY: alive objects of this device; the memory is the buffer's.
    unsafe {
        let address = ibv_alloc_buf(b.pd, 8192, &mut buffer);
        let mr = ibv_reg_buf_mr(b.pd, buffer, address, 8192, ACCESS as c_int);
        assert!(!mr.is_null());
        a.memory[..4096].copy_from_slice(&pattern(5, 4096));
        let wr = remote(1, IBV_WR_RDMA_WRITE, address as u64 + 100, (*mr).rkey);
        assert_eq!(a.post(wr, &[a.sge(0, 4096)]), 0);
        a.expect(1, IBV_WC_SUCCESS);
        let got = std::slice::from_raw_parts(address.cast::<u8>().add(100), 4096);
        assert_eq!(got, pattern(5, 4096));
        assert_eq!(ibv_dereg_mr(mr), 0);
        ibv_free_buf(buffer);
    }
}

#[test]
fn null_region_reads_as_zeros_and_forgets() {
    let [mut a, mut b] = pair(Setup::default());
    // SAFETY: alive objects.
    unsafe {
        let null = mr::alloc_null_mr(a.pd);
        let element = ibv_sge {
            addr: 12345,
            length: 500,
            lkey: (*null).lkey,
        };
        b.memory[..1000].fill(9);
        let wr = remote(1, IBV_WR_RDMA_WRITE, b.address(0), b.key());
        assert_eq!(a.post(wr, &[element, a.sge(0, 10)]), 0);
        a.expect(1, IBV_WC_SUCCESS);
        assert_eq!(b.memory[..510], [0; 510]);
        assert_eq!(b.memory[510..1000], [9; 490]);
        let wr = remote(2, IBV_WR_RDMA_READ, b.address(0), b.key());
        a.memory[..10].fill(1);
        assert_eq!(a.post(wr, &[element, a.sge(0, 100)]), 0);
        a.expect(2, IBV_WC_SUCCESS);
        assert_eq!(a.memory[..10], [0; 10]);
        assert_eq!(a.memory[10..100], [9; 90]);
        assert_eq!(ibv_dereg_mr(null), 0);
    }
}
