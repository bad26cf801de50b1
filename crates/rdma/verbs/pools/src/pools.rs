//! The pools of a process.

use std::fmt;

use crate::{Pool, PoolKind, Reach, Selection, default_credits, default_low, most_credits};

/// The pools of a process, by ascending size: at least one, at most [`MOST_POOLS`](crate::MOST_POOLS). No two have the same size, but a
/// shared pool and an XRC pool after it may: then the first is for peers that are not reached over XRC.
///
/// Written as `TYPE,bytes,count[,low[,credits]]`, with colons between pools: Open MPI's `btl_openib_receive_queues`, where kinds may be
/// mixed at will. `k` and `M` after bytes are 1024 and 1024².
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pools {
    pools: Vec<Pool>,
}

impl Pools {
    /// Pools that have been checked.
    pub(crate) fn checked(pools: Vec<Pool>) -> Pools {
        Pools { pools }
    }

    /// What suits most programs. Over XRC a further pool costs no queue pair, so there are four sizes, 2.9 MiB of buffers; without it
    /// three, 2.6 MiB. The largest hold a message of 16 KiB and its headers.
    pub fn sensible(has_xrc: bool) -> Pools {
        const LONGEST: u32 = (16 << 10) + 128;
        let kind = if has_xrc {
            PoolKind::Xrc
        } else {
            PoolKind::Shared
        };
        let sizes: &[(u32, u32)] = match has_xrc {
            true => &[(256, 512), (1 << 10, 256), (4 << 10, 128), (LONGEST, 128)],
            false => &[(256, 512), (2 << 10, 256), (LONGEST, 128)],
        };
        let pool = |&(bytes, count): &(u32, u32)| {
            let low = default_low(count);
            let credits = default_credits(kind, low);
            Pool {
                kind,
                bytes,
                count,
                low,
                credits,
            }
        };
        Pools::checked(sizes.iter().map(pool).collect())
    }

    pub fn all(&self) -> &[Pool] {
        &self.pools
    }

    /// The same buffers, all of them in pools of one kind.
    ///
    /// Of a shared pool and an XRC pool of the same size, the second remains. Credits that are too many for the kind become as many as it
    /// may have.
    pub fn all_of(&self, kind: PoolKind) -> Pools {
        let as_kind = |pool: Pool| Pool {
            kind,
            credits: pool.credits.min(most_credits(kind, pool.count, pool.low)),
            ..pool
        };
        let xrc = self.toward(Reach::Xrc);
        let chosen = xrc.pools().iter().map(|chosen| self.pools[chosen.pool]);
        Pools::checked(chosen.map(as_kind).collect())
    }

    /// The largest pool alone.
    pub fn largest(&self) -> Pools {
        Pools::checked(self.pools.last().copied().into_iter().collect())
    }

    /// What a sender chooses from: those pools through which a process receives from peers that reach it so.
    pub fn toward(&self, reach: Reach) -> Selection {
        Selection::new(&self.pools, reach)
    }

    pub fn has(&self, kind: PoolKind) -> bool {
        self.pools.iter().any(|pool| pool.kind == kind)
    }
}

impl fmt::Display for Pools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pool) in self.pools.iter().enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(formatter, "{colon}{pool}")?;
        }
        Ok(())
    }
}
