//! A process that is killed after each single store of what it does to another's queues.
//!
//! It stops itself, is led through the deed instruction by instruction (ptrace(2), PTRACE_SINGLESTEP) while what is shared is
//! compared, and is killed after the n-th instruction that changed something, for each n until the deed is done: to others all
//! instructions in between are the same. Whatever n, the survivor finds the request either still posted, or used up with its
//! completion there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::super::layout::process;
use super::super::lock::PATIENT;
use super::super::receive::Ring;
use super::{Player, Target, completion, join, say};
use crate::fabric::{Cq, Fabric, Number};

const DEEDS: [&str; 3] = ["finish", "take", "complete"];

/// Does the deed it is told between two stops.
pub fn stepper(words: &[&str]) {
    let target = Target::from_words(words);
    let (fabric, peer) = target.reach();
    let processes = fabric.processes();
    let cq = peer.segment().cq(target.cq);
    let ring = peer.segment().receive_ring(target.qp);
    let number = target.number();
    let entry = completion(7);
    // SAFETY: take plain numbers.
    let thread = unsafe {
        libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
        libc::gettid()
    };
    say(&thread.to_string());
    stop();
    match words[4] {
        "finish" => {
            let turn = ring.lock(processes, PATIENT).unwrap();
            let _ = turn.finish(cq, &entry, false, PATIENT).unwrap();
            drop(turn);
        }
        "take" => {
            let turn = ring.lock(processes, PATIENT).unwrap();
            turn.take(number).unwrap();
        }
        _ => {
            let receiving = peer.segment().receiving(number);
            receiving
                .finish(processes, cq, &entry, false, PATIENT)
                .unwrap();
        }
    }
    stop();
}

fn stop() {
    // SAFETY: takes plain numbers.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Waits for a thread to stop; the signal that stopped it, none if it has ended.
fn stopped(thread: u32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: `status` is writable.
    let waited = unsafe { libc::waitpid(thread as i32, &mut status, libc::__WALL) };
    (waited == thread as i32 && libc::WIFSTOPPED(status)).then(|| libc::WSTOPSIG(status))
}

/// Leads the thread through its deed until it has changed what is shared `changes` times. False if it was done before.
fn lead(thread: u32, changes: usize, shared: impl Fn() -> Vec<u64>) -> bool {
    let mut last = shared();
    let mut seen = 0;
    while seen < changes {
        let null = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the thread is a child's of this thread, traced and stopped.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, thread as i32, null, null) };
        match stopped(thread) {
            Some(libc::SIGTRAP) => {}
            Some(libc::SIGSTOP) => return false,
            other => panic!("stopped by {other:?}"),
        }
        let now = shared();
        seen += usize::from(now != last);
        last = now;
    }
    true
}

/// All words that the deeds change.
fn words_of(fabric: &Fabric, target: &Target) -> Vec<u64> {
    let (ring, slots) = fabric.segment().cq(target.cq).ring();
    let places = [
        (process::CQS + u64::from(target.cq.index) * 128, 128),
        (process::QPS + u64::from(target.qp) * 512, 512),
        (process::RECEIVINGS + u64::from(target.qp) * 576, 576),
        (ring, u64::from(slots) * 64),
    ];
    let offsets = places
        .iter()
        .flat_map(|&(begin, bytes)| (begin..begin + bytes).step_by(8));
    offsets
        .map(|offset| {
            let word: &AtomicU64 = fabric.segment().mapping().at(offset).unwrap();
            word.load(Ordering::Relaxed)
        })
        .collect()
}

/// Brings the queues to where `deed` can begin: one request, posted or taken.
fn prepare(fabric: &'static Fabric, ring: Ring<'_>, number: Number, deed: &str) {
    ring.post(7, &[]).unwrap();
    if deed == "complete" {
        let turn = ring.lock(fabric.processes(), PATIENT).unwrap();
        assert!(turn.take(number).is_some());
    }
}

/// What is left of the one request, after the survivor has looked: taken out of all places where it stands.
fn settle(fabric: &'static Fabric, ring: Ring<'_>, cq: Cq<'_>, number: Number) -> [usize; 3] {
    let processes = fabric.processes();
    let turn = ring.lock(processes, Duration::from_secs(1)).unwrap();
    let posted = turn.request().is_some();
    if posted {
        turn.discard();
    }
    drop(turn);
    // The lock of the completion queue may still be the dead one's: to push is to mend.
    let _ = cq.push(processes, &completion(8), false, PATIENT).unwrap();
    let receiving = fabric.segment().receiving(number);
    let taken = receiving.busy();
    receiving.clear();
    let mut completed = 0;
    while let Some(entry) = cq.poll() {
        completed += usize::from(entry.wr_id == 7);
    }
    [usize::from(posted), usize::from(taken), completed]
}

#[test]
fn a_death_after_each_store_leaves_one_request_or_its_completion() {
    let fabric = join("stepping");
    let target = Target::new("stepping", 4, 64);
    let ring = fabric.segment().receive_ring(target.qp);
    let cq = fabric.segment().cq(target.cq);
    for deed in DEEDS {
        let mut words = target.words();
        words.push(deed.to_owned());
        let mut outcomes = std::collections::BTreeSet::new();
        for changes in 0.. {
            prepare(fabric, ring, target.number(), deed);
            let mut player = Player::start("stepper", &words);
            let thread = player.hear().unwrap().parse().unwrap();
            assert_eq!(stopped(thread), Some(libc::SIGSTOP));
            let alive = lead(thread, changes, || words_of(fabric, &target));
            // A traced thread is not gone before its tracer has seen its end, nor is its process.
            player.child.kill().unwrap();
            while stopped(thread).is_some() {}
            player.kill();
            let outcome = settle(fabric, ring, cq, target.number());
            let left: usize = outcome.iter().sum();
            assert_eq!(left, 1, "{deed} after {changes} changes: {outcome:?}");
            outcomes.insert(outcome);
            if !alive {
                assert!(changes > 4, "{deed}: {changes}");
                break;
            }
        }
        assert_eq!(outcomes.len(), 2, "{deed}: {outcomes:?}");
    }
}
