//! One pool: buffers of one size.

use std::fmt;

/// How peers reach a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// `P`: posted to the queue pair of each peer, which has credits for them.
    PerPeer,
    /// `S`: in a shared receive queue, with a queue pair for each peer and pool.
    Shared,
    /// `X`: in a shared receive queue that peers name in each request, on the one queue pair that each of them has to this host.
    Xrc,
}

impl PoolKind {
    pub fn letter(self) -> char {
        match self {
            PoolKind::PerPeer => 'P',
            PoolKind::Shared => 'S',
            PoolKind::Xrc => 'X',
        }
    }

    /// The kind of that letter, small ones too.
    pub fn of_letter(letter: char) -> Option<PoolKind> {
        let kinds = [PoolKind::PerPeer, PoolKind::Shared, PoolKind::Xrc];
        let letter = letter.to_ascii_uppercase();
        kinds.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// A buffer has room for a header and little more.
pub const LEAST_BYTES: u32 = 64;
/// Longer messages are moved without a buffer.
pub const MOST_BYTES: u32 = 16 << 20;
/// What adapters let a receive queue hold.
pub const MOST_COUNT: u32 = 32_768;
/// Pools of a process.
pub const MOST_POOLS: usize = 16;

/// Buffers of one size. The numbers keep to what [`Pools`](crate::Pools) checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    pub kind: PoolKind,
    /// Bytes of a buffer, the library's header included.
    pub bytes: u32,
    /// Buffers that are posted: in all, or to each peer (`P`).
    pub count: u32,
    /// Once at most so many are left, the pool is filled up to `count` again.
    pub low: u32,
    /// `P`: a receiver that owes so many credits sends them without waiting for a message to send them with.
    /// `S`, `X`: sends that a peer may have under way to this pool.
    pub credits: u32,
}

impl Pool {
    /// Buffers that whoever sends to the pool posts for messages of credits alone, beside those of its own pool. Each of these carries
    /// `credits` or more of the `count` that there are, so no more of them are under way.
    pub fn reserve(&self) -> u32 {
        match self.kind {
            PoolKind::PerPeer => self.count / self.credits,
            PoolKind::Shared | PoolKind::Xrc => 0,
        }
    }

    /// Bytes of all its buffers: of one peer's (`P`), or in all.
    pub fn buffer_bytes(&self) -> u64 {
        u64::from(self.count + self.reserve()) * u64::from(self.bytes)
    }
}

/// `low` where a specification leaves it out.
pub fn default_low(count: u32) -> u32 {
    count / 2
}

/// `credits` where a specification leaves them out.
pub fn default_credits(kind: PoolKind, low: u32) -> u32 {
    let part = match kind {
        PoolKind::PerPeer => 2,
        PoolKind::Shared | PoolKind::Xrc => 4,
    };
    (low / part).max(1)
}

/// A receiver that owes fewer than `credits` credits, and has more than `low` buffers posted, must not keep its peer without any.
pub fn most_credits(kind: PoolKind, count: u32, low: u32) -> u32 {
    match kind {
        PoolKind::PerPeer => low + 1,
        PoolKind::Shared | PoolKind::Xrc => count,
    }
}

/// As a part of a specification, with nothing left out.
impl fmt::Display for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, suffix) = shortest(self.bytes);
        write!(
            formatter,
            "{},{bytes}{suffix},{},{},{}",
            self.kind.letter(),
            self.count,
            self.low,
            self.credits
        )
    }
}

/// A number of bytes in the largest unit of which it is a multiple.
fn shortest(bytes: u32) -> (u32, &'static str) {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => (bytes >> 20, "M"),
        _ if bytes.is_multiple_of(1 << 10) => (bytes >> 10, "k"),
        _ => (bytes, ""),
    }
}
