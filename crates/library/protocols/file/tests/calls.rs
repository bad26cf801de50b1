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
    unsafe { write(&file, &view, 0..4000, &memory) }.unwrap();
    assert_eq!((counters().writes, counters().written_bytes), (1000, 4000));
    // Contiguous in the file: one call, wherever the data lie in memory.
    let spread = Datatype::resized(&byte, 0, 2).unwrap();
    let memory = spread.memory(data.as_mut_ptr(), 2000).unwrap();
    // SAFETY: as above.
    unsafe { write(&file, &View::bytes(0), 0..2000, &memory) }.unwrap();
    assert_eq!(counters().writes, 1001);
    std::fs::remove_file(&path).unwrap();
}
