//! Arbitrary pools.

use proptest::prelude::*;

use crate::{LEAST_BYTES, MOST_BYTES, MOST_COUNT, MOST_POOLS, Pool, PoolKind, Pools};

pub fn kind() -> impl Strategy<Value = PoolKind> {
    prop_oneof![
        Just(PoolKind::PerPeer),
        Just(PoolKind::Shared),
        Just(PoolKind::Xrc)
    ]
}

fn bytes() -> impl Strategy<Value = u32> {
    let kibibytes = (1u32..=MOST_BYTES >> 10).prop_map(|kib| kib << 10);
    prop_oneof![LEAST_BYTES..1 << 14, kibibytes]
}

/// A pool of that size, with numbers at the ends of their ranges often enough.
pub fn pool(kind: PoolKind, bytes: u32) -> impl Strategy<Value = Pool> {
    let count = prop_oneof![1u32..40, Just(1), Just(MOST_COUNT), 1..=MOST_COUNT];
    count
        .prop_flat_map(|count| (Just(count), 0..count))
        .prop_flat_map(move |(count, low)| {
            let most = match kind {
                PoolKind::PerPeer => low + 1,
                PoolKind::Shared | PoolKind::Xrc => count,
            };
            (1..=most).prop_map(move |credits| Pool {
                kind,
                bytes,
                count,
                low,
                credits,
            })
        })
}

/// Pools by strictly ascending size, of which some S have an X of the same size after them.
pub fn pools() -> impl Strategy<Value = Vec<Pool>> {
    let sizes = prop::collection::btree_set(bytes(), 1..=MOST_POOLS / 2);
    sizes
        .prop_flat_map(|sizes| {
            let each = sizes.into_iter().map(|bytes| {
                (kind(), any::<bool>()).prop_flat_map(move |(kind, is_pair)| {
                    let second = pool(PoolKind::Xrc, bytes).prop_map(move |second| {
                        (kind == PoolKind::Shared && is_pair).then_some(second)
                    });
                    (pool(kind, bytes), second)
                })
            });
            each.collect::<Vec<_>>()
        })
        .prop_map(|sizes| {
            let both = |(first, second): (Pool, Option<Pool>)| [Some(first), second];
            sizes.into_iter().flat_map(both).flatten().collect()
        })
}

pub fn checked_pools() -> impl Strategy<Value = Pools> {
    pools().prop_map(Pools::checked)
}
