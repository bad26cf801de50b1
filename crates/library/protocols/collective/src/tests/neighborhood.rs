//! Neighbourhood collectives on rings, grids of few processes, and graphs with edges of all kinds.

use super::data::{Buffer, values};
use super::world::World;
use crate::{Edges, Uniform, neighbor_allgather, neighbor_alltoall};

fn blocks(buffer: &Buffer, count: usize) -> Uniform {
    Uniform::new(&buffer.datatype, buffer.pointer(), buffer.count, count).unwrap()
}

/// Of a ring, the block sent in one direction comes from the other, with two ranks too.
#[test]
fn directions_of_a_ring_are_not_mixed_up() {
    for size in 2..=5 {
        for periodic in [false, true] {
            let world = World::new(size, size as u64);
            let sent: Vec<_> = (0..size).map(|_| Buffer::new(2, 3, false)).collect();
            let into: Vec<_> = (0..size).map(|_| Buffer::new(2, 3, true)).collect();
            for (rank, sent) in sent.iter().enumerate() {
                (0..2).for_each(|way| sent.fill(way, &values(rank, way, 3)));
            }
            let ring = |rank: usize| {
                let low = (rank > 0 || periodic).then(|| (rank + size - 1) % size);
                let high = (rank + 1 < size || periodic).then(|| (rank + 1) % size);
                vec![low, high]
            };
            let results = world.run(async |channel, rank| {
                let edges = Edges {
                    sources: ring(rank),
                    destinations: ring(rank),
                    cartesian: true,
                };
                let (send, receive) = (blocks(&sent[rank], 2), blocks(&into[rank], 2));
                neighbor_alltoall(channel, &edges, &send, &receive).await
            });
            assert!(results.iter().all(Result::is_ok) && world.is_quiet());
            for (rank, into) in into.iter().enumerate() {
                for (way, neighbour) in ring(rank).into_iter().enumerate() {
                    if let Some(neighbour) = neighbour {
                        let wanted = values(neighbour, 1 - way, 3);
                        assert_eq!(into.block(way), wanted, "{rank} of {size}, {way}");
                    }
                }
            }
        }
    }
}

/// Rank `r` sends `r` times to rank 0, in the order in which rank 0 names it, and all to the next.
#[test]
fn edges_of_a_graph_are_told_apart_by_their_order() {
    let size = 4;
    let world = World::new(size, 5);
    let sources = |rank: usize| match rank {
        0 => vec![3, 2, 3, 1, 2, 3],
        _ => vec![rank - 1],
    };
    let destinations = |rank: usize| {
        let mut ranks = vec![0; rank];
        ranks.extend((rank + 1 < size).then_some(rank + 1));
        ranks
    };
    let edges = |rank: usize| Edges {
        sources: sources(rank).into_iter().map(Some).collect(),
        destinations: destinations(rank).into_iter().map(Some).collect(),
        cartesian: false,
    };
    let new = |count: usize| Buffer::new(count, 2, false);
    let sent: Vec<_> = (0..size)
        .map(|rank| new(destinations(rank).len()))
        .collect();
    let into: Vec<_> = (0..size).map(|rank| new(sources(rank).len())).collect();
    let told: Vec<_> = (0..size).map(|rank| new(sources(rank).len())).collect();
    for (rank, sent) in sent.iter().enumerate() {
        (0..destinations(rank).len()).for_each(|to| sent.fill(to, &values(rank, to, 2)));
    }
    let names: Vec<_> = (0..size)
        .map(|rank| Buffer::of(&values(rank, 9, 2), false))
        .collect();
    let results = world.run(async |channel, rank| {
        let edges = edges(rank);
        let (out, into_count) = (destinations(rank).len(), sources(rank).len());
        let (send, receive) = (blocks(&sent[rank], out), blocks(&into[rank], into_count));
        neighbor_alltoall(channel, &edges, &send, &receive).await?;
        let receive = blocks(&told[rank], into_count);
        neighbor_allgather(channel, &edges, &names[rank].memory(), &receive).await
    });
    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
    for rank in 0..size {
        let mut seen = [0; 4];
        for (index, from) in sources(rank).into_iter().enumerate() {
            // To rank 0 go the first edges of each, to the next rank goes the last.
            let edge = if rank == 0 { seen[from] } else { from };
            seen[from] += 1;
            assert_eq!(into[rank].block(index), values(from, edge, 2));
            assert_eq!(told[rank].block(index), values(from, 9, 2));
        }
    }
}
