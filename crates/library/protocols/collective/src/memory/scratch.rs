//! Memory of an operation's own.

use std::cell::{Cell, UnsafeCell};

use weft_memory::Memory;
use weft_reserve::NoMemory;

/// Memory of an operation's own, aligned for any element; on the stack while it is small, so that short operations
/// allocate nothing. It holds zeros or what another operation left, so that a peer's short message leaves nothing
/// undefined.
///
/// Its pointers hold until it moves: it is taken into its place before the first one is asked for.
pub(crate) struct Scratch {
    inline: UnsafeCell<[u128; Scratch::INLINE]>,
    heap: UnsafeCell<Vec<u128>>,
}

thread_local! {
    /// What the thread's last operation used, for the next one: warm, and without page faults.
    static LAST: Cell<Vec<u128>> = const { Cell::new(Vec::new()) };
}

/// Has glibc note that what the calling thread keeps is freed with it.
pub fn prepare_thread() {
    LAST.with(|_| ());
}

impl Scratch {
    const INLINE: usize = 16;
    /// The most that a thread keeps between operations: 16 MiB.
    const KEPT: usize = (16 << 20) / size_of::<u128>();

    #[inline]
    pub fn new(bytes: usize) -> Result<Scratch, NoMemory> {
        let words = bytes.div_ceil(size_of::<u128>());
        let mut heap = Vec::new();
        if words > Scratch::INLINE {
            heap = Scratch::long(words)?;
        }
        Ok(Scratch {
            inline: UnsafeCell::new([0; Scratch::INLINE]),
            heap: UnsafeCell::new(heap),
        })
    }

    fn long(words: usize) -> Result<Vec<u128>, NoMemory> {
        let heap = LAST.try_with(Cell::take).unwrap_or_default();
        match heap.len() < words {
            true => {
                drop(heap);
                weft_reserve::zeroed(words)
            }
            false => Ok(heap),
        }
    }

    pub fn pointer(&self) -> *mut u8 {
        // SAFETY: nothing else refers to the vector itself, only to what it holds.
        let heap = unsafe { &mut *self.heap.get() };
        if heap.is_empty() {
            self.inline.get().cast()
        } else {
            heap.as_mut_ptr().cast()
        }
    }

    /// The first `bytes` of it as a message's memory.
    pub fn memory(&self, bytes: usize) -> Memory {
        Memory::contiguous(self.pointer(), bytes)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let heap = std::mem::take(self.heap.get_mut());
        if !heap.is_empty() && heap.len() <= Scratch::KEPT {
            // A thread that is ending keeps nothing.
            let _ = LAST.try_with(|last| last.set(heap));
        }
    }
}
