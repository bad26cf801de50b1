//! A sender's choice against one by looking at every pool.

use proptest::prelude::*;

use super::strategies::pools;
use crate::{Chosen, Pool, PoolKind, Pools, Reach};

/// The pools that a peer can use, as the documentation says it: an S and an X of one size are two ways to one size.
fn usable(pools: &[Pool], reach: Reach) -> Vec<Chosen> {
    let twin = |pool: &Pool, kind: PoolKind| {
        let is_twin = |other: &&Pool| other.kind == kind && other.bytes == pool.bytes;
        pools.iter().any(|other| is_twin(&other))
    };
    let mut usable = Vec::new();
    for (index, pool) in pools.iter().enumerate() {
        let kind = match (pool.kind, reach) {
            (PoolKind::Shared, Reach::Xrc) if twin(pool, PoolKind::Xrc) => continue,
            (PoolKind::Xrc, Reach::Connected) if twin(pool, PoolKind::Shared) => continue,
            (PoolKind::Xrc, Reach::Connected) => PoolKind::Shared,
            (kind, _) => kind,
        };
        usable.push(Chosen {
            pool: index,
            kind,
            bytes: pool.bytes,
        });
    }
    usable
}

proptest! {
    #[test]
    fn the_smallest_that_fits_is_chosen(
        pools in pools(),
        is_xrc in any::<bool>(),
        lengths in prop::collection::vec(0usize..1 << 15, 1..20),
        near in any::<prop::sample::Index>(),
    ) {
        let reach = if is_xrc { Reach::Xrc } else { Reach::Connected };
        let selection = Pools::checked(pools.clone()).toward(reach);
        let usable = usable(&pools, reach);
        prop_assert_eq!(selection.pools(), &usable[..]);
        let edge = near.get(&pools).bytes as usize;
        for bytes in lengths.into_iter().chain([edge, edge + 1, edge - 1, 0]) {
            let fitting = usable.iter().filter(|pool| pool.bytes as usize >= bytes);
            prop_assert_eq!(selection.smallest(bytes), fitting.min_by_key(|pool| pool.bytes).copied());
        }
        prop_assert_eq!(selection.smallest(selection.longest() as usize + 1), None);
    }
}

#[test]
fn one_job_reaches_some_hosts_over_xrc_and_others_not() {
    let pools: Pools = "P,128,64:S,2k,256:X,2k,512:X,16k,64".parse().unwrap();
    let kinds = |reach| -> Vec<(usize, PoolKind)> {
        let selection = pools.toward(reach);
        let pools = selection.pools().iter();
        pools.map(|chosen| (chosen.pool, chosen.kind)).collect()
    };
    let over_xrc = [
        (0, PoolKind::PerPeer),
        (2, PoolKind::Xrc),
        (3, PoolKind::Xrc),
    ];
    let connected = [
        (0, PoolKind::PerPeer),
        (1, PoolKind::Shared),
        (3, PoolKind::Shared),
    ];
    assert_eq!(kinds(Reach::Xrc), over_xrc);
    assert_eq!(kinds(Reach::Connected), connected);
    // With the pools' own numbers.
    assert_eq!(
        pools.all_of(PoolKind::Shared).to_string(),
        "S,128,64,32,16:S,2k,512,256,64:S,16k,64,32,8"
    );
}
