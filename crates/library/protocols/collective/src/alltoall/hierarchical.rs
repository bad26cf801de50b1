//! Each host's leader gathers what its ranks send, the leaders exchange what goes from host to host as one message each, and
//! each leader scatters what has come to its host: for short blocks, of which very many would go between hosts.

use crate::channel::Speaker;
use crate::memory::{Parts, Scratch, copy, window};
use crate::{Blocks, Channel, Hosts, PointToPoint, flat};
use std::ops::Range;
use weft_memory::Memory;

/// All blocks are as long. Both may be the same blocks: those that are sent are packed before others take their place.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let grid = Grid {
        hosts,
        ranks: channel.size(),
        positions: host.size(),
        bytes: receive.block(channel.rank()).bytes,
    };
    if grid.bytes == 0 {
        return;
    }
    // A row has a block for each rank, in the order of the hosts.
    let Some(scratch) = channel.room(Scratch::new(grid.row_bytes())) else {
        return;
    };
    let row = scratch.memory(grid.row_bytes());
    for place in 0..grid.ranks {
        let block = send.block(hosts.rank_in(place));
        copy(&block, &window(&row, grid.block(place)));
    }
    match channel.across(Speaker::At(0)) {
        Some(leaders) => lead(&host, &leaders, &grid, &row).await,
        None => {
            channel.keep(flat::gather::gather(&host, Some(row.clone()), None, 0).await);
            channel.keep(flat::scatter::scatter(&host, None, Some(row.clone()), 0).await);
        }
    }
    for place in 0..grid.ranks {
        let block = receive.block(hosts.rank_in(place));
        copy(&window(&row, grid.block(place)), &block);
    }
}

/// The blocks of a host's ranks.
struct Grid<'a> {
    hosts: &'a Hosts,
    ranks: usize,
    /// How many ranks this host has.
    positions: usize,
    bytes: usize,
}

impl Grid<'_> {
    fn row_bytes(&self) -> usize {
        self.ranks * self.bytes
    }

    fn block(&self, index: usize) -> Range<usize> {
        index * self.bytes..(index + 1) * self.bytes
    }

    fn row(&self, position: usize) -> Range<usize> {
        position * self.row_bytes()..(position + 1) * self.row_bytes()
    }

    /// What goes between this host and another.
    fn between(&self, host: usize) -> Range<usize> {
        let Range { start, end } = self.hosts.places_on(host);
        let bytes = self.positions * self.bytes;
        start * bytes..end * bytes
    }
}

async fn lead<P: PointToPoint>(
    host: &Channel<'_, P>,
    leaders: &Channel<'_, P>,
    grid: &Grid<'_>,
    row: &Memory,
) {
    let all = grid.positions * grid.row_bytes();
    let Some(rows) = host.room(Scratch::new(all)) else {
        return;
    };
    let Some(sorted) = host.room(Scratch::new(all)) else {
        return;
    };
    let rows = Parts {
        memory: rows.memory(all),
        bytes: |position| grid.row(position),
    };
    let of_hosts = |memory| Parts {
        memory,
        bytes: |host| grid.between(host),
    };
    host.keep(flat::gather::gather(host, Some(row.clone()), Some(&rows), 0).await);
    // For each host, what each position sends to each of its ranks.
    let out = of_hosts(sorted.memory(all));
    for to in 0..grid.hosts.count() {
        let places = grid.hosts.places_on(to);
        let (chunk, part) = (out.block(to), places.len() * grid.bytes);
        for position in 0..grid.positions {
            let bytes = places.start * grid.bytes..places.end * grid.bytes;
            let into = window(&chunk, position * part..(position + 1) * part);
            copy(&window(&rows.block(position), bytes), &into);
        }
    }
    let into = of_hosts(rows.memory.clone());
    host.keep(flat::alltoall::alltoallv(leaders, Some(&out), &into).await);
    // From each host, what each of its ranks sends to each position.
    let rows = Parts {
        memory: sorted.memory(all),
        bytes: |position| grid.row(position),
    };
    for from in 0..grid.hosts.count() {
        let chunk = into.block(from);
        for (index, place) in grid.hosts.places_on(from).enumerate() {
            for position in 0..grid.positions {
                let block = window(&chunk, grid.block(index * grid.positions + position));
                copy(&block, &window(&rows.block(position), grid.block(place)));
            }
        }
    }
    host.keep(flat::scatter::scatter(host, Some(&rows), Some(row.clone()), 0).await);
}
