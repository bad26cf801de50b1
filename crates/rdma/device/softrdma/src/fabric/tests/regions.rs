//! Keys, who uses them while they are taken back, and memory that is reached in each way.

use std::time::Duration;

use super::super::atomics::Operation;
use super::super::lock::{Busy, PATIENT};
use super::super::memory::{Direction, Local, MemoryError, Reach};
use super::super::{KeyError, Region, Span};
use super::{Player, Random, fabric_name, join, listen, say};
use crate::fabric::Fabric;

/// A region of `length` bytes, in memory that is never freed.
pub fn register(fabric: &Fabric, length: usize) -> u32 {
    let memory = Box::leak(vec![0u8; length].into_boxed_slice());
    let address = memory.as_mut_ptr() as u64;
    fabric
        .own_segment()
        .register(&region(address, length as u64))
        .unwrap()
}

fn region(address: u64, length: u64) -> Region {
    Region {
        address,
        length,
        iova: address,
        access: 7,
        pd: 3,
        segment_offset: None,
        qpn: None,
    }
}

#[test]
fn keys_give_what_they_cover_and_no_more() {
    let region = Region {
        iova: 1000,
        ..region(50_000, 100)
    };
    assert_eq!(
        region.span(1000, 100, 3, 5),
        Ok(Span {
            address: 50_000,
            length: 100,
            segment_offset: None,
        })
    );
    assert_eq!(region.span(1040, 60, 3, 0).unwrap().address, 50_040);
    assert!(region.span(1100, 0, 3, 0).is_ok());
    for (iova, length) in [
        (999, 1),
        (1000, 101),
        (1100, 1),
        (1099, 2),
        (0, 1),
        (u64::MAX, 2),
        (1000, u64::MAX),
        (1050, u64::MAX - 10),
    ] {
        assert_eq!(
            region.span(iova, length, 3, 0),
            Err(KeyError::Range),
            "{iova} {length}"
        );
    }
    assert_eq!(region.span(1000, 1, 4, 0), Err(KeyError::Unknown));
    assert_eq!(region.span(1000, 1, 3, 8), Err(KeyError::Access));
}

#[test]
fn keys_end_and_are_not_given_again_soon() {
    let fabric = join("keys");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let mut seen = std::collections::HashSet::new();
    for _ in 0..1000 {
        let key = register(fabric, 8);
        assert!(seen.insert(key));
        assert!(fabric.own().visit(key, 0).is_some());
        assert!(fabric.own().visit(key ^ 1, 0).is_none());
        own_segment.deregister(processes, key, PATIENT).unwrap();
        assert!(fabric.own().visit(key, 0).is_none());
        assert!(super::super::own_region(own_segment.segment(), key).is_none());
    }
    assert!(fabric.own().visit(0, 0).is_none());
    assert!(fabric.own().visit(u32::MAX, 0).is_none());
}

#[test]
fn a_region_stays_while_it_is_visited() {
    let fabric = join("visits");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let key = register(fabric, 8);
    let visit = fabric.own().visit(key, 5).unwrap();
    let soon = Duration::from_millis(5);
    assert_eq!(own_segment.deregister(processes, key, soon), Err(Busy));
    assert!(fabric.own().visit(key, 6).is_none());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| own_segment.deregister(processes, key, PATIENT));
        std::thread::sleep(soon);
        assert!(!waiter.is_finished());
        drop(visit);
        waiter.join().unwrap().unwrap();
    });
}

#[test]
fn windows_are_invalidated_by_their_queue_pair() {
    let fabric = join("windows");
    let window = Region {
        qpn: Some(17),
        ..region(4096, 64)
    };
    let key = fabric.own_segment().register(&window).unwrap();
    let plain = register(fabric, 8);
    assert!(!fabric.invalidate(fabric.own(), plain, (17, 3)));
    assert!(!fabric.invalidate(fabric.own(), key, (18, 3)));
    assert!(!fabric.invalidate(fabric.own(), key, (17, 4)));
    assert!(fabric.invalidate(fabric.own(), key, (17, 3)));
    assert!(!fabric.invalidate(fabric.own(), key, (17, 3)));
    assert!(fabric.own().visit(key, 0).is_none());
}

/// Copies between random pieces of its own memory and the owner's region, tells what it wrote where.
pub fn copier(words: &[&str]) {
    let fabric = Fabric::join(words[0]).unwrap();
    let peer = fabric.meet(words[1].parse().unwrap()).unwrap();
    let key: u32 = words[2].parse().unwrap();
    let base: u64 = words[3].parse().unwrap();
    let own_part: u64 = words[4].parse().unwrap();
    let mut random = Random(base | 1);
    let source: Vec<u8> = (0..1 << 16).map(|at| (at * 31 / 7) as u8).collect();
    let visit = peer.visit(key, 0).unwrap();
    assert!(matches!(peer.reach(), Reach::Copies { .. }));
    for _ in 0..200 {
        let lengths: Vec<u64> = (0..1 + random.next() % 5)
            .map(|_| random.next() % 3000)
            .collect();
        let total: u64 = lengths.iter().sum();
        let local: Vec<Local> = lengths
            .iter()
            .map(|&length| Local {
                address: source.as_ptr() as u64 + random.next() % 4096,
                length,
            })
            .collect();
        let cut = random.next() % (total + 1);
        let begin = base + own_part + random.next() % 4096;
        let remote = [
            visit.region().span(begin, cut, 3, 0).unwrap(),
            visit.region().span(begin + cut, total - cut, 3, 0).unwrap(),
        ];
        // SAFETY: `source` is not freed; what is read back goes to memory of its own.
        unsafe {
            peer.copy(Direction::Write, &local, &remote).unwrap();
            let mut back = vec![0u8; total as usize];
            let here = Local {
                address: back.as_mut_ptr() as u64,
                length: total,
            };
            peer.copy(Direction::Read, &[here], &remote).unwrap();
            let sent: Vec<u8> = local
                .iter()
                .flat_map(|piece| {
                    let at = (piece.address - source.as_ptr() as u64) as usize;
                    source[at..at + piece.length as usize].to_vec()
                })
                .collect();
            assert_eq!(back, sent);
        }
    }
    for _ in 0..1000 {
        let span = visit.region().span(base + 32_768, 8, 3, 0).unwrap();
        let processes = fabric.processes();
        peer.atomic(Operation::FetchAdd(3), span, processes, PATIENT)
            .unwrap();
    }
    let nowhere = Span {
        address: 4096,
        length: 8,
        segment_offset: None,
    };
    let here = Local {
        address: source.as_ptr() as u64,
        length: 8,
    };
    // SAFETY: `source` is not freed.
    let fault = unsafe { peer.copy(Direction::Write, &[here], &[nowhere]) };
    assert_eq!(fault, Err(MemoryError::Fault));
    say("done");
    listen();
}

/// Private memory is reached through the kernel, a buffer through the mapping; atomics of three processes add up.
#[test]
fn peers_reach_both_kinds_of_memory() {
    let fabric = join("reaching");
    let own_segment = fabric.own_segment();
    let length = 1 << 16;
    let buffer = own_segment.allocate_buffer(length).unwrap() as u64;
    let segment_offset = own_segment.segment_offset_of(buffer, length);
    assert!(
        segment_offset.is_some()
            && own_segment
                .segment_offset_of(buffer, length + 4096)
                .is_none()
    );
    let private = Box::leak(vec![0u64; 8192].into_boxed_slice()).as_mut_ptr() as u64;
    for (address, segment_offset) in [(private, None), (buffer, segment_offset)] {
        let shown = Region {
            segment_offset,
            ..region(address, length)
        };
        let key = own_segment.register(&shown).unwrap();
        let start = |part: u64| {
            let words = [
                fabric_name("reaching"),
                fabric.me().slot().to_string(),
                key.to_string(),
                address.to_string(),
                part.to_string(),
            ];
            Player::start("copier", &words)
        };
        let mut players = [start(0), start(40_000)];
        for _ in 0..1000 {
            let span = shown.span(address + 32_768, 8, 3, 0).unwrap();
            let own = fabric.own();
            own.atomic(Operation::FetchAdd(3), span, fabric.processes(), PATIENT)
                .unwrap();
        }
        for player in &mut players {
            assert_eq!(player.hear().as_deref(), Some("done"));
        }
        // SAFETY: inside the region, which stays.
        let sum = unsafe { ((address + 32_768) as *const u64).read_volatile() };
        assert_eq!(sum, 9000);
        drop(players);
        own_segment
            .deregister(fabric.processes(), key, PATIENT)
            .unwrap();
    }
    assert!(own_segment.free_buffer(buffer as *mut u8));
    assert!(!own_segment.free_buffer(buffer as *mut u8));
}

#[test]
fn a_dead_process_is_noticed() {
    let fabric = join("noticing");
    let key = register(fabric, 1 << 16);
    let region = super::super::own_region(fabric.segment(), key).unwrap();
    let words = [
        fabric_name("noticing"),
        fabric.me().slot().to_string(),
        key.to_string(),
        region.address.to_string(),
        "0".to_owned(),
    ];
    let mut player = Player::start("copier", &words);
    assert_eq!(player.hear().as_deref(), Some("done"));
    let processes = fabric.processes();
    let entry = processes
        .living()
        .into_iter()
        .find(|entry| entry.pid == player.pid())
        .unwrap();
    let peer = fabric.peer(entry.owner.slot()).unwrap();
    assert!(!peer.look(processes));
    let pidfd = peer.pidfd(processes).unwrap();
    player.kill();
    use std::os::fd::AsFd;
    assert!(super::super::socket::wait(pidfd.as_fd(), 1000));
    assert!(peer.look(processes) && peer.is_gone());
    assert!(fabric.peer(entry.owner.slot()).is_none());
    let mut word = 0u64;
    let here = Local {
        address: &raw mut word as u64,
        length: 8,
    };
    let there = Span {
        address: entry.address,
        length: 8,
        segment_offset: None,
    };
    // SAFETY: `word` is writable.
    let gone = unsafe { peer.copy(Direction::Read, &[here], &[there]) };
    assert_eq!(gone, Err(MemoryError::Gone));
    // It was visiting.
    fabric
        .own_segment()
        .deregister(processes, key, PATIENT)
        .unwrap();
}

/// The asker's and the target's part in one process.
#[test]
fn proxied_steps_are_done_once_or_withdrawn() {
    use super::super::proxy::{MessageKind, Progress, ProxyChannel, receive};
    let fabric = join("relaying");
    let peer = fabric.peer(fabric.me().slot()).unwrap();
    let serve = || {
        let (mut asked, mut answered) = (0, 0);
        while let Some(message) = fabric.segment().mailbox().take() {
            let heard = receive(fabric, &message, |asked| {
                let bytes = asked.bytes(5).unwrap();
                // SAFETY: mapped, and nobody else's.
                unsafe { std::slice::from_raw_parts_mut(bytes, 5) }.reverse();
                [asked.request[0] + 1, asked.request[11]]
            });
            asked += u32::from(heard == MessageKind::Asked);
            answered += u32::from(heard == MessageKind::Answered);
        }
        (asked, answered)
    };
    let mut bytes = [1u8, 2, 3, 4, 5];
    let local = [(0, 2), (2, 3)].map(|(begin, length)| Local {
        address: bytes.as_mut_ptr() as u64 + begin,
        length,
    });
    let proxy = ProxyChannel::new(fabric, peer.clone(), 5).unwrap();
    let mut request = [7; 12];
    request[11] = 9;
    for _ in 0..2 {
        assert!(proxy.suits(&peer, 5) && !proxy.suits(&peer, 6));
        // SAFETY: `bytes` is there.
        unsafe { proxy.ask(&request, &local, PATIENT) }.unwrap();
        assert_eq!(proxy.progress(), Progress::Waits);
        assert!(!proxy.suits(&peer, 5));
        assert_eq!(serve(), (1, 1));
        assert_eq!(proxy.progress(), Progress::Done([8, 9]));
    }
    // SAFETY: as above.
    unsafe { proxy.fetch(&local) }.unwrap();
    assert_eq!(bytes, [5, 4, 3, 2, 1]);
    // SAFETY: as above.
    unsafe { proxy.ask(&request, &local, PATIENT) }.unwrap();
    assert!(proxy.withdraw() && !proxy.withdraw());
    // SAFETY: as above.
    unsafe { proxy.fetch(&local) }.unwrap();
    assert_eq!(serve(), (1, 1));
    // SAFETY: as above.
    unsafe { proxy.fetch(&local) }.unwrap();
    assert_eq!(bytes, [5, 4, 3, 2, 1], "it was done although withdrawn");
    assert!(proxy.suits(&peer, 5));
}
