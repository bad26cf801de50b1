//! The value of `PMI_process_mapping`, as Hydra writes it: `(vector,(first node,nodes,ranks per node),...)`.

use std::fmt::Write;

/// From the host of each rank. Readers begin again from the first block when there are more ranks than the blocks place, so
/// a pattern that repeats is written once.
pub fn process_mapping(host_of: &[u32]) -> String {
    let period = period(host_of);
    let mut text = "(vector".to_owned();
    for block in blocks(&host_of[..period]) {
        let _ = write!(text, ",({},{},{})", block.first, block.nodes, block.ranks);
    }
    text.push(')');
    text
}

struct Block {
    first: u32,
    nodes: u32,
    ranks: u32,
}

fn blocks(host_of: &[u32]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for run in host_of.chunk_by(|a, b| a == b) {
        let (host, ranks) = (run[0], run.len() as u32);
        match blocks.last_mut() {
            Some(last) if last.ranks == ranks && last.first + last.nodes == host => last.nodes += 1,
            _ => blocks.push(Block {
                first: host,
                nodes: 1,
                ranks,
            }),
        }
    }
    blocks
}

/// The shortest beginning that, repeated and cut off, is the whole (by the failure function of Knuth, Morris and Pratt).
fn period(host_of: &[u32]) -> usize {
    let mut border = vec![0; host_of.len()];
    let mut length = 0;
    for at in 1..host_of.len() {
        while length > 0 && host_of[at] != host_of[length] {
            length = border[length - 1];
        }
        if host_of[at] == host_of[length] {
            length += 1;
        }
        border[at] = length;
    }
    match host_of.len() - border.last().unwrap_or(&0) {
        // All on one host: how many is written out, which not every reader would count.
        1 => host_of.len(),
        period => period,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weft_bootstrap::Mapping;

    #[test]
    fn writes_what_hydra_writes() {
        for (host_of, text) in [
            (&[0, 0, 1, 1][..], "(vector,(0,2,2))"),
            (&[0, 1, 0, 1], "(vector,(0,2,1))"),
            (&[0, 0, 0, 1], "(vector,(0,1,3),(1,1,1))"),
            (&[0, 0, 1, 0, 0, 1, 0], "(vector,(0,1,2),(1,1,1))"),
            (&[0, 0, 0], "(vector,(0,1,3))"),
            (&[0], "(vector,(0,1,1))"),
        ] {
            assert_eq!(process_mapping(host_of), text);
        }
    }

    proptest! {
        #[test]
        fn the_library_reads_the_same_hosts(host_of in prop::collection::vec(0u32..4, 1..40)) {
            let mapping = Mapping::parse(&process_mapping(&host_of)).unwrap();
            for (rank, host) in host_of.iter().enumerate() {
                prop_assert_eq!(mapping.node(rank as u32), *host);
            }
        }
    }
}
