//! Files that another program cuts off while they are written: no write through a mapping ends this process, and none is lost that comes
//! after.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_datatype::{Datatype, Predefined};
use weft_file::{Coverage, Creation, Descriptor, Permission, View, write, write_covered};
use weft_memory::Memory;

const RUN: usize = 16;
const RUNS: usize = 1 << 13;
const ROUNDS: usize = 50;

/// Every other piece of 16 bytes.
fn view() -> View {
    let byte = Predefined::Byte.into();
    let piece = Datatype::contiguous(RUN, &byte).unwrap();
    let piece = Datatype::resized(&piece, 0, 2 * RUN as isize).unwrap();
    View::new(0, &piece).unwrap()
}

/// Calls `write` many times while another descriptor cuts the file off, then once more, and looks at what the file is then.
fn while_cut_off(name: &str, write: impl Fn(&Descriptor, &[u8])) {
    let path = Path::new("/dev/shm").join(format!("weft-file-{name}-{}", std::process::id()));
    let file = Descriptor::open(&path, Permission::ReadWrite, Creation::CreateNew).unwrap();
    assert!(file.can_be_mapped());
    let other = Descriptor::open(&path, Permission::ReadWrite, Creation::MustExist).unwrap();
    let data: Vec<u8> = (0..RUN * RUNS)
        .map(|index| (index * 31 + 5) as u8 | 1)
        .collect();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                other.set_size(0).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            write(&file, &data);
        }
        over.store(true, Ordering::Relaxed);
    });
    other.set_size(0).unwrap();
    write(&file, &data);
    let found = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut model = vec![0; 2 * RUN * RUNS - RUN];
    for (piece, from) in model.chunks_mut(2 * RUN).zip(data.chunks(RUN)) {
        piece[..RUN].copy_from_slice(from);
    }
    assert!(found == model, "the file differs");
}

#[test]
fn an_access_outlives_a_file_that_is_cut_off() {
    let view = view();
    while_cut_off("cut", |file, data| {
        let memory = Memory::contiguous(data.as_ptr().cast_mut(), data.len());
        // SAFETY: the memory is `data`, which is only read.
        unsafe { write(file, &view, 0..data.len() as u64, &memory, true) }.unwrap();
    });
}

#[test]
fn so_does_what_is_written_for_others() {
    let view = view();
    let mut coverage = Coverage::default();
    coverage.clear(2 * RUN * RUNS).unwrap();
    coverage.add(&view, 0..(RUN * RUNS) as u64, 0);
    while_cut_off("covered", |file, data| {
        let mut buffer = vec![0; 2 * RUN * RUNS];
        for (piece, from) in buffer.chunks_mut(2 * RUN).zip(data.chunks(RUN)) {
            piece[..RUN].copy_from_slice(from);
        }
        write_covered(file, 0, &buffer, &coverage, true).unwrap();
    });
}
