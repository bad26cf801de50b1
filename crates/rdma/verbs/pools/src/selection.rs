//! A sender's choice: the smallest pool that fits.

use crate::{Pool, PoolKind};

/// How a peer reaches a process: both adapters decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Over XRC, and by queue pairs of its own for what is not XRC.
    Xrc,
    /// By queue pairs of its own alone.
    Connected,
}

/// A pool as one peer reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its place in the specification.
    pub pool: usize,
    /// A pool of kind X is a shared one for a peer that is not reached over XRC.
    pub kind: PoolKind,
    /// Of a buffer.
    pub bytes: u32,
}

/// The pools through which a process receives from one peer, by strictly ascending size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pools: Vec<Chosen>,
}

impl Selection {
    pub(crate) fn new(pools: &[Pool], reach: Reach) -> Selection {
        let is_double = |index: usize| match (reach, pools[index].kind) {
            (Reach::Xrc, PoolKind::Shared) => pools.get(index + 1),
            (Reach::Connected, PoolKind::Xrc) => index.checked_sub(1).map(|before| &pools[before]),
            _ => None,
        };
        let chosen = |(index, pool): (usize, &Pool)| {
            let other = is_double(index);
            let is_left_out = other.is_some_and(|other| other.bytes == pool.bytes);
            (!is_left_out).then_some(Chosen {
                pool: index,
                kind: reached(pool.kind, reach),
                bytes: pool.bytes,
            })
        };
        Selection {
            pools: pools.iter().enumerate().filter_map(chosen).collect(),
        }
    }

    pub fn pools(&self) -> &[Chosen] {
        &self.pools
    }

    /// The smallest pool with buffers of so many bytes; none if the message is longer than all, and goes without a buffer.
    pub fn smallest(&self, bytes: usize) -> Option<Chosen> {
        let fits = |chosen: &&Chosen| chosen.bytes as usize >= bytes;
        self.pools.iter().find(fits).copied()
    }

    /// The longest message that a pool holds, header included.
    pub fn longest(&self) -> u32 {
        self.pools.last().map_or(0, |chosen| chosen.bytes)
    }
}

fn reached(kind: PoolKind, reach: Reach) -> PoolKind {
    match (kind, reach) {
        (PoolKind::Xrc, Reach::Connected) => PoolKind::Shared,
        _ => kind,
    }
}
