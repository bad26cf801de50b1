//! A message in blocks over a circulant graph (Träff, *Optimal broadcast schedules in logarithmic time*, 2024): in each round each rank
//! receives a block and passes one on, so that n blocks come to p ranks in n - 1 + log2 p rounds, however many ranks there are.

mod schedule;

use crate::cost::{Work, doublings, pass};
use crate::memory::window;
use crate::select;
use crate::steps::slice;
use crate::{Channel, PointToPoint};
use schedule::Schedule;
use weft_memory::Memory;

/// Bytes of the shortest blocks there are, whatever the prices: no network takes less time for fewer.
const SHORTEST: usize = 64;

/// In how many blocks a message goes: as many as make what passes while the first block spreads as long as the rounds that they add.
fn blocks(ranks: usize, bytes: usize) -> usize {
    let behind = (doublings(ranks) - 1.0) * bytes as f64;
    let blocks = (behind / select::round_bytes()).sqrt().round() as usize;
    blocks.clamp(1, bytes.div_ceil(SHORTEST).max(1))
}

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let ranks = channel.size();
    let blocks = blocks(ranks, memory.bytes);
    let schedule = Schedule::new(ranks, blocks, channel.before(root));
    let block = |number| window(memory, slice(memory.bytes, number, blocks));
    let receive = |round: usize| {
        let taken = schedule.taken(round)?;
        channel.receive(channel.before(schedule.distance(round)), block(taken))
    };
    let mut incoming = receive(0);
    let mut outgoing = None;
    for round in 0..schedule.rounds() {
        let given = schedule.given(round);
        let next = given
            .and_then(|given| channel.send(channel.after(schedule.distance(round)), block(given)));
        let following = receive(round + 1);
        channel.wait(incoming).await;
        channel.wait(outgoing).await;
        (incoming, outgoing) = (following, next);
    }
    channel.wait(outgoing).await;
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let blocks = blocks(ranks, bytes as usize);
    let further = (blocks - 1) as f64;
    Work::alike((further + doublings(ranks)) * pass(bytes / blocks as f64))
}
