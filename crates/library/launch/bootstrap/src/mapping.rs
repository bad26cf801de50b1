//! The value of `PMI_process_mapping`: which node each rank runs on.

use std::fmt;

/// Runs of blocks, filled in order with ascending ranks, and begun again from the first when there are more ranks.
///
/// As text: `(vector,ITEM,...)`, where an item is a block `(first node, number of nodes, ranks per node)`, a bare node number
/// for one rank there, or blocks in brackets and how often they repeat, `[...]xN`. MPICH's Hydra writes the shorter
/// forms where ranks are dealt out in turn or unevenly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    runs: Vec<Run>,
    /// Ranks that one pass over all runs places; not zero.
    period: u64,
}

/// Blocks, and how often they follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    blocks: Vec<Block>,
    times: u32,
    /// Ranks that the blocks place once.
    period: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    first_node: u32,
    nodes: u32,
    ranks_per_node: u32,
}

impl Mapping {
    /// All ranks on one node.
    pub fn one_node(ranks: u32) -> Mapping {
        let block = Block {
            first_node: 0,
            nodes: 1,
            ranks_per_node: ranks.max(1),
        };
        let period = block.ranks();
        let run = Run {
            blocks: vec![block],
            times: 1,
            period,
        };
        Mapping {
            runs: vec![run],
            period,
        }
    }

    /// Reads the text; `None` when it is anything else or places no rank.
    pub fn parse(text: &str) -> Option<Mapping> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut rest = compact.strip_prefix("(vector")?.strip_suffix(')')?;
        let mut runs = Vec::new();
        while !rest.is_empty() {
            let (run, after) = Run::parse(rest.strip_prefix(',')?)?;
            runs.push(run);
            rest = after;
        }
        let period = runs.iter().try_fold(0u64, |sum, run| {
            sum.checked_add(run.period.checked_mul(u64::from(run.times))?)
        })?;
        (period > 0).then_some(Mapping { runs, period })
    }

    /// The node of `rank`.
    pub fn node(&self, rank: u32) -> u32 {
        let mut place = u64::from(rank) % self.period;
        for run in &self.runs {
            // `parse` has checked that this fits.
            let ranks = run.period * u64::from(run.times);
            if place < ranks {
                return run.node(place % run.period);
            }
            place -= ranks;
        }
        unreachable!("a place below the period lies in a run")
    }
}

impl Run {
    /// Reads one item; also gives what follows it.
    fn parse(text: &str) -> Option<(Run, &str)> {
        let Some(inside) = text.strip_prefix('[') else {
            let (block, rest) = Block::parse(text)?;
            return Some((Run::new(vec![block], 1)?, rest));
        };
        let (list, after) = inside.split_once("]x")?;
        let mut blocks = Vec::new();
        let mut rest = list;
        loop {
            let (block, after) = Block::parse(rest)?;
            blocks.push(block);
            if after.is_empty() {
                break;
            }
            rest = after.strip_prefix(',')?;
        }
        let (times, after) = number(after)?;
        Some((Run::new(blocks, times)?, after))
    }

    fn new(blocks: Vec<Block>, times: u32) -> Option<Run> {
        let mut ranks = blocks.iter().map(Block::ranks);
        let period = ranks.try_fold(0u64, |sum, ranks| sum.checked_add(ranks))?;
        Some(Run {
            blocks,
            times,
            period,
        })
    }

    fn node(&self, mut place: u64) -> u32 {
        for block in &self.blocks {
            if place < block.ranks() {
                let node = place / u64::from(block.ranks_per_node);
                // `node < nodes`, and `Block::parse` has checked that `first_node + nodes` fits.
                return block.first_node + node as u32;
            }
            place -= block.ranks();
        }
        unreachable!("a place below the period lies in a block")
    }
}

impl Block {
    /// Reads `(first,nodes,ranks)` or a bare node; also gives what follows it.
    fn parse(text: &str) -> Option<(Block, &str)> {
        let (block, rest) = match text.strip_prefix('(') {
            None => {
                let (first_node, rest) = number(text)?;
                let block = Block {
                    first_node,
                    nodes: 1,
                    ranks_per_node: 1,
                };
                (block, rest)
            }
            Some(inside) => {
                let (inside, rest) = inside.split_once(')')?;
                let mut numbers = inside.split(',').map(|number| number.parse().ok());
                let block = Block {
                    first_node: numbers.next()??,
                    nodes: numbers.next()??,
                    ranks_per_node: numbers.next()??,
                };
                (numbers.next().is_none().then_some(block)?, rest)
            }
        };
        block.first_node.checked_add(block.nodes)?;
        Some((block, rest))
    }

    fn ranks(&self) -> u64 {
        u64::from(self.nodes) * u64::from(self.ranks_per_node)
    }
}

/// The digits at the beginning, and what follows them.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "(vector")?;
        for run in &self.runs {
            let blocks: Vec<String> = run.blocks.iter().map(Block::to_string).collect();
            match (&blocks[..], run.times) {
                ([block], 1) => write!(f, ",{block}")?,
                (blocks, times) => write!(f, ",[{}]x{times}", blocks.join(","))?,
            }
        }
        write!(f, ")")
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (first, nodes, ranks) = (self.first_node, self.nodes, self.ranks_per_node);
        write!(f, "({first},{nodes},{ranks})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An item as text, and the node of each rank that it places.
    fn item() -> impl Strategy<Value = (String, Vec<u32>)> {
        let block = prop_oneof![
            (0u32..9).prop_map(|node| (node.to_string(), vec![node])),
            (0u32..9, 0u32..4, 0u32..4).prop_map(|(first, nodes, ranks)| {
                let placed = (first..first + nodes).flat_map(|node| vec![node; ranks as usize]);
                (format!("({first},{nodes},{ranks})"), placed.collect())
            }),
        ];
        let run = (prop::collection::vec(block.clone(), 1..4), 0u32..4).prop_map(
            |(blocks, times): (Vec<(String, Vec<u32>)>, u32)| {
                let (texts, placed): (Vec<String>, Vec<Vec<u32>>) = blocks.into_iter().unzip();
                let placed = placed.concat().repeat(times as usize);
                (format!("[{}]x{times}", texts.join(",")), placed)
            },
        );
        prop_oneof![block, run]
    }

    proptest! {
        #[test]
        fn places_each_rank_as_the_expanded_list_does(
            items in prop::collection::vec(item(), 1..5),
            size in 1u32..80,
        ) {
            let (texts, placed): (Vec<String>, Vec<Vec<u32>>) = items.into_iter().unzip();
            let pass = placed.concat();
            let parsed = Mapping::parse(&format!("(vector,{})", texts.join(",")));
            match parsed {
                None => prop_assert!(pass.is_empty()),
                Some(mapping) => {
                    let oracle: Vec<u32> = pass.iter().copied().cycle().take(size as usize).collect();
                    let nodes: Vec<u32> = (0..size).map(|rank| mapping.node(rank)).collect();
                    prop_assert_eq!(&nodes, &oracle);
                    prop_assert_eq!(Mapping::parse(&mapping.to_string()), Some(mapping));
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = Mapping::parse(&text);
        }

        #[test]
        fn any_text_of_the_alphabet_is_read_or_refused(text in "\\(vector,[]\\[x(),0-9 ]{0,60}\\)") {
            if let Some(mapping) = Mapping::parse(&text) {
                mapping.node(u32::MAX);
            }
        }
    }

    #[test]
    fn reads_what_hydra_writes() {
        let nodes = |text: &str, size| {
            let mapping = Mapping::parse(text)?;
            Some((0..size).map(|rank| mapping.node(rank)).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("(vector,(0,2,1))", vec![0, 1]),
            ("(vector,[(0,2,1)]x2)", vec![0, 1, 0, 1]),
            ("(vector,[(0,3,1)]x2,0)", vec![0, 1, 2, 0, 1, 2, 0]),
            (
                "(vector,[(0,1,2),1,(2,1,3)]x2,0)",
                vec![0, 0, 1, 2, 2, 2, 0, 0, 1, 2, 2, 2, 0],
            ),
            ("(vector, 1, 0)", vec![1, 0]),
        ] {
            assert_eq!(nodes(text, expected.len() as u32), Some(expected), "{text}");
        }
        for text in [
            "(vector)",
            "(vector,)",
            "(vector,[]x2)",
            "(vector,[0]x)",
            "(vector,[0])",
            "(vector,[0]x0)",
            "(vector,[[0]x2]x2)",
            "(vector,0,)",
            "(vector,-1)",
            "(vector,0 1)x",
            "(list,0)",
        ] {
            assert_eq!(Mapping::parse(text), None, "{text}");
        }
    }

    #[test]
    fn refuses_numbers_that_do_not_fit() {
        assert!(Mapping::parse("(vector,(4294967295,1,1))").is_none());
        assert!(Mapping::parse("(vector,(0,1,4294967296))").is_none());
        assert!(Mapping::parse("(vector,4294967295)").is_none());
        assert!(Mapping::parse("(vector,[(0,4294967295,4294967295)]x2)").is_none());
        assert!(
            Mapping::parse("(vector,(0,4294967295,4294967295),(0,4294967295,4294967295))")
                .is_none()
        );
        assert_eq!(
            Mapping::parse("(vector,(0,4294967295,4294967295))")
                .unwrap()
                .node(u32::MAX),
            1
        );
    }
}
