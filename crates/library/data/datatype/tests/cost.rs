//! What is large or deep costs nothing extra: no loop per element, no recursion per constructor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};
use weft_datatype::{Datatype, Order, Predefined, Subarray};

thread_local! {
    /// Allocations of a thread, and their bytes.
    static ALLOCATED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn count(bytes: usize) {
    let (calls, before) = ALLOCATED.get();
    ALLOCATED.set((calls + 1, before + bytes));
}

// SAFETY: the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        // SAFETY: the caller's.
        unsafe { System.realloc(place, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations, and their bytes, beside what is given.
fn allocated<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    ALLOCATED.set((0, 0));
    let _made = make();
    ALLOCATED.get()
}

fn quick<T>(what: &str, make: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let made = make();
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{what}: {:?}",
        begin.elapsed()
    );
    made
}

#[test]
fn huge_counts_are_numbers() {
    let double = Datatype::from(Predefined::Double);
    let array = Subarray {
        sizes: vec![1 << 20, 1 << 12, 1 << 10],
        subsizes: vec![1 << 19, 1 << 11, 1 << 9],
        starts: vec![1, 2, 3],
        order: Order::C,
    };
    quick("huge", || {
        let vector = Datatype::vector(1 << 40, 3, 5, &double).unwrap();
        assert_eq!(vector.size(), 3 << 43);
        let part = Datatype::subarray(array, &double).unwrap();
        assert_eq!((part.size(), part.extent()), (1 << 42, 1 << 45));
        let fields = [vector, part, double.clone()];
        let all = Datatype::structure(
            [1, 1, 1].into(),
            [0, 1 << 50, 1 << 60].into(),
            fields.into(),
        )
        .unwrap();
        let many = Datatype::contiguous(1 << 20, &all);
        assert!(many.is_err(), "more than 2^63 bytes");
        assert_eq!(all.elements(all.size()), Some((3 << 40) + (1 << 39) + 1));
        assert_eq!(all.bytes_of((3 << 40) + 1), Some((3 << 43) + 8));
    });
}

/// Nested 100 000 deep: constructors, queries, copies and the end of it all stay on the stack.
#[test]
fn deep_nesting_is_bounded() {
    let byte = Datatype::from(Predefined::Byte);
    quick("deep", || {
        let mut chain = byte.clone();
        for level in 0..100_000 {
            chain = match level % 3 {
                0 => Datatype::contiguous(1, &chain),
                1 => Datatype::dup(&chain),
                _ => Datatype::resized(&chain, 0, 4),
            }
            .unwrap();
        }
        assert_eq!((chain.size(), chain.extent()), (1, 4));
    });
    quick("struct in struct", || {
        let mut nested = byte.clone();
        for level in 0..3000 {
            let at = [0, 2 + level % 2];
            nested = Datatype::structure([1, 1].into(), at.into(), [byte.clone(), nested].into())
                .unwrap();
        }
        assert_eq!((nested.size(), nested.elements(3001)), (3001, Some(3001)));
        let source: Vec<u8> = (0..nested.true_extent()).map(|index| index as u8).collect();
        let memory = nested.memory(source.as_ptr().cast_mut(), 1).unwrap();
        let mut out = vec![0; 3001];
        // SAFETY: the buffer has all bytes of the type; it is only read.
        unsafe { memory.read(0, &mut out) };
        assert_eq!((out[0], out[1], out[2]), (0, 3, 5));
    });
}

#[test]
fn long_lists_cost_their_length() {
    let int = Datatype::from(Predefined::Int);
    let places: Box<[isize]> = (0..1_000_000).map(|index| index * 3 + index % 2).collect();
    let list = quick("a million blocks", || {
        Datatype::indexed_block(1, places, &int).unwrap()
    });
    quick("used a thousand times", || {
        for _ in 0..1000 {
            let twice = [list.clone(), list.clone()];
            let both =
                Datatype::structure([1, 1].into(), [0, 1 << 30].into(), twice.into()).unwrap();
            assert_eq!(both.size(), 8_000_000);
        }
    });
}

/// Elements that touch are one run, however many they are: whoever walks the runs takes no step an element.
#[test]
fn contiguous_repetition_is_one_run() {
    let runs = |datatype: &Datatype, count: usize| {
        let mut runs = Vec::new();
        datatype.visit_runs(count, &mut |at, length| runs.push((at, length)));
        runs
    };
    let byte = Datatype::from(Predefined::Byte);
    assert_eq!(runs(&byte, 2 << 20), [(0, 2 << 20)]);
    let block = Datatype::contiguous(3, &Datatype::from(Predefined::Int)).unwrap();
    assert_eq!(runs(&block, 1 << 20), [(0, 12 << 20)]);
    let moved = Datatype::structure([3].into(), [8].into(), [byte.clone()].into()).unwrap();
    assert_eq!(runs(&moved, 5), [(8, 15)]);
    assert_eq!(runs(&byte, 0), []);
    let apart = Datatype::resized(&byte, 0, 4).unwrap();
    assert_eq!(runs(&apart, 3), [(0, 1), (4, 1), (8, 1)]);
}

/// Long lists are gone through without an allocation for each block, and what comes of them is written where it stays.
#[test]
fn long_lists_are_not_copied() {
    const BLOCKS: usize = 100_000;
    /// For what has one length whatever the lists': bodies, handles and the like.
    const FIXED: (usize, usize) = (16, 4096);
    let double = Datatype::from(Predefined::Double);
    let lengths = || {
        (0..BLOCKS)
            .map(|block| 1 + block % 3)
            .collect::<Box<[usize]>>()
    };
    let places = || (0..BLOCKS as isize).map(|block| 40 * block + 8 * (block % 2));
    let within = |what: &str, (calls, bytes): (usize, usize), bytes_a_block: usize| {
        let most = FIXED.1 + bytes_a_block * BLOCKS;
        assert!(
            calls <= FIXED.0 && bytes <= most,
            "{what}: {calls} allocations of {bytes} bytes"
        );
    };
    // Each run's begin, and how much lies before it.
    let (sizes, at) = (lengths(), places().map(|place| place / 8).collect());
    within(
        "indexed",
        allocated(|| Datatype::indexed(sizes, at, &double)),
        16,
    );
    let (sizes, at) = (lengths(), places().collect());
    within(
        "hindexed",
        allocated(|| Datatype::hindexed(sizes, at, &double)),
        16,
    );
    // Where runs of one length begin.
    let at = places().map(|place| place / 8).collect();
    within(
        "indexed_block",
        allocated(|| Datatype::indexed_block(2, at, &double)),
        8,
    );
    let at = places().collect();
    within(
        "hindexed_block",
        allocated(|| Datatype::hindexed_block(2, at, &double)),
        8,
    );
    // Types in turn: the signature's list grows as it is written, so that its allocations are some twenty.
    let types = [double.clone(), Predefined::Int.into()];
    let types = (0..BLOCKS).map(|block| types[block % 2].clone()).collect();
    let (sizes, at) = (lengths(), places().collect());
    let (calls, _) = allocated(|| Datatype::structure(sizes, at, types));
    assert!(calls <= FIXED.0 + 20, "struct: {calls} allocations");
}
