//! Neighbourhood collectives (MPI-5.0 §8.6).

use std::sync::Arc;

use weft_collective::inter::Sides;
use weft_collective::{Channel, Edges};
use weft_error::{OfBuffer, Result};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::comm::Comm;
use weft_objects::topology::Topology;
use weft_objects::types::Buffer;

use super::blocks::{Layout, Types, Vectors};
use super::call::{Call, Plan, comm as shared};
use super::peers::Peers;
use super::{check_apart, check_blocks_apart, not_in_place};

/// The neighbours of a call's process.
fn edges(comm: &Comm) -> Result<Edges> {
    let neighbours = comm.neighbours()?;
    let ranks = |ranks: Vec<i32>| -> Vec<Option<usize>> {
        let rank = |rank: i32| usize::try_from(rank).ok();
        ranks.into_iter().map(rank).collect()
    };
    Ok(Edges {
        sources: ranks(neighbours.sources),
        destinations: ranks(neighbours.destinations),
        cartesian: matches!(comm.topology(), Some(Topology::Cart(_))),
    })
}

fn known(id: CommId) -> Result<(Arc<Comm>, Edges)> {
    let comm = shared(id)?;
    let edges = edges(&comm)?;
    Ok((comm, edges))
}

pub struct NeighborAllgather<'a> {
    edges: Edges,
    send: Memory,
    receive: Layout<'a>,
}

/// `MPI_Neighbor_allgather`.
pub fn neighbor_allgather(
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<NeighborAllgather<'static>>> {
    let (comm, edges) = known(comm)?;
    let send = not_in_place(send, "sendbuf")?.memory().of_buffer("send")?;
    let receive = Layout::equal(receive, edges.sources.len() as u32).of_buffer("recv")?;
    check_apart(Some(&send), &receive, edges.sources.len())?;
    let plan = NeighborAllgather {
        edges,
        send,
        receive,
    };
    Ok(Call::new(comm, plan))
}

/// `MPI_Neighbor_allgatherv`: one count and displacement per source.
pub fn neighbor_allgatherv<'a>(
    send: Option<Buffer>,
    receive: Vectors<'a>,
    comm: CommId,
) -> Result<Call<NeighborAllgather<'a>>> {
    let (comm, edges) = known(comm)?;
    let send = not_in_place(send, "sendbuf")?.memory().of_buffer("send")?;
    let receive = Layout::varying(receive, edges.sources.len() as u32).of_buffer("recv")?;
    check_apart(Some(&send), &receive, edges.sources.len())?;
    let plan = NeighborAllgather {
        edges,
        send,
        receive,
    };
    Ok(Call::new(comm, plan))
}

impl Plan for NeighborAllgather<'_> {
    type Owned = NeighborAllgather<'static>;

    fn into_owned(self) -> NeighborAllgather<'static> {
        NeighborAllgather {
            edges: self.edges,
            send: self.send,
            receive: self.receive.into_owned(),
        }
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        weft_collective::neighbor_allgather(channel, &self.edges, &self.send, &self.receive).await
    }

    async fn between(&self, _: &Sides<'_, Peers<'_>>) -> Result<()> {
        unreachable!("an inter-communicator has no topology")
    }
}

pub struct NeighborAlltoall<'a> {
    edges: Edges,
    send: Layout<'a>,
    receive: Layout<'a>,
}

/// `MPI_Neighbor_alltoall`.
pub fn neighbor_alltoall(
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<NeighborAlltoall<'static>>> {
    let (comm, edges) = known(comm)?;
    let send = not_in_place(send, "sendbuf")?;
    let send = Layout::equal(send, edges.destinations.len() as u32).of_buffer("send")?;
    let receive = Layout::equal(receive, edges.sources.len() as u32).of_buffer("recv")?;
    let both = edges.sources.len().min(edges.destinations.len());
    check_blocks_apart(&send, &receive, both)?;
    let plan = NeighborAlltoall {
        edges,
        send,
        receive,
    };
    Ok(Call::new(comm, plan))
}

/// `MPI_Neighbor_alltoallv`.
pub fn neighbor_alltoallv<'a>(
    send: Option<Vectors<'a>>,
    receive: Vectors<'a>,
    comm: CommId,
) -> Result<Call<NeighborAlltoall<'a>>> {
    let (comm, edges) = known(comm)?;
    let send = not_in_place(send, "sendbuf")?;
    let send = Layout::varying(send, edges.destinations.len() as u32).of_buffer("send")?;
    let receive = Layout::varying(receive, edges.sources.len() as u32).of_buffer("recv")?;
    let both = edges.sources.len().min(edges.destinations.len());
    check_blocks_apart(&send, &receive, both)?;
    let plan = NeighborAlltoall {
        edges,
        send,
        receive,
    };
    Ok(Call::new(comm, plan))
}

/// `MPI_Neighbor_alltoallw`.
pub fn neighbor_alltoallw<'a>(
    send: Option<Types<'a>>,
    receive: Types<'a>,
    comm: CommId,
) -> Result<Call<NeighborAlltoall<'a>>> {
    let (comm, edges) = known(comm)?;
    let send = not_in_place(send, "sendbuf")?;
    let send = Layout::mixed(send, edges.destinations.len() as u32).of_buffer("send")?;
    let receive = Layout::mixed(receive, edges.sources.len() as u32).of_buffer("recv")?;
    let both = edges.sources.len().min(edges.destinations.len());
    check_blocks_apart(&send, &receive, both)?;
    let plan = NeighborAlltoall {
        edges,
        send,
        receive,
    };
    Ok(Call::new(comm, plan))
}

impl Plan for NeighborAlltoall<'_> {
    type Owned = NeighborAlltoall<'static>;

    fn into_owned(self) -> NeighborAlltoall<'static> {
        NeighborAlltoall {
            edges: self.edges,
            send: self.send.into_owned(),
            receive: self.receive.into_owned(),
        }
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        weft_collective::neighbor_alltoall(channel, &self.edges, &self.send, &self.receive).await
    }

    async fn between(&self, _: &Sides<'_, Peers<'_>>) -> Result<()> {
        unreachable!("an inter-communicator has no topology")
    }
}
