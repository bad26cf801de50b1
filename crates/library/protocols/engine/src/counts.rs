//! What the engine counts of its work.

use std::sync::atomic::Ordering;

use weft_transport::Fabric;

use crate::engine::Engine;
use crate::tally::Tally;

/// What a process has done since its start, all lanes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What the lanes count themselves.
    pub tally: Tally,
    /// Lanes that are in use.
    pub lanes: u64,
    /// Unexpected messages that are here now.
    pub unexpected_now: u64,
    /// Payload stored for them.
    pub unexpected_bytes_now: u64,
    /// Receives that are posted now.
    pub posted_now: u64,
    /// Operations on the matching tables.
    pub matching_operations: u64,
    /// Buckets and cells that they looked at.
    pub matching_steps: u64,
    /// As many as the operation with most of them.
    pub matching_steps_max: u64,
    /// How often a thread slept in a wait.
    pub sleeps: u64,
    /// How often the background thread woke.
    pub background_wakes: u64,
}

impl<F: Fabric> Engine<F> {
    /// The counts. Enters each lane, waiting for the holder.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            sleeps: self.watch.sleeps.load(Ordering::Relaxed),
            background_wakes: self.watch.background_wakes.load(Ordering::Relaxed),
            ..Counts::default()
        };
        for lane in self.lanes.made() {
            let state = lane.enter_soon();
            let core = &state.core;
            let steps = core.matching.steps();
            counts.tally += core.tally;
            counts.lanes += 1;
            counts.unexpected_now += core.matching.unexpected_len() as u64;
            counts.unexpected_bytes_now += core.throttle.totals().0;
            counts.posted_now += core.matching.posted_len() as u64;
            counts.matching_operations += steps.operations;
            counts.matching_steps += steps.total;
            counts.matching_steps_max = counts.matching_steps_max.max(steps.max.into());
            self.leave(lane, state);
        }
        counts
    }

    /// Calls for each lane's endpoint, waiting for the holder.
    pub fn each_endpoint(&self, mut what: impl FnMut(&F::Endpoint)) {
        for lane in self.lanes.made() {
            let state = lane.enter_soon();
            what(&state.endpoint);
            self.leave(lane, state);
        }
    }

    /// The contexts of receives that are posted and of messages that are not received yet, in no order and as often as
    /// they are there. Enters each lane, waiting for the holder.
    pub fn waiting_contexts(&self) -> Vec<u32> {
        let mut contexts = Vec::new();
        for lane in self.lanes.made() {
            let state = lane.enter_soon();
            let matching = &state.core.matching;
            contexts.extend(
                matching
                    .posted_iter()
                    .map(|(_, pattern, _)| pattern.context),
            );
            let unexpected = matching.unexpected_iter();
            contexts.extend(unexpected.map(|(_, envelope, _)| envelope.context));
            self.leave(lane, state);
        }
        contexts
    }
}
