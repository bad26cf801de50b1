//! Short operations allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZeroU8;
use weft_collective::{
    Channel, Outcome, PointToPoint, PredefinedOp, Reduction, allreduce, barrier, bcast, reduce,
    run_blocking,
};
use weft_datatype::{Datatype, Op, Predefined};
use weft_memory::Memory;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by this function's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by this function's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One rank among peers who always have answered.
struct Alone {
    rank: usize,
    oversubscribed: bool,
}

impl PointToPoint for Alone {
    type Request = u64;
    type Error = ();

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        16
    }

    fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }

    fn send(&self, _to: usize, _tag: u32, _memory: Memory) -> Result<u64, ()> {
        Ok(0)
    }

    fn send_failure(&self, _to: usize, _tag: u32, _mark: NonZeroU8) -> Result<u64, ()> {
        unreachable!("nothing fails")
    }

    fn no_memory() {}

    fn mark((): &()) -> NonZeroU8 {
        NonZeroU8::MIN
    }

    fn receive(&self, _from: usize, _tag: u32, _memory: Memory) -> Result<u64, ()> {
        Ok(1)
    }

    fn poll(&self, _request: u64) -> Option<Result<usize, ()>> {
        Some(Ok(0))
    }
}

fn short_operations(peers: &Alone) {
    let datatype = Datatype::from(Predefined::Double);
    let op = PredefinedOp::new(Op::Sum, Predefined::Double).unwrap();
    let (input, mut output) = (1f64, 0f64);
    let outcome = Outcome::default();
    let channel = Channel::new(peers, 0, &outcome);
    let source = Some((&raw const input).cast());
    let target = (&raw mut output).cast();
    // SAFETY: the buffers outlive the operations, and the operation is for the type.
    let reduction = unsafe { Reduction::new(&op, &datatype, 1, source, target).unwrap() };
    let memory = datatype.memory(target, 1).unwrap();
    run_blocking(barrier(&channel), || ()).unwrap();
    run_blocking(bcast(&channel, memory, 0), || ()).unwrap();
    run_blocking(reduce(&channel, reduction, 0), || ()).unwrap();
    run_blocking(allreduce(&channel, reduction), || ()).unwrap();
}

#[test]
fn short_operations_allocate_nothing() {
    for rank in 0..16 {
        for oversubscribed in [false, true] {
            let before = ALLOCATIONS.get();
            short_operations(&Alone {
                rank,
                oversubscribed,
            });
            assert_eq!(
                ALLOCATIONS.get(),
                before,
                "rank {rank}, oversubscribed: {oversubscribed}"
            );
        }
    }
    let before = ALLOCATIONS.get();
    drop(Box::new(1));
    assert_eq!(ALLOCATIONS.get(), before + 1, "allocations are counted");
}
