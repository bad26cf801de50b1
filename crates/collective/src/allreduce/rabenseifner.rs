//! Reduce-scatter by recursive halving, then allgather by recursive doubling (Rabenseifner 2004): each rank
//! moves the vector about twice, however many ranks there are.

use crate::reduce::halving::{self, Folded};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) {
    let folded = Folded::new(channel.size());
    let (rank, output) = (channel.rank(), reduction.output());
    let Some(number) = folded.number(rank) else {
        channel
            .wait(channel.send(rank + 1, reduction.input().memory()))
            .await;
        return channel
            .wait(channel.receive(rank + 1, output.memory()))
            .await;
    };
    let mut scratch = reduction.scratch(1);
    let spare = reduction.in_scratch(&mut scratch, 0);
    reduction.input().copy_to(output);
    let held = halving::run(channel, reduction, &folded, number, output, spare).await;

    let mut round = folded.participants.ilog2() as usize;
    while round > 0 {
        round -= 1;
        let bit = 1 << round;
        let peer = folded.rank(number ^ bit);
        let (own, theirs) = halving::halve(&held[round], number, bit);
        channel
            .exchange(
                peer,
                output.part(own).memory(),
                peer,
                output.part(theirs).memory(),
            )
            .await;
    }
    if let Some(lower) = folded.folded(number) {
        channel.wait(channel.send(lower, output.memory())).await;
    }
}
