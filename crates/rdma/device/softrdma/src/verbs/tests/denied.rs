//! Queue pairs of two processes that the kernel lets not copy from each other: the target's agent does it.

use super::processes::{Other, begin};
use super::*;
use crate::fabric::{Fabric, Number, Reach};

/// Denies this thread, and those it starts, process_vm_readv(2) and process_vm_writev(2), as a container without the ptrace
/// capability does.
pub fn deny_copies() {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let line = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut lines = [
        line(load, 0, 0, 0),
        line(equal, 1, 0, libc::SYS_process_vm_readv as u32),
        line(equal, 0, 1, libc::SYS_process_vm_writev as u32),
        line(give, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        line(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: lines.len() as u16,
        filter: lines.as_mut_ptr(),
    };
    // SAFETY: a readable program; the calls concern this thread.
    let denied = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    assert!(denied, "{}", std::io::Error::last_os_error());
}

/// Runs a test in a thread of its own, which alone is denied; the other process is too.
fn denied(role: &str, setup: Setup, test: impl FnOnce(Side, Other, u64, u32) + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            deny_copies();
            let (side, other, address, key) = begin(role, setup);
            // The agent, if another test started it, would find the way open.
            assert_denied(&side);
            test(side, other, address, key);
        });
    });
}

/// Meets the peer, and sees that it is reached by its agent only.
fn assert_denied(side: &Side) {
    let mut attributes = ibv_qp_attr::default();
    let mut init = ibv_qp_init_attr::default();
    // SAFETY: alive, and writable.
    unsafe { ibv_query_qp(side.qp, &mut attributes, IBV_QP_DEST_QPN, &mut init) };
    let slot = Number::from_bits(attributes.dest_qp_num).slot();
    let config = devices().unwrap()[0].config;
    let peer = Fabric::joined(&config.fabric).unwrap().peer(slot).unwrap();
    assert_eq!(peer.reach(), Reach::Agent);
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes[..8].try_into().unwrap())
}

#[test]
fn agents_deliver_messages() {
    denied(
        "denied echo",
        Setup::default(),
        |mut side, mut other, _, _| {
            for wr_id in 0..8 {
                let length = wr_id as usize * 140;
                side.memory[..length].copy_from_slice(&pattern(wr_id as u8, length));
                side.receive(wr_id, 10_000, 1000);
                let element = side.sge(0, length);
                assert_eq!(side.post(request(50, IBV_WR_SEND), &[element]), 0);
                // The agent's word that it was received may come after the echo.
                let mut both = [side.wait(), side.wait()];
                both.sort_by_key(|wc| wc.wr_id);
                assert_eq!(both.map(|wc| (wc.wr_id, wc.status)), [(wr_id, 0), (50, 0)]);
                assert_eq!(both[0].byte_len, length as u32);
                let back = &side.memory[10_000..10_000 + length];
                assert_eq!(back, pattern(wr_id as u8, length));
            }
            assert_denied(&side);
            other.tell("done");
        },
    );
}

#[test]
fn agents_write_read_and_change_words() {
    const LONG: usize = 100_000;
    let test = |mut side: Side, mut other: Other, address: u64, key| {
        side.memory[..LONG].copy_from_slice(&pattern(3, LONG));
        // In order, although the second is short.
        let write = remote(1, IBV_WR_RDMA_WRITE, address + 16, key);
        assert_eq!(side.post(write, &[side.sge(0, LONG)]), 0);
        let read = remote(2, IBV_WR_RDMA_READ, address + 16, key);
        let halves = [side.sge(LONG, 1000), side.sge(LONG + 2000, LONG - 1000)];
        assert_eq!(side.post(read, &halves), 0);
        side.expect(1, IBV_WC_SUCCESS);
        side.expect(2, IBV_WC_SUCCESS);
        assert_eq!(side.memory[LONG..LONG + 1000], side.memory[..1000]);
        assert_eq!(
            side.memory[LONG + 2000..2 * LONG + 1000],
            side.memory[1000..LONG]
        );

        let atomic = |wr_id, opcode, operand, swap| {
            let mut wr = request(wr_id, opcode);
            wr.wr.atomic = ibv_send_wr_atomic {
                remote_addr: address,
                compare_add: operand,
                swap,
                rkey: key,
            };
            assert_eq!(side.post(wr, &[side.sge(8, 8)]), 0);
            side.expect(wr_id, IBV_WC_SUCCESS);
            word(&side.memory[8..])
        };
        assert_eq!(atomic(3, IBV_WR_ATOMIC_FETCH_AND_ADD, 42, 0), 0);
        assert_eq!(atomic(4, IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
        assert_eq!(atomic(5, IBV_WR_ATOMIC_CMP_AND_SWP, 42, 9), 7);

        let wrong = remote(6, IBV_WR_RDMA_WRITE, address, key ^ 1);
        assert_eq!(side.post(wrong, &[side.sge(0, 8)]), 0);
        side.expect(6, IBV_WC_REM_ACCESS_ERR);
        other.tell("on");
        other.tell("done");
    };
    denied("denied victim", Setup::default(), test);
}

#[test]
fn stopped_peers_without_help_time_out_and_dead_ones_too() {
    for signal in [libc::SIGSTOP, libc::SIGKILL] {
        // A busy machine may make any call slow, but not each time.
        let returns_at_once = || time_out_of_a_peer(signal) < Duration::from_millis(500);
        assert!((0..5).any(|_| returns_at_once()), "the call waited");
    }
}

/// A write to a peer that is stopped or dead fails in time. Answers how long the call took.
fn time_out_of_a_peer(signal: i32) -> Duration {
    let mut posted = Duration::MAX;
    let setup = Setup {
        retries: 0,
        ..Setup::default()
    };
    denied("denied victim", setup, |side, other, address, key| {
        let write = |wr_id| {
            let wr = remote(wr_id, IBV_WR_RDMA_WRITE, address, key);
            assert_eq!(side.post(wr, &[side.sge(0, 8)]), 0);
        };
        write(1);
        side.expect(1, IBV_WC_SUCCESS);
        other.signal(signal);
        other.wait_until_still();
        let begin = Instant::now();
        write(2);
        posted = begin.elapsed();
        side.expect(2, IBV_WC_RETRY_EXC_ERR);
        assert!(begin.elapsed() < Duration::from_secs(60));
        assert_eq!(side.state(), IBV_QPS_ERR);
    });
    posted
}
