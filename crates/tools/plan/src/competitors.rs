//! The field's algorithms among one rank of each host, each as its authors describe it: what a rank sends, receives,
//! combines and waits for. All know how many ranks there are and begin at once, and rooted ones have rank 0 as their
//! root.
//!
//! Those for a power of two are there for no other number. Blocks are as long as each other to a byte.

mod butterfly;
mod circulant;
mod competitor;
mod direct;
mod pipelined;
mod ring;
mod setting;
#[cfg(test)]
mod tests;
mod tree;

use std::rc::Rc;

use crate::Collective;
use butterfly::Butterfly;
pub use competitor::Competitor;
pub use setting::Setting;
use tree::Tree;

/// All that there are for this collective and so many ranks.
pub fn all(collective: Collective, setting: Setting) -> Vec<Competitor> {
    let mut all = match collective {
        Collective::Barrier => vec![Competitor::new(
            "dissemination",
            setting,
            move |rank, program| {
                direct::dissemination(setting, rank, program);
            },
        )],
        Collective::Bcast => pipelined::bcasts(setting),
        Collective::Reduce => pipelined::reduces(setting),
        Collective::Allreduce => ring::allreduces(setting),
        Collective::ReduceScatter => ring::reduce_scatters(setting),
        Collective::Allgather => ring::allgathers(setting),
        Collective::Gather | Collective::Scatter => direct::rooted(collective, setting),
        Collective::Alltoall => direct::alltoalls(setting),
        Collective::Scan => direct::scans(setting),
    };
    all.extend(circulant::of(collective, setting));
    all.extend(trees(collective, setting));
    all.extend(butterflies(collective, setting));
    all
}

fn trees(collective: Collective, setting: Setting) -> Vec<Competitor> {
    let named = |name: &'static str, tree: Option<Tree>| {
        let tree = Rc::new(tree?);
        let of_rank = tree::of(collective)?;
        Some(Competitor::new(name, setting, move |rank, program| {
            of_rank(&tree, setting, rank, program);
        }))
    };
    let binomial = named("binomial", Some(Tree::binomial(setting.ranks)));
    // Bine's allreduce is a butterfly.
    let bine = match collective {
        Collective::Allreduce => None,
        _ => named("bine", Tree::bine(setting.ranks)),
    };
    binomial.into_iter().chain(bine).collect()
}

fn butterflies(collective: Collective, setting: Setting) -> Vec<Competitor> {
    let Some(rounds) = butterfly::rounds(setting.ranks) else {
        return Vec::new();
    };
    let algorithms = butterfly::of(collective).iter();
    let competitors = algorithms.map(|&(name, pairs, of_rank)| {
        let butterfly = Butterfly { rounds, pairs };
        Competitor::new(name, setting, move |rank, program| {
            of_rank(butterfly, setting, rank, program);
        })
    });
    competitors.collect()
}
