//! The memory that operations work on: users' buffers, blocks of them, scratch. The only module that
//! touches bytes.
//!
//! A [`Memory`], a [`Reduction`] and the [`Blocks`] are promises: whoever made one from the arguments of an
//! MPI call vouches that the buffer is valid, and nobody else's, until the operation is over (MPI-5.0 §2.5.1,
//! §6.1). All the unsafe code here leans on that, and on scratch living as long as the future that owns it,
//! which is driven to completion.

use std::borrow::Cow;
use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use weft_datatype::{Datatype, Kernel, Op, Overflow, Predefined};
use weft_transport::Memory;

/// A reduction operation, predefined or the user's.
pub trait Combine {
    /// `inout[i] = input[i] op inout[i]` for `count` elements, where `input` comes from lower ranks.
    ///
    /// # Safety
    /// `input` is valid for reads and `inout` for writes of `count` elements of the operation's datatype, an
    /// extent apart, and they do not overlap.
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize);

    /// Whether operands may be exchanged.
    fn commutative(&self) -> bool;
}

/// A predefined operation on a predefined type.
#[derive(Clone, Copy)]
pub struct PredefinedOp {
    kernel: Kernel,
    commutative: bool,
}

impl PredefinedOp {
    /// None if the standard does not allow `op` on the type.
    pub fn new(op: Op, predefined: Predefined) -> Option<PredefinedOp> {
        let kernel = weft_datatype::kernel(op, predefined)?;
        Some(PredefinedOp {
            kernel,
            commutative: op.is_commutative(),
        })
    }
}

impl Combine for PredefinedOp {
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize) {
        // SAFETY: by this function's contract.
        unsafe { (self.kernel)(input, inout, count) }
    }

    fn commutative(&self) -> bool {
        self.commutative
    }
}

/// The arguments of a reduction.
#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    op: &'a dyn Combine,
    datatype: &'a Datatype,
    count: usize,
    input: *mut u8,
    output: *mut u8,
}

impl<'a> Reduction<'a> {
    /// Reduces `count` elements of `input`, or of `output` itself if there is no input (`MPI_IN_PLACE`), into
    /// `output`, which may be null on ranks that get no result.
    ///
    /// # Safety
    /// The buffers are valid for `count` elements until the operation is over, and `op` is for `datatype`.
    pub unsafe fn new(
        op: &'a dyn Combine,
        datatype: &'a Datatype,
        count: usize,
        input: Option<*const u8>,
        output: *mut u8,
    ) -> Result<Reduction<'a>, Overflow> {
        datatype.memory(output, count)?;
        let input = input.map_or(output, <*const u8>::cast_mut);
        Ok(Reduction {
            op,
            datatype,
            count,
            input,
            output,
        })
    }

    /// The same with another place for the result.
    pub(crate) fn with_output(&self, output: Operand<'a>) -> Reduction<'a> {
        Reduction {
            output: output.base,
            ..*self
        }
    }

    /// The reduction of some of the elements alone, to the beginning of the output.
    pub(crate) fn share(&self, elements: Range<usize>) -> Reduction<'a> {
        Reduction {
            count: elements.len(),
            input: self.input().part(elements).base,
            ..*self
        }
    }

    /// Packed bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.datatype.size() * self.count
    }

    /// Packed bytes of an element.
    pub(crate) fn element_bytes(&self) -> usize {
        self.datatype.size()
    }

    /// Whether elements in memory are as they are packed.
    pub(crate) fn is_dense(&self) -> bool {
        self.input().memory().layout.is_none()
    }

    /// Packed elements as an operand: where they are, if they are dense, else unpacked into `spare`.
    pub(crate) fn unpacked(&self, packed: &Memory, spare: Operand<'a>) -> Operand<'a> {
        let count = packed.bytes / self.element_bytes();
        if self.is_dense() {
            let lower = -self.datatype.true_lower_bound();
            let base = packed.base.wrapping_offset(lower);
            return Operand {
                base,
                count,
                datatype: self.datatype,
            };
        }
        let operand = spare.part(0..count);
        copy(packed, &operand.memory());
        operand
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn commutative(&self) -> bool {
        self.op.commutative()
    }

    pub(crate) fn input(&self) -> Operand<'a> {
        self.operand(self.input)
    }

    pub(crate) fn output(&self) -> Operand<'a> {
        self.operand(self.output)
    }

    pub(crate) fn is_in_place(&self) -> bool {
        self.input == self.output
    }

    fn operand(&self, base: *mut u8) -> Operand<'a> {
        Operand {
            datatype: self.datatype,
            base,
            count: self.count,
        }
    }

    /// Scratch for `vectors` operands.
    pub(crate) fn scratch(&self, vectors: usize) -> Scratch {
        Scratch::new(self.vector_bytes() * vectors)
    }

    /// Operand `index` in scratch of this reduction.
    pub(crate) fn in_scratch(&self, scratch: &Scratch, index: usize) -> Operand<'a> {
        let start = scratch.pointer().wrapping_add(self.vector_bytes() * index);
        self.operand(start.wrapping_offset(-self.datatype.true_lower_bound()))
    }

    /// Bytes that one operand spans, rounded up so that those after it are aligned.
    fn vector_bytes(&self) -> usize {
        let gaps = self.datatype.extent().unsigned_abs() * self.count.saturating_sub(1);
        (gaps + self.datatype.true_extent() as usize).next_multiple_of(size_of::<u128>())
    }

    /// `higher = lower op higher`.
    pub(crate) fn combine(&self, lower: Operand<'_>, higher: Operand<'_>) {
        // SAFETY: operands are the caller's buffers or scratch, for this reduction's type, and algorithms
        // combine different ones.
        unsafe { self.op.combine(lower.base, higher.base, lower.count) }
    }
}

/// A vector of elements that a reduction works on.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    datatype: &'a Datatype,
    base: *mut u8,
    count: usize,
}

impl<'a> Operand<'a> {
    /// Whether both are in the same place.
    pub fn is(&self, other: Operand<'_>) -> bool {
        self.base == other.base
    }

    pub fn memory(&self) -> Memory {
        described(self.datatype, self.base, self.count)
    }

    pub fn part(&self, elements: Range<usize>) -> Operand<'a> {
        let offset = self.datatype.extent().wrapping_mul(elements.start as isize);
        Operand {
            base: self.base.wrapping_offset(offset),
            count: elements.len(),
            ..*self
        }
    }

    /// Copies the elements to another place.
    pub fn copy_to(&self, target: Operand<'_>) {
        if self.base != target.base {
            copy(&self.memory(), &target.memory());
        }
    }
}

/// The memory of elements whose total size was checked when the operation's arguments were taken.
fn described(datatype: &Datatype, base: *mut u8, count: usize) -> Memory {
    datatype
        .memory(base, count)
        .expect("a part of a buffer is not larger than the buffer")
}

/// A buffer of one block per rank.
pub trait Blocks {
    /// The block for `rank`.
    fn block(&self, rank: usize) -> Memory;

    /// All blocks as one, if they follow each other in rank order.
    fn whole(&self) -> Option<Memory>;
}

/// Blocks of equal counts, one after the other: `recvbuf` of MPI_Gather.
pub struct Uniform {
    datatype: Datatype,
    base: *mut u8,
    count: usize,
    ranks: usize,
}

impl Uniform {
    pub fn new(
        datatype: &Datatype,
        base: *mut u8,
        count: usize,
        ranks: usize,
    ) -> Result<Uniform, Overflow> {
        datatype.memory(base, count.checked_mul(ranks).ok_or(Overflow)?)?;
        Ok(Uniform {
            datatype: datatype.clone(),
            base,
            count,
            ranks,
        })
    }
}

impl Blocks for Uniform {
    fn block(&self, rank: usize) -> Memory {
        let offset = self
            .datatype
            .extent()
            .wrapping_mul((rank * self.count) as isize);
        described(
            &self.datatype,
            self.base.wrapping_offset(offset),
            self.count,
        )
    }

    fn whole(&self) -> Option<Memory> {
        Some(described(
            &self.datatype,
            self.base,
            self.count * self.ranks,
        ))
    }
}

/// An array of counts or displacements as the C caller passed it, or a copy.
#[derive(Clone)]
pub enum Counts<'a> {
    Int(Cow<'a, [i32]>),
    Large(Cow<'a, [i64]>),
}

impl<'a> From<&'a [i32]> for Counts<'a> {
    fn from(values: &'a [i32]) -> Counts<'a> {
        Counts::Int(values.into())
    }
}

impl<'a> From<&'a [i64]> for Counts<'a> {
    fn from(values: &'a [i64]) -> Counts<'a> {
        Counts::Large(values.into())
    }
}

impl Counts<'_> {
    pub fn at(&self, index: usize) -> i64 {
        match self {
            Counts::Int(values) => i64::from(values[index]),
            Counts::Large(values) => values[index],
        }
    }

    fn len(&self) -> usize {
        match self {
            Counts::Int(values) => values.len(),
            Counts::Large(values) => values.len(),
        }
    }

    /// The caller may take the array back.
    pub fn into_owned(self) -> Counts<'static> {
        match self {
            Counts::Int(values) => Counts::Int(values.into_owned().into()),
            Counts::Large(values) => Counts::Large(values.into_owned().into()),
        }
    }
}

/// Blocks of differing counts at displacements in extents: `recvbuf` of MPI_Gatherv.
pub struct Varying<'a> {
    datatype: Datatype,
    base: *mut u8,
    counts: Counts<'a>,
    displacements: Counts<'a>,
}

impl<'a> Varying<'a> {
    /// The counts are not negative.
    pub fn new(
        datatype: &Datatype,
        base: *mut u8,
        counts: Counts<'a>,
        displacements: Counts<'a>,
    ) -> Result<Varying<'a>, Overflow> {
        for rank in 0..counts.len() {
            let count = usize::try_from(counts.at(rank)).map_err(|_| Overflow)?;
            datatype.memory(base, count)?;
        }
        Ok(Varying {
            datatype: datatype.clone(),
            base,
            counts,
            displacements,
        })
    }

    /// The caller may take the arrays back.
    pub fn into_owned(self) -> Varying<'static> {
        Varying {
            datatype: self.datatype,
            base: self.base,
            counts: self.counts.into_owned(),
            displacements: self.displacements.into_owned(),
        }
    }
}

impl Blocks for Varying<'_> {
    fn block(&self, rank: usize) -> Memory {
        let offset = self
            .datatype
            .extent()
            .wrapping_mul(self.displacements.at(rank) as isize);
        let count = self.counts.at(rank) as usize;
        described(&self.datatype, self.base.wrapping_offset(offset), count)
    }

    fn whole(&self) -> Option<Memory> {
        None
    }
}

/// Blocks each of a datatype of its own, at displacements in bytes: `recvbuf` of MPI_Alltoallw.
pub struct Mixed {
    base: *mut u8,
    blocks: Vec<MixedBlock>,
}

/// One of [`Mixed`] blocks.
#[derive(Clone, Debug)]
pub struct MixedBlock {
    pub datatype: Datatype,
    pub count: usize,
    pub displacement: isize,
}

impl Mixed {
    pub fn new(base: *mut u8, blocks: Vec<MixedBlock>) -> Result<Mixed, Overflow> {
        for block in &blocks {
            block.datatype.memory(base, block.count)?;
        }
        Ok(Mixed { base, blocks })
    }
}

impl Blocks for Mixed {
    fn block(&self, rank: usize) -> Memory {
        let block = &self.blocks[rank];
        let base = self.base.wrapping_offset(block.displacement);
        described(&block.datatype, base, block.count)
    }

    fn whole(&self) -> Option<Memory> {
        None
    }
}

/// Words as a message's memory.
pub(crate) fn words_memory(words: &mut [u64]) -> Memory {
    Memory::contiguous(words.as_mut_ptr().cast(), size_of_val(words))
}

/// An empty message's memory.
pub(crate) const NOTHING: Memory = Memory::contiguous(std::ptr::null_mut(), 0);

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

impl Scratch {
    const INLINE: usize = 16;
    /// The most that a thread keeps between operations: 4 MiB.
    const KEPT: usize = (4 << 20) / size_of::<u128>();

    pub fn new(bytes: usize) -> Scratch {
        let words = bytes.div_ceil(size_of::<u128>());
        let mut heap = Vec::new();
        if words > Scratch::INLINE {
            heap = LAST.try_with(Cell::take).unwrap_or_default();
            if heap.len() < words {
                heap = vec![0; words];
            }
        }
        Scratch {
            inline: UnsafeCell::new([0; Scratch::INLINE]),
            heap: UnsafeCell::new(heap),
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

/// Memory as packed bytes that others may copy from or that may be copied into: where it is, if it is contiguous, else
/// scratch.
pub(crate) struct Packed {
    contiguous: Option<Memory>,
    scratch: Scratch,
    bytes: usize,
}

impl Packed {
    pub fn room_for(memory: &Memory) -> Packed {
        let contiguous = memory.layout.is_none().then(|| memory.clone());
        Packed::new(contiguous, memory.bytes)
    }

    pub fn of(memory: &Memory) -> Packed {
        let packed = Packed::room_for(memory);
        if packed.contiguous.is_none() {
            copy(memory, &packed.memory());
        }
        packed
    }

    /// Blocks of one length, one after the other.
    pub fn of_blocks(blocks: &dyn Blocks, ranks: usize) -> Packed {
        let bytes = blocks.block(0).bytes;
        let whole = blocks.whole().filter(|whole| whole.layout.is_none());
        let packed = Packed::new(whole, bytes * ranks);
        if packed.contiguous.is_none() {
            let all = packed.memory();
            for rank in 0..ranks {
                let place = window(&all, rank * bytes..(rank + 1) * bytes);
                copy(&blocks.block(rank), &place);
            }
        }
        packed
    }

    fn new(contiguous: Option<Memory>, bytes: usize) -> Packed {
        let scratch = Scratch::new(if contiguous.is_some() { 0 } else { bytes });
        Packed {
            contiguous,
            scratch,
            bytes,
        }
    }

    /// Holds until it moves, as scratch does.
    pub fn memory(&self) -> Memory {
        match &self.contiguous {
            Some(memory) => memory.clone(),
            None => self.scratch.memory(self.bytes),
        }
    }

    /// Puts what was copied into it to where it belongs.
    pub fn unpack(&self, memory: &Memory) {
        if self.contiguous.is_none() {
            copy(&self.memory(), memory);
        }
    }
}

/// The part of contiguous memory at these packed bytes.
pub(crate) fn window(memory: &Memory, bytes: Range<usize>) -> Memory {
    debug_assert!(memory.layout.is_none() && bytes.end <= memory.bytes);
    Memory::contiguous(memory.base.wrapping_add(bytes.start), bytes.len())
}

/// Block `index` of `count` that are all as long in contiguous memory.
pub(crate) fn equal_part(memory: &Memory, index: usize, count: usize) -> Memory {
    let bytes = memory.bytes / count;
    window(memory, index * bytes..(index + 1) * bytes)
}

/// Copies packed bytes from one place to another, as many as fit.
pub(crate) fn copy(from: &Memory, to: &Memory) {
    let bytes = from.bytes.min(to.bytes);
    if bytes == 0 {
        return;
    }
    // SAFETY: memories are valid by the promise they are, and a part of one is asked for. They are different
    // buffers or scratch, so the slices overlap nothing that is written meanwhile.
    unsafe {
        if to.layout.is_none() {
            from.read(0, std::slice::from_raw_parts_mut(to.base, bytes));
        } else if from.layout.is_none() {
            to.write(0, std::slice::from_raw_parts(from.base, bytes));
        } else {
            let mut chunk = [0u8; 4096];
            for offset in (0..bytes).step_by(chunk.len()) {
                let part = &mut chunk[..(bytes - offset).min(4096)];
                from.read(offset, part);
                to.write(offset, part);
            }
        }
    }
}
