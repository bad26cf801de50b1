//! How many system calls accesses take: a program of its own, as the counts are the process's.

use weft_datatype::{Datatype, Predefined};
use weft_file::{Creation, Descriptor, Permission, View, counters, read, write};
use weft_memory::Memory;

/// Runs that are near each other are read by one call, and each is written by one.
#[test]
fn gaps_are_read_along_and_never_written() {
    let name = format!("weft-file-calls-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = Descriptor::open(&path, Permission::ReadWrite, Creation::CreateNew).unwrap();
    file.set_size(1 << 20).unwrap();
    let byte = Predefined::Byte.into();
    let near = Datatype::vector(1000, 4, 8, &byte).unwrap();
    let view = View::new(0, &near).unwrap();
    let mut data = vec![1u8; 4000];
    let memory = Memory::contiguous(data.as_mut_ptr(), data.len());
    // SAFETY: the memory is `data`, as below.
    unsafe { read(&file, &view, 0..4000, &memory, 1 << 20) }.unwrap();
    assert_eq!((counters().reads, counters().read_bytes), (1, 7996));
    // SAFETY: as above.
    unsafe { read(&file, &view, 0..4000, &memory, 0) }.unwrap();
    assert_eq!(counters().reads, 1001);
    // SAFETY: as above.
    unsafe { write(&file, &view, 0..4000, &memory, false) }.unwrap();
    assert_eq!((counters().writes, counters().written_bytes), (1000, 4000));
    // Far apart as they are, a call each costs less than the gaps.
    let apart = View::new(0, &Datatype::vector(10, 4, 16000, &byte).unwrap()).unwrap();
    let before = counters().reads;
    // SAFETY: as above.
    unsafe { read(&file, &apart, 0..40, &memory.part(0, 40), 1 << 20) }.unwrap();
    assert_eq!(counters().reads - before, 10);
    // Contiguous in the file: one call, wherever the data lie in memory.
    let spread = Datatype::resized(&byte, 0, 2).unwrap();
    let memory = spread.memory(data.as_mut_ptr(), 2000).unwrap();
    // SAFETY: as above.
    unsafe { write(&file, &View::bytes(0), 0..2000, &memory, true) }.unwrap();
    assert_eq!(counters().writes, 1001);
    std::fs::remove_file(&path).unwrap();
    short_runs_are_copied();
    pages_of_memory_are_read_by_calls();
}

/// In memory every other page is read by a call of its own, though the extent of so many is less than as many pairs of pages; runs of 1 KiB
/// are read with their gaps.
fn pages_of_memory_are_read_by_calls() {
    let path = format!("/dev/shm/weft-file-pages-{}", std::process::id());
    let file = Descriptor::open(path.as_ref(), Permission::ReadWrite, Creation::CreateNew).unwrap();
    file.set_size(1 << 20).unwrap();
    let byte = Predefined::Byte.into();
    let mut data = vec![1u8; 32 << 10];
    let memory = Memory::contiguous(data.as_mut_ptr(), data.len());
    let calls = |run: isize| {
        let runs = (32 << 10) / run as usize;
        let every_other = Datatype::vector(runs, run as usize, 2 * run, &byte).unwrap();
        let view = View::new(0, &every_other).unwrap();
        let before = counters().reads;
        // SAFETY: the memory is `data`.
        unsafe { read(&file, &view, 0..32 << 10, &memory, 1 << 20) }.unwrap();
        counters().reads - before
    };
    assert_eq!((calls(4 << 10), calls(1 << 10)), (8, 1));
    std::fs::remove_file(&path).unwrap();
}

/// A call for the last byte, and one for each 1024 runs of a window: 2 MiB of the file and 1 MiB are written.
fn short_runs_are_copied() {
    let path = format!("/dev/shm/weft-file-calls-{}", std::process::id());
    let file = Descriptor::open(path.as_ref(), Permission::ReadWrite, Creation::CreateNew).unwrap();
    assert!(file.can_be_mapped());
    let byte = Predefined::Byte.into();
    let near = Datatype::vector(1, 4, 8, &byte).unwrap();
    let near = Datatype::resized(&near, 0, 8).unwrap();
    let view = View::new(4 << 20, &near).unwrap();
    let mut data = vec![1u8; 3 << 19];
    let memory = Memory::contiguous(data.as_mut_ptr(), data.len());
    let before = counters().writes;
    // SAFETY: the memory is `data`.
    unsafe { write(&file, &view, 0..3 << 19, &memory, true) }.unwrap();
    assert_eq!(counters().writes - before, 1 + 256 + 128);
    std::fs::remove_file(&path).unwrap();
    // What can only be written cannot be mapped.
    let file = Descriptor::open(path.as_ref(), Permission::Write, Creation::CreateNew).unwrap();
    assert!(!file.can_be_mapped());
    std::fs::remove_file(&path).unwrap();
}
