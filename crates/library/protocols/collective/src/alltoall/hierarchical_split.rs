//! Each rank gives the one at each position of its host what is for the ranks at that position of all hosts; then those at one
//! position exchange what goes from host to host, as one message each. So a rank sends one message to each other host, and no
//! leader moves what is the others'.

use crate::channel::Speaker;
use crate::memory::{Parts, Scratch, copy, equal_part, window};
use crate::{Blocks, Channel, PointToPoint, flat};

/// All hosts have as many ranks, and all blocks are as long. Both may be the same blocks: those that are sent are packed before
/// others take their place.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let (count, positions) = (hosts.count(), host.size());
    let bytes = receive.block(channel.rank()).bytes;
    let all = bytes * channel.size();
    if all == 0 {
        return;
    }
    // Side by side: both parts of all blocks.
    let Some(scratch) = channel.room(Scratch::new(2 * all)) else {
        return;
    };
    let whole = scratch.memory(2 * all);
    let [first, second] = [0..all, all..2 * all].map(|part| window(&whole, part));
    let parts = |memory, parts| Parts {
        bytes: move |index| index * (all / parts)..(index + 1) * (all / parts),
        memory,
    };
    // A row has a block for each rank: by position and then by host, or by host and then by position.
    let by_position = |position, host| position * count + host;
    let by_host = |position, host| host * positions + position;
    let blocks =
        || (0..positions).flat_map(|position| (0..count).map(move |host| (position, host)));

    for (position, host) in blocks() {
        let block = send.block(hosts.rank_at(host, position));
        let place = equal_part(&first, by_position(position, host), channel.size());
        copy(&block, &place);
    }
    let (to, from) = (
        parts(first.clone(), positions),
        parts(second.clone(), positions),
    );
    channel.keep(flat::alltoall::alltoall(&host, Some(&to), &from).await);
    // From each position, what is for each host.
    for (position, host) in blocks() {
        let block = equal_part(&second, by_position(position, host), channel.size());
        let place = equal_part(&first, by_host(position, host), channel.size());
        copy(&block, &place);
    }
    if let Some(peers) = channel.across(Speaker::EachAt(host.rank())) {
        let (to, from) = (parts(first.clone(), count), parts(second.clone(), count));
        channel.keep(flat::alltoall::alltoall(&peers, Some(&to), &from).await);
    }
    // From each host, what each position of it has sent.
    for (position, host) in blocks() {
        let block = equal_part(&second, by_host(position, host), channel.size());
        copy(&block, &receive.block(hosts.rank_at(host, position)));
    }
}
