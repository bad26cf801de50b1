//! The value of `PMI_process_mapping`: which node each rank runs on.

/// Blocks of (first node, number of nodes, ranks per node), filled in order with ascending ranks, and begun again from the
/// first block when there are more ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    blocks: Vec<Block>,
    /// Ranks that one pass over all blocks places; not zero.
    period: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    first_node: u32,
    nodes: u32,
    ranks_per_node: u32,
}

impl Block {
    fn ranks(&self) -> u64 {
        u64::from(self.nodes) * u64::from(self.ranks_per_node)
    }
}

impl Mapping {
    /// All ranks on one node.
    pub fn one_node(ranks: u32) -> Mapping {
        let block = Block {
            first_node: 0,
            nodes: 1,
            ranks_per_node: ranks.max(1),
        };
        Mapping {
            period: block.ranks(),
            blocks: vec![block],
        }
    }

    /// Reads `(vector,(0,1,3),(1,2,4))`; `None` when the text is anything else or places no rank.
    pub fn parse(text: &str) -> Option<Mapping> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut rest = compact.strip_prefix("(vector,")?.strip_suffix(')')?;
        let mut blocks = Vec::new();
        loop {
            let (block, after) = rest.strip_prefix('(')?.split_once(')')?;
            blocks.push(Block::parse(block)?);
            if after.is_empty() {
                break;
            }
            rest = after.strip_prefix(',')?;
        }
        let period = blocks
            .iter()
            .try_fold(0u64, |sum, block| sum.checked_add(block.ranks()))?;
        (period > 0).then_some(Mapping { blocks, period })
    }

    /// The node of `rank`.
    pub fn node(&self, rank: u32) -> u32 {
        let mut place = u64::from(rank) % self.period;
        for block in &self.blocks {
            if place < block.ranks() {
                let node = place / u64::from(block.ranks_per_node);
                // `node < nodes`, and `parse` has checked that `first_node + nodes` fits.
                return block.first_node + node as u32;
            }
            place -= block.ranks();
        }
        unreachable!("a place below the period lies in a block")
    }

    /// The ranks below `size` that share the node of `rank`, ascending.
    pub fn ranks_beside(&self, rank: u32, size: u32) -> Vec<u32> {
        let node = self.node(rank);
        (0..size)
            .filter(|&other| self.node(other) == node)
            .collect()
    }
}

impl Block {
    fn parse(text: &str) -> Option<Block> {
        let mut numbers = text.split(',').map(|number| number.parse::<u32>().ok());
        let block = Block {
            first_node: numbers.next()??,
            nodes: numbers.next()??,
            ranks_per_node: numbers.next()??,
        };
        let fits = block.first_node.checked_add(block.nodes).is_some();
        (numbers.next().is_none() && fits).then_some(block)
    }
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "(vector")?;
        for block in &self.blocks {
            write!(
                f,
                ",({},{},{})",
                block.first_node, block.nodes, block.ranks_per_node
            )?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes out the node of each rank one by one.
    fn oracle(blocks: &[(u32, u32, u32)], size: u32) -> Vec<u32> {
        let pass = blocks.iter().flat_map(|&(first, nodes, ranks)| {
            (0..nodes).flat_map(move |node| std::iter::repeat_n(first + node, ranks as usize))
        });
        let pass: Vec<u32> = pass.collect();
        pass.iter().copied().cycle().take(size as usize).collect()
    }

    proptest! {
        #[test]
        fn places_each_rank_as_the_expanded_list_does(
            blocks in prop::collection::vec((0u32..9, 0u32..4, 0u32..4), 1..5),
            size in 1u32..80,
        ) {
            let blocks_text: Vec<String> = blocks.iter().map(|(a, b, c)| format!("({a},{b},{c})")).collect();
            let parsed = Mapping::parse(&format!("(vector,{})", blocks_text.join(",")));
            match parsed {
                None => prop_assert!(blocks.iter().all(|(_, nodes, ranks)| nodes * ranks == 0)),
                Some(mapping) => {
                    let nodes: Vec<u32> = (0..size).map(|rank| mapping.node(rank)).collect();
                    prop_assert_eq!(&nodes, &oracle(&blocks, size));
                    let beside = mapping.ranks_beside(0, size);
                    prop_assert!((0..size).all(|rank| beside.contains(&rank) == (nodes[rank as usize] == nodes[0])));
                    prop_assert_eq!(Mapping::parse(&mapping.to_string()), Some(mapping));
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = Mapping::parse(&text);
        }

        #[test]
        fn any_text_of_the_alphabet_is_read_or_refused(text in "\\(vector,[(),0-9 ]{0,60}") {
            if let Some(mapping) = Mapping::parse(&text) {
                mapping.node(u32::MAX);
            }
        }
    }

    #[test]
    fn refuses_numbers_that_do_not_fit() {
        assert!(Mapping::parse("(vector,(4294967295,1,1))").is_none());
        assert!(Mapping::parse("(vector,(0,1,4294967296))").is_none());
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
