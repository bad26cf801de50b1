//! Figures 5 and 6 of the X-SRQ paper, from the accounts of our own pools, beside the pools that were asked for.

use weft_pools::{PoolKind, Pools};

use super::question::{Question, account};
use crate::bench::plot::{Chart, Curve, Panel};

/// Bars of the figures.
const COUNTS: [u64; 4] = [1, 2, 4, 8];

pub fn chart(question: &Question<'_>) -> Chart {
    let pool_counts = |kind| by_pools(question, kind);
    Chart {
        title: "receive pools".into(),
        about: format!("Memory of a node's queue pairs; {}", question.pools),
        machine: format!(
            "counted, at {} bytes a queue pair; Figures 5 and 6 as in Shipman et al. 2008",
            question.queue_pair_bytes
        ),
        panels: vec![
            specified(question),
            by_ranks(question, PoolKind::Shared),
            by_ranks(question, PoolKind::Xrc),
            pool_counts(PoolKind::Shared),
            pool_counts(PoolKind::Xrc),
        ],
    }
}

fn specified(question: &Question<'_>) -> Panel {
    let pools = question.pools;
    let kinds = [
        ("as specified", pools.clone()),
        ("all S", pools.all_of(PoolKind::Shared)),
        ("all X", pools.all_of(PoolKind::Xrc)),
    ];
    let curves = kinds
        .iter()
        .map(|(name, pools)| ((*name).to_owned(), points(question, pools, question.ppn)));
    panel(
        question,
        format!("these pools, {} ranks a node", question.ppn),
        curves.collect(),
    )
}

/// Figure 5: one pool, and more and more ranks on a node.
fn by_ranks(question: &Question<'_>, kind: PoolKind) -> Panel {
    let pools = alike(kind, 1);
    let ranks = COUNTS.into_iter().filter(|ranks| *ranks <= question.ppn);
    let curve = |ranks| (format!("{ranks} PPN"), points(question, &pools, ranks));
    panel(
        question,
        format!("Figure 5: {}, one pool", name(kind)),
        ranks.map(curve).collect(),
    )
}

/// Figure 6: as many ranks as were asked for, and more and more pools.
fn by_pools(question: &Question<'_>, kind: PoolKind) -> Panel {
    let curve = |count| {
        let pools = alike(kind, count);
        let name = match count {
            1 => "1 pool".to_owned(),
            _ => format!("{count} pools"),
        };
        (name, points(question, &pools, question.ppn))
    };
    panel(
        question,
        format!("Figure 6: {}, {} PPN", name(kind), question.ppn),
        COUNTS.into_iter().map(curve).collect(),
    )
}

fn name(kind: PoolKind) -> &'static str {
    match kind {
        PoolKind::PerPeer | PoolKind::Shared => "connections (S)",
        PoolKind::Xrc => "XRC (X)",
    }
}

/// So many pools of one kind. Their sizes do not matter to queue pairs.
fn alike(kind: PoolKind, count: u64) -> Pools {
    let one = |i: u64| format!("{},{i}k,8", kind.letter());
    let text: Vec<String> = (1..=count).map(one).collect();
    text.join(":").parse().expect("sizes ascend")
}

/// MiB by number of nodes.
fn points(question: &Question<'_>, pools: &Pools, ranks_a_node: u64) -> Vec<(u64, f64)> {
    let point = |nodes: u64| {
        let queue_pairs = account(pools, nodes, ranks_a_node).queue_pairs();
        let bytes = queue_pairs as f64 * question.queue_pair_bytes as f64;
        (nodes, bytes / f64::from(1 << 20))
    };
    question.sizes().into_iter().map(point).collect()
}

type Points = Vec<(u64, f64)>;

fn panel(question: &Question<'_>, title: String, curves: Vec<(String, Points)>) -> Panel {
    // The first look is the floor's.
    let curve = |(index, (name, points)): (usize, (String, Points))| Curve {
        name,
        look: index + 1,
        points,
        stopped: None,
    };
    Panel {
        title,
        x_label: "nodes".into(),
        y_label: "memory of queue pairs (MiB)".into(),
        points: question.sizes(),
        is_percentage: false,
        curves: curves.into_iter().enumerate().map(curve).collect(),
    }
}
