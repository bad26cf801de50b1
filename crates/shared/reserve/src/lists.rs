//! Lists whose length a program or a peer chooses: the system's allocator alone gives their memory.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::no_memory::NoMemory;

/// An empty vector with room for so many.
pub fn with_capacity<T>(count: usize) -> Result<Vec<T>, NoMemory> {
    // SAFETY: what a vector has room for needs no value.
    from_system(count, |layout| unsafe { System.alloc(layout) })
}

/// The items as a list.
pub fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, NoMemory> {
    let mut all = with_capacity(items.len())?;
    all.extend(items);
    Ok(all)
}

/// Whether there is memory for so many bytes: for the caller, who then makes something of many pieces.
pub fn probe(bytes: usize) -> Result<(), NoMemory> {
    with_capacity::<u8>(bytes).map(drop)
}

/// So many bytes, or words, of zeros, of which none is touched.
pub fn zeroed<T: Zero>(count: usize) -> Result<Vec<T>, NoMemory> {
    // SAFETY: the layout is of some bytes (`from_system`).
    let mut all = from_system(count, |layout| unsafe { System.alloc_zeroed(layout) })?;
    // SAFETY: the vector has room for so many, and zeros are values of the type.
    unsafe { all.set_len(count) };
    Ok(all)
}

/// A vector whose memory `allocate` takes from the system's allocator.
fn from_system<T>(
    count: usize,
    allocate: impl FnOnce(Layout) -> *mut u8,
) -> Result<Vec<T>, NoMemory> {
    let layout = Layout::array::<T>(count).map_err(|_| NoMemory)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    let memory = allocate(layout).cast::<T>();
    if memory.is_null() {
        return Err(NoMemory);
    }
    // SAFETY: the system's allocator gave it for this layout, and it gets it back: by `Reserving`, as it is no piece of
    // the reserve, and elsewhere by Rust's own global allocator, which is the system's.
    Ok(unsafe { Vec::from_raw_parts(memory, 0, count) })
}

/// A type of which zeros are a value.
///
/// # Safety
/// All bytes zero are a value.
pub unsafe trait Zero: Copy {}

// SAFETY: a number.
unsafe impl Zero for u8 {}
// SAFETY: a number.
unsafe impl Zero for u64 {}
// SAFETY: a number.
unsafe impl Zero for u128 {}

/// Makes a buffer `count` bytes, or words, long. Its first ones stay as they are; where there is no memory, all of it does.
pub fn lengthen<T: Zero + Default>(buffer: &mut Vec<T>, count: usize) -> Result<(), NoMemory> {
    if buffer.capacity() < count {
        let mut longer = with_capacity(count)?;
        longer.extend_from_slice(buffer);
        *buffer = longer;
    }
    buffer.resize(count, T::default());
    Ok(())
}
