//! Neighbourhood collectives (MPI-5.0 §8.6): one message along each edge of a process topology.
//!
//! All messages of a call are under way at once: of edges in any order, no smaller set is sure to find its partners.

use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;

/// This rank's neighbours, in the order of the topology. None is `MPI_PROC_NULL`, with whom nothing is exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    pub sources: Vec<Option<usize>>,
    pub destinations: Vec<Option<usize>>,
    /// Of a Cartesian grid: neighbours in pairs, and what is sent in one direction comes from the other. So where both
    /// are one process, its messages are received in the other order (MPI-5.0 §8.6).
    pub cartesian: bool,
}

impl Edges {
    /// The sources in the order in which messages of one process are to be received.
    fn arrivals(&self) -> impl Iterator<Item = (usize, usize)> {
        let swap = usize::from(self.cartesian);
        (0..self.sources.len()).filter_map(move |index| {
            let index = index ^ swap;
            self.sources[index].map(|from| (index, from))
        })
    }
}

/// Sends `send` along every edge out, and receives block `i` along the `i`-th edge in.
pub async fn neighbor_allgather<P: PointToPoint>(
    channel: &Channel<'_, P>,
    edges: &Edges,
    send: &Memory,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    exchange(channel, edges, |_| send.clone(), receive).await
}

/// Sends block `i` of `send` along the `i`-th edge out, and receives block `i` of `receive` along the `i`-th edge in.
pub async fn neighbor_alltoall<P: PointToPoint>(
    channel: &Channel<'_, P>,
    edges: &Edges,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    exchange(channel, edges, |index| send.block(index), receive).await
}

async fn exchange<P: PointToPoint>(
    channel: &Channel<'_, P>,
    edges: &Edges,
    send: impl Fn(usize) -> Memory,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    let mut requests = Vec::with_capacity(edges.sources.len() + edges.destinations.len());
    for (index, from) in edges.arrivals() {
        requests.push(channel.receive(from, receive.block(index)));
    }
    for (index, to) in edges.destinations.iter().enumerate() {
        requests.push(to.and_then(|to| channel.send(to, send(index))));
    }
    channel.wait_all(&requests).await;
    channel.finish()
}
