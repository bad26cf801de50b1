use super::*;

/// Of the tests of the reserve that the process has.
static OF_PROCESS: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).unwrap()
}

fn fresh() -> Box<Reserve> {
    // SAFETY: zeros are a free lock, an empty map and an area.
    unsafe { Box::new_zeroed().assume_init() }
}

#[test]
fn pieces_do_not_overlap_and_come_again() {
    let reserve = fresh();
    let sizes = [1, 64, 65, 4096, 24, MOST_BYTES];
    let mut pieces: Vec<(usize, Layout)> = Vec::new();
    for align in [1, 8, 64, 256, 4096] {
        for bytes in sizes {
            let layout = layout(bytes, align);
            let piece = reserve.take(layout);
            assert!(!piece.is_null() && reserve.has(piece));
            // The area of the box lies anywhere; that of the library's is aligned.
            assert_eq!((piece.addr() - reserve.base().addr()) % align.min(4096), 0);
            pieces.push((piece.addr(), layout));
        }
    }
    let mut ranges: Vec<_> = pieces
        .iter()
        .map(|(at, layout)| (*at, at + layout.size()))
        .collect();
    ranges.sort();
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    for (at, layout) in pieces {
        let piece = reserve.base().wrapping_add(at - reserve.base().addr());
        reserve.give_back(piece, layout);
    }
    assert_eq!(reserve.used.load(Ordering::Relaxed), 0);
}

#[test]
fn it_ends_and_begins_again() {
    let reserve = fresh();
    let whole = layout(MOST_BYTES, 8);
    let pieces: Vec<*mut u8> = std::iter::repeat_with(|| reserve.take(whole))
        .take_while(|piece| !piece.is_null())
        .collect();
    assert_eq!(pieces.len(), BYTES / MOST_BYTES);
    assert!(reserve.take(layout(1, 1)).is_null());
    reserve.give_back(pieces[3], whole);
    assert_eq!(reserve.take(whole), pieces[3]);
    assert!(reserve.take(layout(MOST_BYTES + 1, 1)).is_null());
    assert!(!reserve.has(std::ptr::null_mut()));
}

#[test]
fn what_moves_out_of_the_reserve_keeps_its_bytes() {
    let _alone = OF_PROCESS.lock();
    let old = layout(100, 8);
    let piece = RESERVE.take(old);
    // SAFETY: the piece is of 100 bytes, and this allocator's.
    unsafe {
        piece.write_bytes(7, 100);
        assert_eq!(check(), Ok(()), "the system has memory");
        let moved = Reserving.realloc(piece, old, 300);
        assert!(!RESERVE.has(moved));
        assert!((0..100).all(|at| moved.add(at).read() == 7));
        Reserving.dealloc(moved, layout(300, 8));
    }
    assert_eq!(RESERVE.used.load(Ordering::Relaxed), 0);
}

#[test]
fn lengths_that_no_memory_has_are_errors() {
    assert_eq!(zeroed::<u8>(usize::MAX / 4), Err(NoMemory));
    assert_eq!(zeroed::<u128>(usize::MAX), Err(NoMemory));
    assert_eq!(with_capacity::<u64>(usize::MAX / 16), Err(NoMemory));
    assert_eq!(zeroed::<u64>(3), Ok(vec![0; 3]));
    let mut buffer: Vec<u8> = vec![1, 2];
    assert_eq!(lengthen(&mut buffer, usize::MAX / 4), Err(NoMemory));
    assert_eq!(lengthen(&mut buffer, 4), Ok(()));
    assert_eq!(buffer, [1, 2, 0, 0]);
    assert_eq!(lengthen(&mut buffer, 1), Ok(()));
    assert_eq!(buffer, [1]);
}

/// Ends this process where it is started by the test below.
#[test]
fn a_process_without_memory() {
    if std::env::var_os("WITHOUT_MEMORY").is_some() {
        instead(layout(isize::MAX as usize - 7, 8));
    }
}

#[test]
fn nothing_left_ends_the_process_with_a_line() {
    let test = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(test);
    command.args(["--exact", "tests::a_process_without_memory", "--nocapture"]);
    let output = command.env("WITHOUT_MEMORY", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let line = "weft: out of memory: the system has not 9223372036854775800 bytes";
    assert!(said.starts_with(line) && said.ends_with('\n'), "{said}");
}

#[test]
fn addresses_that_no_system_has_are_an_error() {
    assert_eq!(probe_addresses(4096), Ok(()));
    assert_eq!(probe_addresses(1 << 60), Err(NoMemory));
}

#[test]
fn addresses_that_were_set_aside_are_given_back_for_a_mapping() {
    let _alone = OF_PROCESS.lock();
    let tries = std::cell::Cell::new(0);
    let none = || {
        tries.set(tries.get() + 1);
        Err::<(), _>(std::io::Error::from_raw_os_error(libc::ENOMEM))
    };
    set_aside();
    assert!(with_addresses(4096, none).is_err());
    assert_eq!(tries.get(), 2, "tried again without them");
    assert!(!addresses::are_set_aside());
    assert_eq!(check(), Ok(()), "the system has memory");
    assert!(addresses::are_set_aside(), "again");
    assert!(with_addresses(1 << 40, none).is_err());
    assert_eq!(tries.get(), 3, "what is longer has no use of them");
}
