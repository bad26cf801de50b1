//! Long messages from or to one rank: in blocks along a chain, or scattered and gathered by all.

use std::rc::Rc;

use weft_goal::Program;

use super::butterfly::{self, Butterfly};
use super::competitor::Competitor;
use super::ring;
use super::setting::Setting;
use super::tree::Tree;

pub fn bcasts(setting: Setting) -> Vec<Competitor> {
    let tree = Rc::new(Tree::binomial(setting.ranks));
    let same = tree.clone();
    let mut all = vec![
        Competitor::new("chain", setting, move |rank, program| {
            chain(setting, rank, program, 0.0, |place| place);
        }),
        Competitor::new("scatter_ring", setting, move |rank, program| {
            same.scatter_cuts(setting, rank, program);
            ring::around(setting, rank, program, |block| {
                setting.cut(block..block + 1)
            });
        }),
    ];
    all.extend(by_bits(setting).map(|butterfly| {
        Competitor::new("scatter_doubling", setting, move |rank, program| {
            tree.scatter_cuts(setting, rank, program);
            butterfly.allgather(setting, rank, program);
        })
    }));
    all
}

pub fn reduces(setting: Setting) -> Vec<Competitor> {
    // From the last rank to the root.
    let other_end = move |at: usize| setting.ranks - 1 - at;
    let mut all = vec![Competitor::new("chain", setting, move |rank, program| {
        let combine_byte_ns = setting.combine_byte_ns;
        chain(
            setting,
            other_end(rank),
            program,
            combine_byte_ns,
            other_end,
        );
    })];
    all.extend(by_bits(setting).map(|butterfly| {
        let tree = Tree::binomial(setting.ranks);
        Competitor::new("rabenseifner", setting, move |rank, program| {
            butterfly.reduce_scatter(setting, rank, program);
            tree.gather_cuts(setting, rank, program);
        })
    }));
    all
}

fn by_bits(setting: Setting) -> Option<Butterfly> {
    let pairs = butterfly::bits_peer;
    butterfly::rounds(setting.ranks).map(|rounds| Butterfly { rounds, pairs })
}

/// So many blocks are best if there are that many rounds beside one for each block.
pub fn best_blocks(setting: Setting, further: usize, combine_byte_ns: f64) -> usize {
    let powers = (0..=24).map(|power| 1usize << power);
    let possible = powers.take_while(|&count| count == 1 || count as u64 <= setting.bytes);
    let ns = |count: usize| {
        let bytes = blocks(setting, count);
        let network = setting.network;
        let asked = match bytes > network.eager_bytes {
            true => 2.0 * network.latency_ns,
            false => 0.0,
        };
        let round = 2.0 * network.processor_ns(bytes)
            + network.latency_ns
            + asked
            + network.adapter_ns(bytes)
            - network.gap_ns
            + bytes as f64 * combine_byte_ns;
        round * (count + further) as f64
    };
    let best = possible.min_by(|&one, &other| ns(one).total_cmp(&ns(other)));
    best.unwrap_or(1)
}

/// The bytes of one of so many blocks.
pub fn blocks(setting: Setting, count: usize) -> u64 {
    setting.bytes.div_ceil(count as u64)
}

/// A rank at a place in the chain passes on what it has received while the next block comes. Which rank is at a place
/// is told.
fn chain(
    setting: Setting,
    place: usize,
    program: &mut Program,
    combine_byte_ns: f64,
    rank_at: impl Fn(usize) -> usize,
) {
    let ranks = setting.ranks;
    let count = best_blocks(setting, ranks.saturating_sub(2), combine_byte_ns);
    let bytes = blocks(setting, count);
    let receive = |program: &mut Program| {
        let previous = place.checked_sub(1)?;
        Some(program.receive(rank_at(previous), bytes))
    };
    let mut incoming = receive(program);
    let mut outgoing = None;
    for index in 0..count {
        let following = match index + 1 < count {
            true => receive(program),
            false => None,
        };
        if let Some(incoming) = incoming {
            program.wait(incoming);
            program.calc((bytes as f64 * combine_byte_ns).round() as u64);
        }
        incoming = following;
        if place + 1 < ranks {
            let next = program.send(rank_at(place + 1), bytes);
            outgoing.into_iter().for_each(|sent| program.wait(sent));
            outgoing = Some(next);
        }
    }
}
