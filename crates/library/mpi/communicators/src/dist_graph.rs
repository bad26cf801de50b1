//! Making a graph of which every process knows its own edges (MPI-5.0 §8.5.4).

use weft_collective_calls::agree;
use weft_error::told::{Reader, Teller};
use weft_error::{Class, Result, argument};
use weft_objects::comm::Comm;
use weft_objects::topology::{DistGraph, Side};

use super::exchange;

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
    Ok(DistGraph::new(
        Side::new(sources, source_weights),
        Side::new(destinations, destination_weights),
    ))
}

/// Each edge is told to both of its ends. They have them in the order of who gave them.
pub(super) fn gathered(comm: &Comm, edges: Edges<'_>) -> Result<DistGraph> {
    check_ranks(comm, "sources", edges.sources)?;
    check_ranks(comm, "destinations", edges.destinations)?;
    check_weights("weights", edges.weights)?;
    let weighted = edges.weights.is_some();
    let received = exchange::words(comm, &edges.for_each_rank(comm.size()));
    let graph = received.and_then(|words| graph_of(&words, weighted, comm.size() as usize));
    // Whoever was told nonsense says so to those that were not.
    agree::<0, _>(comm, &[], graph)
}

/// The graph of what each rank told, of `size` of them.
fn graph_of(told: &[Vec<i64>], weighted: bool, size: usize) -> Result<DistGraph> {
    let side = || Side {
        ranks: Vec::new(),
        weights: weighted.then(Vec::new),
    };
    let (mut incoming, mut outgoing) = (side(), side());
    for (teller, words) in told.iter().enumerate() {
        let mut words = Reader::new(Teller::Rank(teller), words);
        if (words.index(2, "weighting of edges")? > 0) != weighted {
            let what = "MPI_UNWEIGHTED is for all processes or none";
            return Err(argument(Class::Arg, "weights", what));
        }
        while !words.is_at_end() {
            let side = match words.index(2, "direction of an edge")? {
                0 => &mut incoming,
                _ => &mut outgoing,
            };
            let rank = words.index(size, "rank")?;
            let weight = words.within(0..=i64::from(i32::MAX), "weight of an edge")?;
            side.push(rank as i64, weight);
        }
    }
    Ok(DistGraph::new(incoming, outgoing))
}

impl Edges<'_> {
    /// What each rank is told: whether there are weights, then a triple for each end of an edge that it is.
    fn for_each_rank(&self, ranks: u32) -> Vec<Vec<i64>> {
        let mut words = vec![vec![i64::from(self.weights.is_some())]; ranks as usize];
        let mut place = 0;
        for (&source, &degree) in self.sources.iter().zip(self.degrees) {
            for _ in 0..degree {
                let destination = self.destinations[place];
                let weight = self.weights.map_or(0, |weights| weights[place]).into();
                words[source as usize].extend([1, destination.into(), weight]);
                words[destination as usize].extend([0, source.into(), weight]);
                place += 1;
            }
        }
        words
    }
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    const SIZE: usize = 5;
    let told: Vec<Vec<i64>> = words.chunks(7).map(<[i64]>::to_vec).collect();
    if let Ok(graph) = graph_of(&told, words.len() % 2 == 0, SIZE) {
        let sides = [graph.incoming(), graph.outgoing()];
        let ranks = sides.iter().flat_map(|side| &side.ranks);
        ranks.for_each(|&rank| assert!((0..SIZE as i32).contains(&rank)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_between_ranks() {
        let told = [vec![1, 1, 2, 7], vec![1, 0, 0, 9]];
        let graph = graph_of(&told, true, 3).unwrap();
        assert_eq!(graph.outgoing().ranks, [2]);
        assert_eq!(graph.incoming().ranks, [0]);
        let lies: [&[i64]; 8] = [
            &[],
            &[2],
            &[1, 2, 0, 0],
            &[1, 1, 3, 0],
            &[1, 1, -1, 0],
            &[1, 1, 1 << 60, 0],
            &[1, 1, 0, 1 << 31],
            &[1, 1, 0],
        ];
        for lie in lies {
            let error = graph_of(&[vec![1], lie.to_vec()], true, 3).unwrap_err();
            assert!(error.to_string().starts_with("rank 1 told "), "{error}");
        }
    }
}
