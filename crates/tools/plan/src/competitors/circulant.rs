//! Circulant graphs (Träff 2024): in round `k` each rank sends to the one `s(k)` after it, where the distances halve
//! the number of ranks over and over, rounded up. So any number of ranks needs no more rounds than a logarithm.

use weft_goal::Program;

use super::competitor::Competitor;
use super::pipelined::{best_blocks, blocks};
use super::setting::Setting;
use crate::Collective;

/// The distances from half of the ranks, rounded up, down to 1.
pub fn distances(ranks: usize) -> Vec<usize> {
    let halved = |distance: &usize| (*distance > 1).then(|| distance.div_ceil(2));
    std::iter::successors(Some(ranks), halved).skip(1).collect()
}

pub fn of(collective: Collective, setting: Setting) -> Option<Competitor> {
    let of_rank: fn(Setting, &[usize], usize, &mut Program) = match collective {
        Collective::Bcast => |setting, distances, rank, program| {
            in_blocks(setting, distances, rank, program, 0.0);
        },
        Collective::Reduce => |setting, distances, rank, program| {
            in_blocks(setting, distances, rank, program, setting.combine_byte_ns);
        },
        Collective::ReduceScatter => reduce_scatter,
        Collective::Allgather => |setting, distances, rank, program| {
            let bytes = setting.bytes * setting.ranks as u64;
            allgather(Setting { bytes, ..setting }, distances, rank, program);
        },
        Collective::Allreduce => |setting, distances, rank, program| {
            reduce_scatter(setting, distances, rank, program);
            allgather(setting, distances, rank, program);
        },
        Collective::Barrier
        | Collective::Gather
        | Collective::Scatter
        | Collective::Alltoall
        | Collective::Scan => return None,
    };
    let distances = distances(setting.ranks);
    Some(Competitor::new(
        "circulant",
        setting,
        move |rank, program| {
            of_rank(setting, &distances, rank, program);
        },
    ))
}

/// As many blocks as are best, one in a round, and as many rounds more as the ranks need. The first of these, in
/// which few ranks have a block, take as long as if all had: each rank is told to exchange in all of them.
fn in_blocks(
    setting: Setting,
    distances: &[usize],
    rank: usize,
    program: &mut Program,
    combine_byte_ns: f64,
) {
    let further = distances.len() - 1;
    let count = best_blocks(setting, further, combine_byte_ns);
    let bytes = blocks(setting, count);
    for round in 0..count + further {
        let distance = distances[distances.len() - 1 - round % distances.len()];
        let (to, from) = (
            setting.after(rank, distance),
            setting.before(rank, distance),
        );
        program.exchange((to, bytes), (from, bytes));
        program.calc((bytes as f64 * combine_byte_ns).round() as u64);
    }
}

fn reduce_scatter(setting: Setting, distances: &[usize], rank: usize, program: &mut Program) {
    let mut held = setting.ranks;
    for &distance in distances {
        let bytes = setting.cut(distance..held);
        let (to, from) = (
            setting.after(rank, distance),
            setting.before(rank, distance),
        );
        program.exchange((to, bytes), (from, bytes));
        program.calc(setting.combining_ns(bytes));
        held = distance;
    }
}

fn allgather(setting: Setting, distances: &[usize], rank: usize, program: &mut Program) {
    for (at, &distance) in distances.iter().enumerate().rev() {
        let then_held = match at {
            0 => setting.ranks,
            _ => distances[at - 1],
        };
        let bytes = setting.cut(distance..then_held);
        let (to, from) = (
            setting.before(rank, distance),
            setting.after(rank, distance),
        );
        program.exchange((to, bytes), (from, bytes));
    }
}
