//! This process's own segment: making it, and what only its owner does in it.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::completion::entry::ENTRY_BYTES;
use super::completion::queue::Cq;
use super::heap::{Heap, OWN_PAGES};
use super::identity;
use super::layout::{PROCESS_MAGIC, ProcessHeader, process};
use super::lock::{Busy, PATIENT};
use super::mapping::{self, Mapping};
use super::numbers::{QUEUES, REGIONS};
use super::processes::{Claim, Processes};
use super::receive::Ring;
use super::record::completion::CqRecord;
use super::record::queue_pair::QpRecord;
use super::record::receive::{ReceivingRecord, RingRecord, SrqRecord, slot_bytes};
use super::record::region::{MrRecord, Region};
use super::regions;
use super::segment::{ObjectId, Segment};

/// The name of process segments' memfds.
pub const MEMFD_NAME: &str = "softrdma-process";

/// The segment before its owner has a slot.
pub struct NewSegment {
    mapping: Mapping,
    key: u64,
}

impl NewSegment {
    pub fn create() -> io::Result<NewSegment> {
        let key = identity::random_key()?;
        let memfd = mapping::create(MEMFD_NAME, process::HEAP)?;
        let mapping = Mapping::new(memfd, process::SPAN)?;
        mapping.fill(0, process::VISITS)?;
        let header: &ProcessHeader = mapping.at(0).ok_or(io::ErrorKind::OutOfMemory)?;
        header.key.store(key, Ordering::Relaxed);
        header.magic.store(PROCESS_MAGIC, Ordering::Release);
        Ok(NewSegment { mapping, key })
    }

    pub fn claim(&self) -> Claim {
        Claim {
            memfd: self.mapping.memfd().as_raw_fd() as u32,
            key: self.key,
            address: self.mapping.address(),
        }
    }
}

/// This process's segment.
pub struct OwnSegment {
    segment: Segment,
    key: u64,
    /// Completion channels made so far.
    channels: AtomicU32,
    state: Mutex<State>,
}

struct State {
    heap: Heap,
    /// Length of each block of `ibv_alloc_buf`, by offset.
    buffers: BTreeMap<u64, u64>,
    qps: Indexes,
    cqs: Indexes,
    srqs: Indexes,
    regions: Indexes,
}

/// Indexes of a table: what was free the longest goes first, so that a number is not used again soon.
struct Indexes {
    unused: u32,
    end: u32,
    freed: VecDeque<u32>,
}

/// Freed indexes that rest before they are used again, while there are others.
const REST: usize = 64;

impl Indexes {
    fn new(begin: u32, end: u64) -> Indexes {
        Indexes {
            unused: begin,
            end: end as u32,
            freed: VecDeque::new(),
        }
    }

    fn take(&mut self) -> Option<u32> {
        if self.freed.len() > REST || self.unused == self.end {
            return self.freed.pop_front();
        }
        self.unused += 1;
        Some(self.unused - 1)
    }
}

/// What is behind a block.
enum Memory {
    /// Zeroes.
    Zeroes,
    /// Anything: it is read only where it was written. There is memory for it at once, unless it is a huge ring, which is seldom
    /// used to its end.
    AsWritten,
}

/// Rings from this size on get their memory when they are written.
const SPARSE: u64 = 1 << 20;

/// Where a ring is, for giving it back.
#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    bytes: u64,
}

impl OwnSegment {
    pub fn new(ground: NewSegment, processes: &Processes) -> OwnSegment {
        let end = ground.mapping.span();
        let segment = Segment::new(ground.mapping, processes.me(), ground.key);
        OwnSegment {
            segment: segment.expect("a segment that was just made"),
            key: ground.key,
            channels: AtomicU32::new(0),
            state: Mutex::new(State {
                heap: Heap::new(process::HEAP, end),
                buffers: BTreeMap::new(),
                // QPNs 0 and 1 are special in each subnet.
                qps: Indexes::new(2, QUEUES),
                cqs: Indexes::new(0, QUEUES),
                srqs: Indexes::new(2, QUEUES),
                regions: Indexes::new(1, REGIONS),
            }),
        }
    }

    #[inline]
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The number by which this process's sockets are named.
    pub fn key(&self) -> u64 {
        self.key
    }

    pub(super) fn next_channel(&self) -> u32 {
        self.channels.fetch_add(1, Ordering::Relaxed)
    }

    /// The completion queues that exist.
    pub(super) fn cqs(&self) -> impl Iterator<Item = ObjectId> {
        let used = self.state().cqs.unused;
        (0..used).filter_map(|index| {
            let record = self.segment.cq_record(index as u16);
            let generation = record.generation().load(Ordering::Relaxed);
            (generation & 1 == 1).then_some(ObjectId {
                index: index as u16,
                generation,
            })
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_room() -> io::Error {
        io::Error::from_raw_os_error(libc::ENOMEM)
    }

    /// A block of the heap with `memory` behind it.
    fn take_block(&self, bytes: u64, memory: Memory) -> io::Result<Block> {
        let bytes = Heap::block_bytes(bytes).ok_or_else(OwnSegment::no_room)?;
        let offset = self
            .state()
            .heap
            .take(bytes)
            .ok_or_else(OwnSegment::no_room)?;
        let block = Block { offset, bytes };
        let mapping = self.segment.mapping();
        let ready = match memory {
            Memory::AsWritten if bytes >= SPARSE => mapping.lengthen(offset + bytes),
            Memory::AsWritten => mapping.fill(offset, bytes),
            Memory::Zeroes => self.zero(block),
        };
        match ready {
            Ok(()) => Ok(block),
            Err(error) => {
                self.give_back_block(block);
                Err(error)
            }
        }
    }

    fn zero(&self, block: Block) -> io::Result<()> {
        let mapping = self.segment.mapping();
        if block.bytes >= OWN_PAGES {
            mapping.empty(block.offset, block.bytes);
            return mapping.fill(block.offset, block.bytes);
        }
        mapping.fill(block.offset, block.bytes)?;
        let address = mapping.address_of(block.offset, block.bytes);
        let address = address.ok_or_else(OwnSegment::no_room)?;
        // SAFETY: inside the mapping; the block is nobody else's.
        unsafe { std::ptr::write_bytes(address, 0, block.bytes as usize) };
        Ok(())
    }

    fn give_back_block(&self, block: Block) {
        if block.bytes >= OWN_PAGES {
            self.segment.mapping().empty(block.offset, block.bytes);
        }
        self.state().heap.give_back(block.offset, block.bytes);
    }

    /// Memory that peers reach at memory speed: `ibv_alloc_buf`.
    pub fn allocate_buffer(&self, bytes: u64) -> io::Result<*mut u8> {
        let block = self.take_block(bytes, Memory::Zeroes)?;
        self.state().buffers.insert(block.offset, block.bytes);
        let address = self.segment.mapping().address_of(block.offset, block.bytes);
        address.ok_or_else(OwnSegment::no_room)
    }

    /// Gives back what [`allocate_buffer`](Self::allocate_buffer) gave; false if it did not.
    pub fn free_buffer(&self, address: *mut u8) -> bool {
        let offset = (address as u64).wrapping_sub(self.segment.mapping().address());
        let Some(bytes) = self.state().buffers.remove(&offset) else {
            return false;
        };
        self.give_back_block(Block { offset, bytes });
        true
    }

    /// The offset of memory that is all in one buffer of [`allocate_buffer`](Self::allocate_buffer).
    pub fn segment_offset_of(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.checked_sub(self.segment.mapping().address())?;
        let state = self.state();
        let (&begin, &length) = state.buffers.range(..=offset).next_back()?;
        let inside = offset - begin;
        (inside <= length && bytes <= length - inside).then_some(offset)
    }

    /// Memory of the fixed layout that a new index needs.
    fn fill_record(&self, table: u64, index: u32, bytes: usize) -> io::Result<()> {
        let begin = table + u64::from(index) * bytes as u64;
        self.segment.mapping().fill(begin, bytes as u64)
    }

    /// Takes an index of a table for which `prepare` succeeds.
    fn take_index(
        &self,
        indexes: impl Fn(&mut State) -> &mut Indexes,
        prepare: impl FnOnce(u32) -> io::Result<()>,
    ) -> io::Result<u32> {
        let index = indexes(&mut self.state()).take();
        let index = index.ok_or_else(OwnSegment::no_room)?;
        prepare(index).inspect_err(|_| indexes(&mut self.state()).freed.push_back(index))?;
        Ok(index)
    }
}

/// Completion queues.
impl OwnSegment {
    /// A queue for `capacity` (not 0) completions whose events go to `channel`.
    pub fn create_cq(&self, capacity: u32, channel: Option<u32>) -> io::Result<ObjectId> {
        let (block, slots) = self.take_ring(capacity, ENTRY_BYTES)?;
        let bytes = size_of::<CqRecord>();
        let index = self
            .take_index(
                |state| &mut state.cqs,
                |index| self.fill_record(process::CQS, index, bytes),
            )
            .inspect_err(|_| self.give_back_block(block))? as u16;
        let record = self.segment.cq_record(index);
        record.found(block.offset, slots, capacity, channel);
        let generation = record.generation().fetch_add(1, Ordering::AcqRel) + 1;
        Ok(ObjectId { index, generation })
    }

    /// Lets no one push any more and frees the ring.
    pub fn destroy_cq(&self, processes: &Processes, id: ObjectId) -> Result<(), Busy> {
        let cq = self.segment.cq(id);
        let Ok(held) = cq.lock(processes, PATIENT) else {
            return Err(Busy);
        };
        let (offset, slots) = cq.ring();
        let record = self.segment.cq_record(id.index);
        record.generation().fetch_add(1, Ordering::AcqRel);
        record.lay(0, 0, 0);
        drop(held);
        self.give_back_ring(offset, slots, ENTRY_BYTES);
        self.state().cqs.freed.push_back(u32::from(id.index));
        Ok(())
    }

    /// Gives the queue room for `capacity` completions; those that wait stay. No thread polls it meanwhile. EINVAL if more wait.
    pub fn resize_cq(&self, processes: &Processes, id: ObjectId, capacity: u32) -> io::Result<()> {
        let (block, slots) = self.take_ring(capacity, ENTRY_BYTES)?;
        let cq = self.segment.cq(id);
        let resized = self.move_cq(processes, cq, block, slots, capacity);
        match resized {
            Ok((offset, slots)) => self.give_back_ring(offset, slots, ENTRY_BYTES),
            Err(_) => self.give_back_block(block),
        }
        resized.map(drop)
    }

    fn move_cq(
        &self,
        processes: &Processes,
        cq: Cq<'_>,
        block: Block,
        slots: u32,
        capacity: u32,
    ) -> io::Result<(u64, u32)> {
        let busy = |_| io::Error::from_raw_os_error(libc::EBUSY);
        let held = cq.lock(processes, PATIENT).map_err(busy)?;
        if cq.pending() > capacity {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let waiting: Vec<_> = (0..cq.pending())
            .map_while(|ahead| cq.whole(ahead))
            .collect();
        let old = cq.ring();
        self.segment
            .cq_record(cq.id().index)
            .lay(block.offset, slots, capacity);
        cq.rewrite(&waiting);
        drop(held);
        Ok(old)
    }

    /// A power of two of entries, at least `capacity`.
    fn take_ring(&self, capacity: u32, entry_bytes: u64) -> io::Result<(Block, u32)> {
        let slots = capacity
            .max(1)
            .checked_next_power_of_two()
            .ok_or_else(OwnSegment::no_room)?;
        let bytes = u64::from(slots) * entry_bytes;
        Ok((self.take_block(bytes, Memory::AsWritten)?, slots))
    }

    fn give_back_ring(&self, offset: u64, slots: u32, entry_bytes: u64) {
        let bytes = Heap::block_bytes(u64::from(slots) * entry_bytes);
        if let (1.., Some(bytes)) = (slots, bytes) {
            self.give_back_block(Block { offset, bytes });
        }
    }
}

/// Queue pairs and shared receive queues.
impl OwnSegment {
    /// A queue pair's record with a receive ring for `capacity` requests of up to `max_sges` entries (no ring if 0). `fill` describes
    /// it before `generation` shows it.
    pub fn create_qp(
        &self,
        capacity: u32,
        max_sges: u32,
        fill: impl FnOnce(u16, &QpRecord),
    ) -> io::Result<u16> {
        let index = self.take_index(
            |state| &mut state.qps,
            |index| {
                self.fill_record(process::QPS, index, size_of::<QpRecord>())?;
                let receiving = size_of::<ReceivingRecord>();
                self.fill_record(process::RECEIVINGS, index, receiving)?;
                self.found_ring(&self.segment.qp(index as u16).ring, capacity, max_sges)
            },
        )? as u16;
        let record = self.segment.qp(index);
        fill(index, record);
        record.generation.fetch_add(1, Ordering::AcqRel);
        Ok(index)
    }

    /// Lets no one execute against it any more and frees its ring.
    pub fn destroy_qp(&self, processes: &Processes, index: u16) -> Result<(), Busy> {
        let record = self.segment.qp(index);
        let guard = self.segment.receive_ring(index).lock(processes, PATIENT)?;
        record.state.store(0, Ordering::Release);
        record.generation.fetch_add(1, Ordering::AcqRel);
        self.free_ring(&record.ring, &self.segment.receive_ring(index));
        drop(guard);
        self.state().qps.freed.push_back(u32::from(index));
        Ok(())
    }

    /// A shared receive queue's record.
    pub fn create_srq(
        &self,
        capacity: u32,
        max_sges: u32,
        fill: impl FnOnce(u16, &SrqRecord),
    ) -> io::Result<u16> {
        let index = self.take_index(
            |state| &mut state.srqs,
            |index| {
                self.fill_record(process::SRQS, index, size_of::<SrqRecord>())?;
                self.found_ring(&self.segment.srq(index as u16).ring, capacity, max_sges)
            },
        )? as u16;
        let record = self.segment.srq(index);
        fill(index, record);
        record.generation.fetch_add(1, Ordering::AcqRel);
        Ok(index)
    }

    pub fn destroy_srq(&self, processes: &Processes, index: u16) -> Result<(), Busy> {
        let record = self.segment.srq(index);
        let guard = self.segment.shared_ring(index).lock(processes, PATIENT)?;
        record.generation.fetch_add(1, Ordering::AcqRel);
        self.free_ring(&record.ring, &self.segment.shared_ring(index));
        drop(guard);
        self.state().srqs.freed.push_back(u32::from(index));
        Ok(())
    }

    fn found_ring(&self, ring: &RingRecord, capacity: u32, max_sges: u32) -> io::Result<()> {
        if capacity == 0 {
            ring.found(0, 0, 0, 0);
            return Ok(());
        }
        let (block, slots) = self.take_ring(capacity, slot_bytes(max_sges))?;
        ring.found(block.offset, slots, capacity, max_sges);
        Ok(())
    }

    fn free_ring(&self, record: &RingRecord, ring: &Ring<'_>) {
        let (offset, slots, max_sges) = ring.layout();
        record.lay(0, 0, 0, 0);
        self.give_back_ring(offset, slots, slot_bytes(max_sges));
    }
}

/// Memory regions.
impl OwnSegment {
    /// Shows a region; its key.
    pub fn register(&self, region: &Region) -> io::Result<u32> {
        let bytes = size_of::<MrRecord>();
        let index = self.take_index(
            |state| &mut state.regions,
            |index| self.fill_record(process::REGIONS, index, bytes),
        )?;
        self.segment
            .header()
            .regions
            .fetch_max(index + 1, Ordering::SeqCst);
        let record = self.segment.region(index).ok_or_else(OwnSegment::no_room)?;
        let key = index << 8 | u32::from(record.next_variant());
        record.publish(key, region);
        Ok(key)
    }

    /// Takes a region back: when this is done nobody touches its memory. Busy if somebody does not get on within `patience`; the
    /// key is gone by then, and the call may be repeated.
    pub fn deregister(
        &self,
        processes: &Processes,
        key: u32,
        patience: Duration,
    ) -> Result<(), Busy> {
        let index = key >> 8;
        if let Some(record) = self.segment.region(index) {
            record.withdraw();
            regions::wait_for_visitors(&self.segment, processes, index, patience)?;
            self.state().regions.freed.push_back(index);
        }
        Ok(())
    }

    /// Changes a region, which keeps its index and, if `key` has another low byte, gets that. As for
    /// [`deregister`](Self::deregister), nobody touches what it was when this is done.
    pub fn change(
        &self,
        processes: &Processes,
        old_key: u32,
        key: u32,
        region: &Region,
        patience: Duration,
    ) -> Result<(), Busy> {
        debug_assert_eq!(old_key >> 8, key >> 8);
        if let Some(record) = self.segment.region(old_key >> 8) {
            record.withdraw();
            regions::wait_for_visitors(&self.segment, processes, old_key >> 8, patience)?;
            record.publish(key, region);
        }
        Ok(())
    }
}
