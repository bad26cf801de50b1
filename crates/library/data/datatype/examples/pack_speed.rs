//! Packing and unpacking beside `memcpy` of as many bytes: the part of its speed that each layout reaches.
//!
//! `cargo run --release -p weft-datatype --example pack_speed`. The figures of a line are measured in turn, the median
//! of many rounds each.

use std::hint::black_box;
use std::time::Instant;
use weft_datatype::{Datatype, Order, Predefined, Subarray};
use weft_memory::Memory;

const ROUNDS: usize = 31;

fn main() {
    println!(
        "{:34} {:>10} {:>9} {:>7} {:>7}",
        "layout", "bytes", "memcpy", "pack", "unpack"
    );
    for bytes in [4 << 10, 32 << 10, 256 << 10, 4 << 20, 32 << 20] {
        for (name, datatype) in layouts(bytes) {
            measure(name, &datatype);
        }
    }
}

/// Layouts of `bytes` packed bytes.
fn layouts(bytes: usize) -> Vec<(&'static str, Datatype)> {
    let double = Datatype::from(Predefined::Double);
    let blocks = bytes / 8;
    let vector =
        |length: usize, stride| Datatype::vector(blocks / length, length, stride, &double).unwrap();
    let scattered = (0..blocks as isize).map(|index| index * 2 + index % 2);
    let rows = Subarray {
        sizes: vec![16, blocks / 128 + 2, 18],
        subsizes: vec![8, blocks / 128, 16],
        starts: vec![1, 1, 1],
        order: Order::C,
    };
    let parts = [
        Predefined::Int.into(),
        double.clone(),
        Predefined::Int.into(),
    ];
    let record = Datatype::structure([1, 1, 1].into(), [0, 8, 20].into(), parts.into()).unwrap();
    vec![
        ("vector, 8-byte blocks, stride 16", vector(1, 2)),
        ("vector, 8-byte blocks, stride 24", vector(1, 3)),
        ("vector, 8-byte blocks, stride 64", vector(1, 8)),
        ("vector, 16-byte blocks, stride 32", vector(2, 4)),
        ("vector, 64-byte blocks, stride 128", vector(8, 16)),
        (
            "indexed, 8-byte blocks",
            Datatype::indexed_block(1, scattered.collect(), &double).unwrap(),
        ),
        (
            "subarray, rows of 128 bytes",
            Datatype::subarray(rows, &double).unwrap(),
        ),
        (
            "array of struct, 4 + 8 + 4 bytes",
            Datatype::contiguous(bytes / 16, &record).unwrap(),
        ),
    ]
}

fn measure(name: &str, datatype: &Datatype) {
    let bytes = datatype.size();
    let span = datatype
        .extent()
        .unsigned_abs()
        .max(datatype.true_extent() as usize);
    let mut user = vec![1u8; span];
    let (mut packed, source) = (vec![2u8; bytes], vec![3u8; bytes]);
    let memory = datatype.memory(user.as_mut_ptr(), 1).unwrap();
    let turns = ((1 << 20) / bytes).max(1);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (way, times) in times.iter_mut().enumerate() {
            let begin = Instant::now();
            for _ in 0..turns {
                transfer(way, &memory, &mut packed, &source);
            }
            times.push(begin.elapsed().as_secs_f64() / turns as f64);
        }
    }
    let [copy, pack, unpack] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    let speed = bytes as f64 / copy / 1e9;
    println!(
        "{name:34} {bytes:>10} {speed:>4.1} GB/s {:>7.2} {:>7.2}",
        copy / pack,
        copy / unpack
    );
}

fn transfer(way: usize, memory: &Memory, packed: &mut [u8], source: &[u8]) {
    match way {
        0 => black_box(&mut *packed).copy_from_slice(black_box(source)),
        // SAFETY: the buffer has the type's extent, and the packed bytes are those of one element.
        1 => unsafe { memory.read(0, black_box(packed)) },
        // SAFETY: as above.
        _ => unsafe { memory.write(0, black_box(source)) },
    }
}
