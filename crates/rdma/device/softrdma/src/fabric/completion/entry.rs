//! What stands in a ring: a completion, and the short message that may travel with it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::fabric::heap;
use crate::fabric::mapping::Shared;

const WORDS: usize = 8;

/// Bytes of a completion in the ring, and of what it carries.
pub const ENTRY_BYTES: u64 = 128;

/// A completion in a ring: a line of its own, and one that is only touched if it carries a message.
#[repr(C, align(64))]
pub struct CqEntry {
    pub(super) completion: [AtomicU64; WORDS],
    pub(super) carried: [AtomicU64; WORDS],
}

// A ring lies where the heap has room for it.
const _: () = assert!(align_of::<CqEntry>() as u64 <= heap::LINE);

/// Both lines of an entry.
pub(in crate::fabric) type Entry = [[u64; WORDS]; 2];

/// The longest message that a completion carries.
pub const CARRIED_BYTES: usize = (WORDS - 2) * 8;

/// A message that travels with its completion, and where it is to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    pub address: u64,
    pub lkey: u32,
    pub length: u32,
    pub bytes: [u8; CARRIED_BYTES],
}

impl Carried {
    pub(super) fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[0] = self.address;
        words[1] = u64::from(self.lkey) | u64::from(self.length) << 32;
        for (word, bytes) in words[2..].iter_mut().zip(self.bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        }
        words
    }

    pub(super) fn from_words(words: &[u64; WORDS]) -> Carried {
        let mut bytes = [0; CARRIED_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(&words[2..]) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        Carried {
            address: words[0],
            lkey: words[1] as u32,
            length: ((words[1] >> 32) as u32).min(CARRIED_BYTES as u32),
            bytes,
        }
    }
}

// SAFETY: atomic integers only.
unsafe impl Shared for CqEntry {}

const _: () = assert!(size_of::<CqEntry>() as u64 == ENTRY_BYTES);

/// A completion, as `ibv_wc` and the extended completion queue's readers give it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub wr_id: u64,
    pub status: u16,
    pub opcode: u16,
    pub wc_flags: u32,
    pub byte_len: u32,
    /// Immediate data in network order, or the key that was invalidated.
    pub immediate: u32,
    pub qp_num: u32,
    pub src_qp: u32,
    pub vendor_err: u32,
    pub slid: u16,
    pub sl: u8,
    pub dlid_path_bits: u8,
    pub pkey_index: u16,
    /// Of a send: the place in the send queue up to which it frees.
    pub send_index: u32,
    /// CLOCK_REALTIME in nanoseconds, where the queue keeps it.
    pub timestamp_ns: u64,
    /// Whether a message comes with it ([`Cq::carried`]).
    pub carries: bool,
}

impl Completion {
    pub(super) fn words(&self) -> [u64; WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let status = u32::from(self.status) | u32::from(self.opcode) << 16;
        let path =
            u32::from(self.slid) | u32::from(self.sl) << 16 | u32::from(self.dlid_path_bits) << 24;
        [
            self.wr_id,
            pair(status, self.wc_flags),
            pair(self.byte_len, self.immediate),
            pair(self.qp_num, self.src_qp),
            pair(self.vendor_err, path),
            pair(u32::from(self.pkey_index), self.send_index),
            self.timestamp_ns,
            u64::from(self.carries),
        ]
    }

    pub(super) fn from_words(words: [u64; WORDS]) -> Completion {
        let high = |word: u64| (word >> 32) as u32;
        Completion {
            wr_id: words[0],
            status: words[1] as u16,
            opcode: (words[1] >> 16) as u16,
            wc_flags: high(words[1]),
            byte_len: words[2] as u32,
            immediate: high(words[2]),
            qp_num: words[3] as u32,
            src_qp: high(words[3]),
            vendor_err: words[4] as u32,
            slid: high(words[4]) as u16,
            sl: (words[4] >> 48) as u8,
            dlid_path_bits: (words[4] >> 56) as u8,
            pkey_index: words[5] as u16,
            send_index: high(words[5]),
            timestamp_ns: words[6],
            carries: words[7] != 0,
        }
    }
}

#[inline]
pub(super) fn store(line: &[AtomicU64; WORDS], words: &[u64; WORDS]) {
    for (word, value) in line.iter().zip(words) {
        word.store(*value, Ordering::Relaxed);
    }
}

#[inline]
pub(super) fn load(line: &[AtomicU64; WORDS]) -> [u64; WORDS] {
    std::array::from_fn(|word| line[word].load(Ordering::Relaxed))
}
