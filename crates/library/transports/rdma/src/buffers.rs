//! Registered memory of the library's own, in pieces: what is sent from and read into, what is received into.
//!
//! # Protocol
//! A piece belongs to the lane, which alone writes and reads it, or to the adapter. A lane gives a piece to the adapter by posting it,
//! and has it back with the completion that answers for it: [`Sends::give_back`], [`Receives::bytes`]. No peer has a key to
//! any of it.

use std::slice;

use weft_verbs::abi::{IBV_ACCESS_LOCAL_WRITE, ibv_access_flags};
use weft_verbs::{Buffer, Error, MemoryRegion, Part, ProtectionDomain, ReceiveList};

use crate::frame::FRAME_BYTES;

/// An answer of libraries that have no `ibv_alloc_buf`.
const EOPNOTSUPP: i32 = 95;
/// Pieces begin on cache lines.
const LINE: usize = 64;

/// A region of `bytes`, of the library's memory where it has such: on the device in software, processes of one host reach
/// that without a system call.
pub fn region(
    domain: &ProtectionDomain,
    bytes: usize,
    access: ibv_access_flags,
) -> Result<MemoryRegion, Error> {
    let memory = match Buffer::from_library(domain, bytes) {
        Err(error) if error.errno == EOPNOTSUPP => Buffer::new(bytes),
        made => made?,
    };
    MemoryRegion::new(domain, &memory, access)
}

/// Pieces of one length.
struct Pieces {
    offset: usize,
    stride: usize,
    count: usize,
    free: Vec<u32>,
}

impl Pieces {
    fn new(offset: usize, bytes: usize, count: usize) -> Pieces {
        Pieces {
            offset,
            stride: bytes.next_multiple_of(LINE),
            count,
            free: (0..count as u32).rev().collect(),
        }
    }

    fn end(&self) -> usize {
        self.offset + self.stride * self.count
    }

    fn at(&self, index: u32) -> usize {
        self.offset + self.stride * index as usize
    }
}

/// A piece to send from, or to read into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferId {
    is_long: bool,
    index: u32,
}

impl BufferId {
    pub fn is_long(self) -> bool {
        self.is_long
    }
}

/// What a lane sends from: many short pieces, and some that hold the longest frame.
pub struct Sends {
    region: MemoryRegion,
    short: Pieces,
    long: Pieces,
}

const SHORT_BYTES: usize = 512;
const SHORT_PIECES: usize = 256;
const LONG_PIECES: usize = 48;
/// Long pieces that bulk data leave to packets.
const KEPT_FOR_PACKETS: usize = 16;

impl Sends {
    pub fn new(domain: &ProtectionDomain) -> Result<Sends, Error> {
        let short = Pieces::new(0, SHORT_BYTES, SHORT_PIECES);
        let long = Pieces::new(short.end(), FRAME_BYTES, LONG_PIECES);
        Ok(Sends {
            region: region(domain, long.end(), IBV_ACCESS_LOCAL_WRITE)?,
            short,
            long,
        })
    }

    /// A piece for a frame of so many bytes.
    pub fn take(&mut self, bytes: usize) -> Option<BufferId> {
        let is_long = bytes > SHORT_BYTES;
        let pieces = self.pieces(is_long);
        pieces.free.pop().map(|index| BufferId { is_long, index })
    }

    /// A piece of bulk data, while there are enough for packets beside.
    pub fn take_for_bulk(&mut self) -> Option<BufferId> {
        match self.long.free.len() > KEPT_FOR_PACKETS {
            true => self.take(FRAME_BYTES),
            false => None,
        }
    }

    /// A piece of an access, while there are enough for packets beside.
    pub fn take_for_access(&mut self, bytes: usize) -> Option<BufferId> {
        match bytes > SHORT_BYTES {
            true => self.take_for_bulk(),
            false if self.short.free.len() > SHORT_PIECES / 8 => self.take(bytes),
            false => None,
        }
    }

    pub fn give_back(&mut self, piece: BufferId) {
        self.pieces(piece.is_long).free.push(piece.index);
    }

    /// Half of the pieces of either kind are with the adapter: it is to say soon which it has sent.
    pub fn is_low(&self) -> bool {
        self.short.free.len() < SHORT_PIECES / 2 || self.long.free.len() < LONG_PIECES / 2
    }

    /// There are pieces for some frames of any length.
    pub fn has_room(&self) -> bool {
        self.short.free.len() > SHORT_PIECES / 8 && self.long.free.len() > LONG_PIECES / 8
    }

    /// The first `bytes` bytes of a piece that was taken and is not posted, or not any more.
    pub fn bytes(&mut self, piece: BufferId, bytes: usize) -> &mut [u8] {
        let pieces = self.pieces(piece.is_long);
        assert!(bytes <= pieces.stride && (piece.index as usize) < pieces.count);
        let offset = pieces.at(piece.index);
        // SAFETY: within the region; the piece is the lane's until it is posted (the protocol above).
        unsafe {
            let first = self.region.buffer().as_ptr().add(offset);
            slice::from_raw_parts_mut(first, bytes)
        }
    }

    /// So many bytes of a piece, from `offset` on.
    pub fn part(&self, piece: BufferId, offset: usize, bytes: usize) -> Part<'_> {
        let pieces = match piece.is_long {
            true => &self.long,
            false => &self.short,
        };
        self.region.part(pieces.at(piece.index) + offset, bytes)
    }

    /// A part of no bytes.
    pub fn nothing(&self) -> Part<'_> {
        self.region.part(0, 0)
    }

    fn pieces(&mut self, is_long: bool) -> &mut Pieces {
        match is_long {
            true => &mut self.long,
            false => &mut self.short,
        }
    }
}

/// Buffers of one size to receive into. Those of its pieces are free that are not posted.
pub struct Receives {
    region: MemoryRegion,
    pieces: Pieces,
    bytes: usize,
    list: ReceiveList,
}

impl Receives {
    pub fn new(domain: &ProtectionDomain, bytes: usize, count: usize) -> Result<Receives, Error> {
        let pieces = Pieces::new(0, bytes, count);
        Ok(Receives {
            region: region(domain, pieces.end(), IBV_ACCESS_LOCAL_WRITE)?,
            pieces,
            bytes,
            list: ReceiveList::with_room(count),
        })
    }

    pub fn count(&self) -> usize {
        self.pieces.count
    }

    /// Bytes of all buffers.
    pub fn buffer_bytes(&self) -> usize {
        self.pieces.count * self.bytes
    }

    /// Buffers that are not posted.
    pub fn free(&self) -> usize {
        self.pieces.free.len()
    }

    /// What was in a piece is done with.
    pub fn give_back(&mut self, piece: usize) {
        self.pieces.free.push(piece as u32);
    }

    /// The bytes of a frame that has come into piece `index`; the piece is posted again only after they are used.
    pub fn bytes(&self, index: usize, bytes: usize) -> &[u8] {
        assert!(index < self.pieces.count && bytes <= self.bytes);
        let offset = self.pieces.at(index as u32);
        // SAFETY: within the region; the piece is the lane's from its completion until it is posted again (the protocol above),
        // which takes the lane, borrowed by the result.
        unsafe {
            let first = self.region.buffer().as_ptr().add(offset);
            slice::from_raw_parts(first, bytes)
        }
    }

    /// A list of `count` of the free pieces, to be posted now. The completion of a piece will have the number that `id` gives it.
    pub fn list(&mut self, count: usize, id: impl Fn(usize) -> u64) -> &mut ReceiveList {
        let free = &mut self.pieces.free;
        let pieces = free.split_off(free.len() - count);
        self.list.clear();
        for piece in pieces {
            let part = self.region.part(self.pieces.at(piece), self.bytes);
            self.list.push(id(piece as usize), part);
        }
        &mut self.list
    }
}
