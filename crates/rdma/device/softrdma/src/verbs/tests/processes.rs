//! Queue pairs of two processes: this test program is run a second time, as the other side.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::*;
use crate::path::adapter::Adapter;

/// Set in the other process: what it is to do.
const ROLE: &str = "SOFTRDMA_TEST_ROLE";

pub struct Other {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Other {
    fn start(role: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "verbs::tests::processes::other_side",
                "--nocapture",
            ])
            .env(ROLE, role)
            .env("SOFTRDMA_FABRIC", &devices().unwrap()[0].config.fabric)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Other {
            child,
            input,
            lines,
        }
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Waits until it is stopped or dead.
    pub fn wait_until_still(&self) {
        let path = format!("/proc/{}/stat", self.child.id());
        let is_still = || {
            let stat = std::fs::read_to_string(&path).unwrap();
            let (_, state) = stat.rsplit_once(')').unwrap();
            matches!(state.trim_start().as_bytes()[0], b'T' | b'Z')
        };
        while !is_still() {
            std::thread::yield_now();
        }
    }

    pub fn signal(&self, signal: c_int) {
        // SAFETY: a child of this process that was not waited for.
        let sent = unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        assert_eq!(sent, 0);
    }

    /// What it says next; the test harness's own lines are passed over.
    fn hear(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("it ended").unwrap();
            if let Some((_, words)) = line.split_once("says ") {
                return words.to_owned();
            }
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other side: not a test by itself.
#[test]
fn other_side() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let role = match role.strip_prefix("denied ") {
        Some(role) => {
            super::denied::deny_copies();
            role
        }
        None => &role,
    };
    let mut input = std::io::stdin().lines();
    let mut next = || input.next().unwrap().unwrap();
    let side = Side::new(Setup {
        timeout: 14,
        retries: 7,
        ..Setup::default()
    });
    println!("says {} {} {}", side.qpn(), side.address(0), side.key());
    let peer: u32 = next().parse().unwrap();
    side.to_init();
    for wr_id in 0..8 {
        assert_eq!(side.receive(wr_id, wr_id as usize * 1000, 1000), 0);
    }
    side.to_rtr(peer);
    side.to_rts();
    println!("says ready");
    match role {
        "echo" => {
            let mut sent = 0;
            for wr_id in 0..8 {
                // An echo's own completion may come after the next message.
                let wc = loop {
                    let wc = side.wait();
                    assert_eq!(wc.status, IBV_WC_SUCCESS);
                    if wc.wr_id != 100 {
                        break wc;
                    }
                    sent -= 1;
                };
                assert_eq!(wc.wr_id, wr_id);
                let at = wr_id as usize * 1000;
                let back = side.sge(at, wc.byte_len as usize);
                assert_eq!(side.post(request(100, IBV_WR_SEND), &[back]), 0);
                sent += 1;
            }
            for _ in 0..sent {
                side.expect(100, IBV_WC_SUCCESS);
            }
        }
        "victim" => {
            next();
        }
        role => panic!("no role {role}"),
    }
    // The other one says when it is done.
    next();
}

pub fn begin(role: &str, setup: Setup) -> (Side, Other, u64, u32) {
    let side = Side::new(setup);
    let mut other = Other::start(role);
    let words = other.hear();
    let mut words = words.split(' ');
    let qpn: u32 = words.next().unwrap().parse().unwrap();
    let address = words.next().unwrap().parse().unwrap();
    let key = words.next().unwrap().parse().unwrap();
    other.tell(&side.qpn().to_string());
    assert_eq!(other.hear(), "ready");
    side.connect(qpn);
    (side, other, address, key)
}

#[test]
fn messages_go_and_come() {
    let (mut side, mut other, ..) = begin("echo", Setup::default());
    for wr_id in 0..8 {
        let length = wr_id as usize * 140;
        side.memory[..length].copy_from_slice(&pattern(wr_id as u8, length));
        side.receive(wr_id, 10_000, 1000);
        assert_eq!(
            side.post(request(50, IBV_WR_SEND), &[side.sge(0, length)]),
            0
        );
        // The answer may come before the acknowledgement.
        let completions = [side.wait(), side.wait()];
        let of = |wanted| {
            let wc = completions.iter().find(|wc| wc.wr_id == wanted);
            let wc = wc.expect("a completion of each");
            assert_eq!(wc.status, IBV_WC_SUCCESS);
            wc.byte_len
        };
        of(50);
        assert_eq!(of(wr_id), length as u32);
        assert_eq!(
            side.memory[10_000..10_000 + length],
            pattern(wr_id as u8, length)
        );
    }
    other.tell("done");
}

#[test]
fn stopped_peers_are_written_to_and_read_from() {
    let (mut side, mut other, address, key) = begin("victim", Setup::default());
    other.signal(libc::SIGSTOP);
    side.memory[..5000].copy_from_slice(&pattern(4, 5000));
    assert_eq!(
        side.post(
            remote(1, IBV_WR_RDMA_WRITE, address, key),
            &[side.sge(0, 5000)]
        ),
        0
    );
    side.expect(1, IBV_WC_SUCCESS);
    let read = remote(2, IBV_WR_RDMA_READ, address, key);
    assert_eq!(side.post(read, &[side.sge(20_000, 5000)]), 0);
    side.expect(2, IBV_WC_SUCCESS);
    assert_eq!(side.memory[20_000..25_000], pattern(4, 5000));
    other.signal(libc::SIGCONT);
    other.tell("on");
    other.tell("done");
}

#[test]
fn dead_peers_are_an_error_in_time() {
    let (side, mut other, address, key) = begin("victim", Setup::default());
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    let begin = Instant::now();
    let mut wr_id = 0;
    let wc = loop {
        wr_id += 1;
        let wr = remote(wr_id, IBV_WR_RDMA_WRITE, address, key);
        assert_eq!(side.post(wr, &[side.sge(0, 8)]), 0);
        let wc = side.wait();
        if wc.status != IBV_WC_SUCCESS {
            break wc;
        }
    };
    assert_eq!(wc.status, IBV_WC_RETRY_EXC_ERR);
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(side.state(), IBV_QPS_ERR);
}

/// The agent may have its state at the moment of a fork, and the child has a copy that nobody ever lets go of.
#[test]
fn forked_children_end_at_once_and_leave_the_device_alone() {
    let [mut a, b] = pair(Setup::default());
    let agent = Adapter::current(devices().unwrap()[0].config)
        .unwrap()
        .agent();
    let state = agent.state();
    let begin = Instant::now();
    // SAFETY: the child does what the process does when it ends, and nothing else.
    let child = unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::exit(0);
        }
        child
    };
    let mut status = -1;
    // SAFETY: a child that was not waited for.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    let seconds = begin.elapsed().as_secs_f64();
    drop(state);
    assert_eq!(status, 0);
    assert!(seconds < 1.5, "the child took {seconds} s");
    // Of a length that goes to the agent.
    let length = 200_000;
    a.memory[..length].copy_from_slice(&pattern(9, length));
    assert_eq!(b.receive(1, 0, BYTES), 0);
    assert_eq!(a.post(request(2, IBV_WR_SEND), &[a.sge(0, length)]), 0);
    b.expect(1, IBV_WC_SUCCESS);
    a.expect(2, IBV_WC_SUCCESS);
    assert_eq!(b.memory[..length], pattern(9, length));
}
