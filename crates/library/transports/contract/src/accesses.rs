//! Accesses to exposed memory, for the transports that have them. The owner is not turned while others access its memory.

use weft_memory::Memory;
use weft_transport::{Access, Cookie, Direction, Endpoint, Exposed, Exposure, Refused};

use crate::layouts::strided;
use crate::process::{Process, Tested, linked_pair, turn};
use crate::random::Random;
use crate::transfers::memory;

/// Begins an access of a process to what process 1 has exposed.
pub fn access<F: Tested>(
    process: &mut Process<F>,
    direction: Direction,
    memory: Memory,
    (exposed, offset): (Exposed, usize),
    cookie: Cookie,
) -> Result<(), Refused> {
    let access = Access {
        direction,
        memory,
        exposed,
        offset: offset as u64,
    };
    process.endpoint.access(1, access, cookie)
}

/// Exposes a buffer of the process's for its lane.
pub fn expose<F: Tested>(process: &Process<F>, bytes: &mut [u8]) -> Exposure {
    let exposure = process.fabric.expose(0, memory(bytes));
    exposure.expect("the transport exposes memory")
}

/// Takes what the process was told of accesses, and that of no other.
fn over<F: Tested>(process: &mut Process<F>, direction: Direction) -> Vec<Cookie> {
    let (here, there) = match direction {
        Direction::Write => (&mut process.log.sent, &process.log.received),
        Direction::Read => (&mut process.log.received, &process.log.sent),
    };
    assert!(there.is_empty());
    std::mem::take(here)
}

/// Memory of all lengths, together or not, goes to all places, and comes from there.
pub fn exposed_memory_is_written_and_read<F: Tested>() {
    let (mut a, b) = linked_pair::<F>();
    assert!(a.fabric.reaches_exposed(1));
    let mut random = Random(7);
    let mut window = random.bytes(400_000);
    let mut expected = window.clone();
    let exposure = expose(&b, &mut window);
    let lengths = [
        1, 8, 100, 128, 129, 512, 513, 5000, 16_384, 16_385, 70_000, 300_000,
    ];
    for (round, bytes) in lengths.into_iter().cycle().take(96).enumerate() {
        let (is_strided, is_write) = (round / 12 % 2 == 1, round / 24 % 2 == 0);
        let offset = random.below((window.len() - bytes) as u64) as usize;
        let content = random.bytes(bytes);
        let mut data = match is_strided {
            true => content.iter().flat_map(|&byte| [byte, 0xee]).collect(),
            false => content.clone(),
        };
        let here = match is_strided {
            true => strided(&mut data),
            false => memory(&mut data),
        };
        let direction = match is_write {
            true => Direction::Write,
            false => Direction::Read,
        };
        let place = (exposure.exposed, offset);
        access(&mut a, direction, here, place, round as Cookie).unwrap();
        let mut told = Vec::new();
        turn(&mut [&mut a], |all| {
            told.extend(over(all[0], direction));
            !told.is_empty()
        });
        assert_eq!(told, [round as Cookie]);
        let there = offset..offset + bytes;
        if is_write {
            expected[there].copy_from_slice(&content);
            continue;
        }
        let step = if is_strided { 2 } else { 1 };
        let came: Vec<u8> = data.iter().step_by(step).copied().collect();
        assert!(came == expected[there], "{bytes} bytes at {offset}");
        let holes = data.iter().skip(1).step_by(2);
        assert!(!is_strided || holes.copied().all(|byte| byte == 0xee));
    }
    drop(exposure);
    assert!(window == expected);
}

/// Very many accesses at once are all made, each once.
pub fn accesses_wait_for_room<F: Tested>() {
    const COUNT: usize = 5000;
    let (mut a, b) = linked_pair::<F>();
    let mut window = vec![0; COUNT * 8];
    let exposure = expose(&b, &mut window);
    let mut data: Vec<u8> = (0..COUNT as u64).flat_map(u64::to_ne_bytes).collect();
    let mut got = vec![0; data.len()];
    for (direction, bytes) in [(Direction::Write, &mut data), (Direction::Read, &mut got)] {
        for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
            let place = (exposure.exposed, index * 8);
            access(&mut a, direction, memory(word), place, index as Cookie).unwrap();
        }
        let mut told = Vec::new();
        turn(&mut [&mut a], |all| {
            told.extend(over(all[0], direction));
            told.len() >= COUNT
        });
        told.sort_unstable();
        assert!(told.into_iter().eq(0..COUNT as Cookie));
    }
    drop(exposure);
    assert!(window == data && got == data);
}

/// What is not exposed any more, or lies beyond, is not given: the peer is lost, and nothing more is told.
pub fn what_is_not_exposed_is_not_accessed<F: Tested>() {
    for (direction, offset, is_exposed) in [
        (Direction::Write, 0, false),
        (Direction::Read, 0, false),
        (Direction::Write, 93, true),
        (Direction::Read, 1 << 40, true),
    ] {
        let (mut a, b) = linked_pair::<F>();
        let mut window = vec![5; 100];
        let exposure = expose(&b, &mut window);
        let exposed = exposure.exposed;
        let kept = is_exposed.then_some(exposure);
        let mut data = [9; 8];
        access(&mut a, direction, memory(&mut data), (exposed, offset), 3).unwrap();
        turn(&mut [&mut a], |all| !all[0].log.lost.is_empty());
        assert!(a.log.sent.is_empty() && a.log.received.is_empty());
        let again = access(&mut a, direction, memory(&mut data), (exposed, 0), 4);
        assert_eq!(again, Err(Refused::Lost));
        drop((kept, b));
        assert!(window == [5; 100] && data == [9; 8]);
    }
}
