//! Graphs of which every process knows its own edges (MPI-5.0 §8.5.4).

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

impl Side {
    pub fn new(ranks: &[i32], weights: Option<&[i32]>) -> Side {
        Side {
            ranks: ranks.to_vec(),
            weights: weights.map(<[i32]>::to_vec),
        }
    }

    pub fn push(&mut self, rank: i64, weight: i64) {
        self.ranks.push(rank as i32);
        if let Some(weights) = &mut self.weights {
            weights.push(weight as i32);
        }
    }
}

impl DistGraph {
    pub fn new(incoming: Side, outgoing: Side) -> DistGraph {
        DistGraph { incoming, outgoing }
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
}
