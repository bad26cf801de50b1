//! Accesses to a peer's memory: short ones in a row, and to memory that the transport has allocated.

use weft_contract::{access, expose};
use weft_transport::{Direction, Endpoint, Exposed, Fabric};

use crate::world::{Process, linked_pair, memory, turn};

/// Turns after which counts can be seen.
const TURNS: usize = 64;

/// Lists that were posted, and requests in them.
fn posted(process: &mut Process) -> (u64, u64) {
    for _ in 0..TURNS {
        process.poll();
    }
    let counters = process.fabric.counters();
    (counters.posts, counters.requests)
}

#[test]
fn short_writes_in_a_row_leave_in_lists() {
    let (mut a, b) = linked_pair();
    let mut window = vec![0; 96 * 8];
    let exposure = expose(&b, &mut window);
    let before = posted(&mut a);
    let mut words: Vec<[u8; 8]> = (0..96u64).map(|word| (word + 1).to_le_bytes()).collect();
    for (index, word) in words.iter_mut().enumerate() {
        let place = (exposure.exposed, index * 8);
        access(&mut a, Direction::Write, memory(word), place, index as u64).unwrap();
    }
    let after = posted(&mut a);
    assert_eq!((after.0 - before.0, after.1 - before.1), (3, 96));
    assert_eq!(a.log.sent.len(), 96);
    drop(exposure);
    assert_eq!(window, words.concat());
}

/// Where turns have followed bursts at once, all packets of one but the first leave with the next turn, in one frame.
#[test]
fn packets_of_a_burst_leave_as_one_frame() {
    const PACKETS: usize = 40;
    let (mut a, mut b) = linked_pair();
    let (mut sent, mut fewest) = (0, u64::MAX);
    // Somebody may keep this thread from its core, so that it is not in time.
    for _ in 0..200 {
        let before = posted(&mut a);
        for _ in 0..PACKETS {
            while a.send(1, sent, b"burst").is_err() {
                turn(&mut [&mut a, &mut b], |_| true);
            }
            sent += 1;
        }
        let after = posted(&mut a);
        fewest = fewest.min(after.1 - before.1);
        turn(&mut [&mut a, &mut b], |all| {
            all[1].log.packets.len() as u64 == sent
        });
        if fewest <= 4 {
            break;
        }
    }
    assert!(fewest <= 4, "{fewest} requests for {PACKETS} packets");
    let tags = b.log.packets.iter().map(|packet| packet.1.0[0]);
    assert!(tags.eq(0..sent));
}

/// Short packets of a turn leave as one frame behind the first, as far as a frame holds them; a longer one by itself, in its place.
#[test]
fn packets_of_a_turn_leave_as_few_frames() {
    let (mut a, mut b) = linked_pair();
    let lengths = [8; 60].into_iter().chain([2000]).chain([8; 60]);
    let lengths: Vec<usize> = lengths.chain([16_000, 0, 0]).collect();
    let before = posted(&mut a);
    a.endpoint.poll(&mut a.log);
    for (tag, &bytes) in lengths.iter().enumerate() {
        a.send(1, tag as u64, &vec![tag as u8; bytes]).unwrap();
    }
    a.poll();
    // The first; 59 more; a longer one; 60 more; the longest; two more.
    assert_eq!(posted(&mut a).1 - before.1, 6);
    turn(&mut [&mut a, &mut b], |all| {
        all[1].log.packets.len() == lengths.len()
    });
    for (tag, (packet, bytes)) in b.log.packets.iter().zip(lengths).enumerate() {
        assert_eq!(packet.1.0[0], tag as u64);
        assert_eq!(packet.2, vec![tag as u8; bytes]);
    }
}

#[test]
fn a_write_alone_leaves_with_the_next_turn() {
    let (mut a, b) = linked_pair();
    let mut window = [0; 8];
    let exposure = expose(&b, &mut window);
    let mut word = 7u64.to_le_bytes();
    access(
        &mut a,
        Direction::Write,
        memory(&mut word),
        (exposure.exposed, 0),
        5,
    )
    .unwrap();
    assert!(a.log.sent.is_empty());
    while a.log.sent.is_empty() {
        a.poll();
    }
    assert_eq!(a.log.sent, [5]);
    drop(exposure);
    assert_eq!(window, word);
}

/// Writes or reads all of `bytes`.
fn move_all(process: &mut Process, direction: Direction, bytes: &mut [u8], exposed: Exposed) {
    access(process, direction, memory(bytes), (exposed, 0), 1).unwrap();
    turn(&mut [process], |all| {
        all[0].log.sent.len() + all[0].log.received.len() == 1
    });
    process.log.sent.clear();
    process.log.received.clear();
}

/// The device in software has memory of its own. It is of zeros whenever it is allocated, peers access it once it is exposed, and it goes
/// back after that.
#[test]
fn memory_of_the_adapter_s_library_is_exposed() {
    const BYTES: usize = 100_000;
    let (mut a, b) = linked_pair();
    for round in 1..4 {
        let allocation = b.fabric.allocate(0, BYTES).expect("memory");
        assert_eq!(allocation.memory.bytes, BYTES);
        let exposure = b.fabric.expose(0, allocation.memory.clone());
        let exposed = exposure.as_ref().expect("it is registered").exposed;
        let mut got = vec![0xff; BYTES];
        move_all(&mut a, Direction::Read, &mut got, exposed);
        assert!(got.iter().all(|&byte| byte == 0), "round {round}");
        let mut put = vec![round; BYTES];
        move_all(&mut a, Direction::Write, &mut put, exposed);
        move_all(&mut a, Direction::Read, &mut got, exposed);
        assert!(got == put, "round {round}");
        drop(exposure);
        drop(allocation);
    }
    assert!(b.fabric.allocate(0, 0).is_none());
}
