//! Processes that are killed at random moments while they do everything at once. The survivor goes on, loses nothing and
//! doubles nothing; afterwards all is as clean as at the start.

use std::collections::HashMap;
use std::time::Duration;

use super::super::completion::PushError;
use super::super::lock::PATIENT;
use super::super::receive::Ring;
use super::super::xrc::Opening;
use super::{Completion, Player, Random, Target, completion, join, regions, say};
use crate::fabric::{Cq, Fabric};

const KILLS: usize = 500;
const REQUESTS: u32 = 64;
const RECEIVED: u16 = 1;
const PUSHED: u16 = 2;
const FILE: Opening = Opening {
    create: true,
    exclusive: false,
};

/// Uses up receive requests, pushes completions that are numbered, sends messages, takes pages, opens domains, copies; for ever.
pub fn worker(words: &[&str]) {
    let target = Target::from_words(words);
    let key: u32 = words[4].parse().unwrap();
    let (fabric, peer) = target.reach();
    let processes = fabric.processes();
    let cq = peer.segment().cq(target.cq);
    let me = fabric.me().word();
    say("ready");
    for number in 0u32.. {
        let turn = peer
            .segment()
            .receive_ring(target.qp)
            .lock(processes, PATIENT)
            .unwrap();
        if let Some(request) = turn.request() {
            let entry = Completion {
                opcode: RECEIVED,
                ..completion(request.wr_id())
            };
            let _ = turn.finish(cq, &entry, false, PATIENT);
        }
        drop(turn);
        let entry = Completion {
            opcode: PUSHED,
            src_qp: me,
            byte_len: number,
            ..Completion::default()
        };
        while cq.push(processes, &entry, false, PATIENT).is_err() {
            std::thread::yield_now();
        }
        let _ = fabric.send(&peer, &[u64::from(number) + 1; 8], PATIENT);
        let pages = fabric.pages(0);
        let page = pages.take(8000).unwrap();
        let id = fabric
            .domains()
            .open(processes, 0, Some([1, 2]), FILE)
            .unwrap();
        let visit = peer.visit(key, 0).unwrap();
        assert!(visit.region().span(visit.region().iova, 8, 3, 0).is_ok());
        drop(visit);
        fabric.domains().close(processes, id).unwrap();
        pages.give_back(page);
    }
}

/// What the survivor has seen.
struct Ledger {
    posted: u64,
    received: u64,
    /// Of each process, how many it has pushed.
    pushed: HashMap<u32, u32>,
}

impl Ledger {
    fn post(&mut self, ring: Ring<'_>) {
        while ring.post(self.posted, &[]).is_ok() {
            self.posted += 1;
        }
    }

    fn poll(&mut self, cq: Cq<'_>) {
        while let Some(entry) = cq.poll() {
            if entry.opcode == RECEIVED {
                assert_eq!(entry.wr_id, self.received);
                self.received += 1;
            } else {
                assert_eq!(entry.opcode, PUSHED);
                let pushed = self.pushed.entry(entry.src_qp).or_insert(0);
                assert_eq!(entry.byte_len, *pushed);
                *pushed += 1;
            }
        }
    }
}

#[test]
fn nothing_is_lost_or_left() {
    let fabric = join("killing");
    let target = Target::new("killing", REQUESTS, 1 << 16);
    let key = regions::register(fabric, 4096);
    let mut words = target.words();
    words.push(key.to_string());
    let cq = fabric.segment().cq(target.cq);
    let ring = fabric.segment().receive_ring(target.qp);
    let mut ledger = Ledger {
        posted: 0,
        received: 0,
        pushed: HashMap::new(),
    };
    let mut random = Random(99);
    let mut players: Vec<Player> = (0..3).map(|_| Player::start("worker", &words)).collect();
    for _ in 0..KILLS {
        let until = std::time::Instant::now() + Duration::from_micros(random.next() % 2000);
        while std::time::Instant::now() < until {
            ledger.post(ring);
            ledger.poll(cq);
            while fabric.segment().mailbox().take().is_some() {}
        }
        let victim = random.next() as usize % players.len();
        players[victim].kill();
        players[victim] = Player::start("worker", &words);
        if random.next().is_multiple_of(2) {
            assert_eq!(players[victim].hear().as_deref(), Some("ready"));
        }
        if random.next().is_multiple_of(16) {
            fabric.attend_name().unwrap();
            fabric.tidy();
        }
    }
    drop(players);
    finish(fabric, &target, &mut ledger, key);
    assert!(ledger.received > 1000 && ledger.pushed.len() > KILLS / 10);
}

/// Everybody is dead: locks are to be had, and nothing belongs to anyone.
fn finish(fabric: &'static Fabric, target: &Target, ledger: &mut Ledger, key: u32) {
    let processes = fabric.processes();
    let cq = fabric.segment().cq(target.cq);
    let ring = fabric.segment().receive_ring(target.qp);
    ledger.poll(cq);
    ledger.post(ring);
    while ledger.received < ledger.posted {
        let turn = ring.lock(processes, PATIENT).unwrap();
        let wr_id = turn.request().unwrap().wr_id();
        let entry = Completion {
            opcode: RECEIVED,
            ..completion(wr_id)
        };
        match turn.finish(cq, &entry, false, PATIENT) {
            Ok(_) => {}
            Err(PushError::Overrun { .. }) => unreachable!("there is room for all"),
            Err(error) => panic!("{error:?}"),
        }
        drop(turn);
        ledger.poll(cq);
    }
    fabric
        .own_segment()
        .deregister(processes, key, PATIENT)
        .unwrap();
    fabric.tidy();
    fabric.attend_name().unwrap();
    assert_eq!(processes.living().len(), 1);
    assert!((1..=254).all(|slot| processes.entry(slot).is_none()));
    assert_eq!(fabric.pages(0).taken(), 0);
    let alone = Opening {
        create: true,
        exclusive: true,
    };
    fabric
        .domains()
        .open(processes, 0, Some([1, 2]), alone)
        .unwrap();
    // Of all connections to the name the listener is left, and no socket of a process but its name's.
    let names = std::fs::read_to_string("/proc/net/unix").unwrap();
    let count = |name: &str| {
        let names = names.lines().filter_map(|line| line.split('@').nth(1));
        names.filter(|found| found.starts_with(name)).count()
    };
    assert_eq!(
        count(&format!("softrdma.{:016x}", fabric.own_segment().key())),
        0
    );
    assert_eq!(
        count(&format!(
            "softrdma.{}.{}",
            processes.identity().user,
            target.fabric
        )),
        1
    );
}
