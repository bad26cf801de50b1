//! Graphs of which every process knows its own edges (MPI-5.0 §8.5.4).

use super::Neighbours;
use crate::comm::Comm;
use crate::error::handler::argument;
use crate::error::{Class, Result};
use crate::words;

/// The ends of a process's incoming or outgoing edges, and their weights if the graph has weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    pub ranks: Vec<i32>,
    pub weights: Option<Vec<i32>>,
}

/// A process's part of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistGraph {
    incoming: Side,
    outgoing: Side,
}

/// What a process gives to `MPI_Dist_graph_create_adjacent`: its own edges.
#[derive(Clone, Copy, Debug)]
pub struct Adjacent<'a> {
    pub sources: &'a [i32],
    pub source_weights: Option<&'a [i32]>,
    pub destinations: &'a [i32],
    pub destination_weights: Option<&'a [i32]>,
}

/// What a process gives to `MPI_Dist_graph_create`: `degrees[i]` edges from `sources[i]`, for each `i` in turn.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'a> {
    pub sources: &'a [i32],
    pub degrees: &'a [i32],
    pub destinations: &'a [i32],
    pub weights: Option<&'a [i32]>,
}

/// How many edges these degrees speak of.
pub fn count(degrees: &[i32]) -> Result<usize> {
    let checked = |(node, &degree): (usize, &i32)| {
        usize::try_from(degree).map_err(|_| {
            let what = format_args!("[{node}]: {degree} is negative");
            argument(Class::Arg, "degrees", what)
        })
    };
    degrees.iter().enumerate().map(checked).sum()
}

fn check_ranks(comm: &Comm, name: &str, ranks: &[i32]) -> Result<()> {
    ranks
        .iter()
        .try_for_each(|&rank| comm.check_rank(Class::Rank, name, rank).map(drop))
}

fn check_weights(name: &str, weights: Option<&[i32]>) -> Result<()> {
    let negative = weights.and_then(|weights| weights.iter().find(|weight| **weight < 0));
    negative.map_or(Ok(()), |weight| {
        let what = format_args!("{weight} is negative");
        Err(argument(Class::Arg, name, what))
    })
}

impl Side {
    fn new(ranks: &[i32], weights: Option<&[i32]>) -> Side {
        Side {
            ranks: ranks.to_vec(),
            weights: weights.map(<[i32]>::to_vec),
        }
    }

    fn push(&mut self, rank: i64, weight: i64) {
        self.ranks.push(rank as i32);
        if let Some(weights) = &mut self.weights {
            weights.push(weight as i32);
        }
    }
}

impl DistGraph {
    pub(super) fn adjacent(comm: &Comm, adjacent: Adjacent<'_>) -> Result<DistGraph> {
        let Adjacent {
            sources,
            source_weights,
            destinations,
            destination_weights,
        } = adjacent;
        check_ranks(comm, "sources", sources)?;
        check_ranks(comm, "destinations", destinations)?;
        check_weights("sourceweights", source_weights)?;
        check_weights("destweights", destination_weights)?;
        if source_weights.is_some() != destination_weights.is_some() {
            let what = "MPI_UNWEIGHTED is for both directions or none";
            return Err(argument(Class::Arg, "sourceweights", what));
        }
        Ok(DistGraph {
            incoming: Side::new(sources, source_weights),
            outgoing: Side::new(destinations, destination_weights),
        })
    }

    /// Each edge is told to both of its ends. They have them in the order of who gave them.
    pub(super) fn gathered(comm: &Comm, edges: Edges<'_>) -> Result<DistGraph> {
        check_ranks(comm, "sources", edges.sources)?;
        check_ranks(comm, "destinations", edges.destinations)?;
        check_weights("weights", edges.weights)?;
        let told = words::exchange(comm, &edges.told(comm.size()))?;
        let weighted = edges.weights.is_some();
        let side = || Side {
            ranks: Vec::new(),
            weights: weighted.then(Vec::new),
        };
        let (mut incoming, mut outgoing) = (side(), side());
        for words in &told {
            let [other_weighted, edges @ ..] = &words[..] else {
                unreachable!("every process says whether it has weights")
            };
            if (*other_weighted > 0) != weighted {
                let what = "MPI_UNWEIGHTED is for all processes or none";
                return Err(argument(Class::Arg, "weights", what));
            }
            for &[is_out, rank, weight] in edges.as_chunks().0 {
                let side = if is_out > 0 {
                    &mut outgoing
                } else {
                    &mut incoming
                };
                side.push(rank, weight);
            }
        }
        Ok(DistGraph { incoming, outgoing })
    }

    pub fn incoming(&self) -> &Side {
        &self.incoming
    }

    pub fn outgoing(&self) -> &Side {
        &self.outgoing
    }

    pub fn is_weighted(&self) -> bool {
        self.incoming.weights.is_some()
    }

    pub(super) fn neighbours(&self) -> Neighbours {
        Neighbours {
            sources: self.incoming.ranks.clone(),
            destinations: self.outgoing.ranks.clone(),
        }
    }
}

impl Edges<'_> {
    /// What each rank is told: whether there are weights, then a triple for each end of an edge that it is.
    fn told(&self, ranks: u32) -> Vec<Vec<i64>> {
        let mut told = vec![vec![i64::from(self.weights.is_some())]; ranks as usize];
        let mut place = 0;
        for (&source, &degree) in self.sources.iter().zip(self.degrees) {
            for _ in 0..degree {
                let destination = self.destinations[place];
                let weight = self.weights.map_or(0, |weights| weights[place]).into();
                told[source as usize].extend([1, destination.into(), weight]);
                told[destination as usize].extend([0, source.into(), weight]);
                place += 1;
            }
        }
        told
    }
}
