//! Each host's ranks tell its leader that they have come, the leaders meet, and each tells its host that all have come.
//!
//! Between hosts there are as many rounds as the leaders' barrier has, within a host one step or tree each way.

use crate::channel::{ROUNDS, Speaker};
use crate::memory::NOTHING;
use crate::tree::Subtree;
use crate::{Channel, PointToPoint, flat};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) {
    let host = channel.within_host();
    arrive(&host).await;
    if let Some(leaders) = channel.across(Speaker::At(0)) {
        channel.keep(flat::barrier::barrier(&leaders).await);
    }
    release(&host).await;
}

/// The leader, rank 0, learns that all have come.
async fn arrive<P: PointToPoint>(host: &Channel<'_, P>) {
    match host.arena() {
        Some(_) => host.steps().tell(0).await.unwrap_or(()),
        None => arrive_up_tree(host).await,
    }
}

/// All learn that the leader has come so far.
async fn release<P: PointToPoint>(host: &Channel<'_, P>) {
    match host.arena() {
        Some(_) => host.steps().hear_of(0).await.unwrap_or(()),
        None => release_down_tree(host).await,
    }
}

async fn arrive_up_tree<P: PointToPoint>(host: &Channel<'_, P>) {
    let subtree = Subtree::new(host, 0);
    let mut requests = [None; ROUNDS];
    for (child, request) in subtree.children().zip(&mut requests) {
        *request = host.receive(host.after(child.start), NOTHING);
    }
    host.wait_all(&requests).await;
    if let Some(parent) = subtree.parent {
        host.wait(host.send(host.before(parent), NOTHING)).await;
    }
}

async fn release_down_tree<P: PointToPoint>(host: &Channel<'_, P>) {
    let subtree = Subtree::new(host, 0);
    if let Some(parent) = subtree.parent {
        host.wait(host.receive(host.before(parent), NOTHING)).await;
    }
    let mut requests = [None; ROUNDS];
    for (child, request) in subtree.children().rev().zip(&mut requests) {
        *request = host.send(host.after(child.start), NOTHING);
    }
    host.wait_all(&requests).await;
}
