//! Graphs that every process knows in whole (MPI-5.0 §8.5.3).

use weft_error::{Class, Result, argument};

/// A graph: node `n`'s neighbours are the edges from `index[n - 1]` (0 for the first) to `index[n]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    index: Vec<i32>,
    edges: Vec<i32>,
}

/// How many edges an index of nodes speaks of.
pub fn edge_count(index: &[i32]) -> Result<usize> {
    let mut before = 0;
    for (node, &end) in index.iter().enumerate() {
        if end < before {
            let what = format_args!("[{node}]: {end} is below {before}");
            return Err(argument(Class::Arg, "index", what));
        }
        before = end;
    }
    Ok(before as usize)
}

impl Graph {
    /// A graph that a communicator of `processes` has room for; `edges` is as long as `index` says.
    pub fn new(index: &[i32], edges: &[i32], processes: u32) -> Result<Graph> {
        let nodes = index.len();
        if nodes > processes as usize {
            let what = format_args!("{nodes} are more than {processes} processes");
            return Err(argument(Class::Arg, "nnodes", what));
        }
        for (place, &edge) in edges.iter().enumerate() {
            if usize::try_from(edge).is_ok_and(|edge| edge < nodes) {
                continue;
            }
            let what = format_args!("[{place}]: {edge} is no node of {nodes}");
            return Err(argument(Class::Arg, "edges", what));
        }
        Ok(Graph {
            index: index.to_vec(),
            edges: edges.to_vec(),
        })
    }

    pub fn size(&self) -> u32 {
        self.index.len() as u32
    }

    pub fn index(&self) -> &[i32] {
        &self.index
    }

    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a rank of the graph's.
    pub fn neighbours(&self, rank: u32) -> &[i32] {
        let rank = rank as usize;
        let start = rank.checked_sub(1).map_or(0, |before| self.index[before]);
        &self.edges[start as usize..self.index[rank] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_example() {
        let (index, edges) = ([2, 3, 4, 6], [1, 3, 0, 3, 0, 2]);
        assert_eq!(edge_count(&index).unwrap(), edges.len());
        let graph = Graph::new(&index, &edges, 4).unwrap();
        let all: Vec<&[i32]> = (0..4).map(|rank| graph.neighbours(rank)).collect();
        assert_eq!(all, [&[1, 3][..], &[0], &[3], &[0, 2]]);
    }

    #[test]
    fn graphs_that_are_none() {
        assert!(edge_count(&[2, 1]).is_err() && edge_count(&[-1]).is_err());
        assert!(Graph::new(&[1, 1], &[2], 2).is_err());
        assert!(Graph::new(&[1, 1], &[-1], 2).is_err());
        assert!(Graph::new(&[0, 0, 0], &[], 2).is_err());
        let none: &[i32] = &[];
        assert_eq!(Graph::new(&[0, 1], &[0], 2).unwrap().neighbours(0), none);
    }
}
