//! What a send queue does to its own adapter: binding memory windows, and invalidating them.
//!
//! A window can be bound to a region that allows it, within the region's range, and gives no right to write that the region does not
//! have (InfiniBand Architecture 1.6, §10.6.7.2).

use weft_verbs_abi::*;

use super::execute::Outcome;
use super::memory::nothing;
use super::queue_pair::QueuePair;
use super::request::{Binding, Request, Target};
use crate::fabric::{Region, own_region};
use crate::users::UseGuard;

pub fn execute(qp: &QueuePair, request: &Request) -> Outcome {
    let done = match request.target {
        Target::Binding(binding) => bind(qp, &binding),
        _ => invalidate(qp, request.immediate),
    };
    match done {
        Some(()) => Outcome::Done(0),
        None => Outcome::Failed(IBV_WC_MW_BIND_ERR),
    }
}

fn bind(qp: &QueuePair, binding: &Binding) -> Option<()> {
    let window = binding.window;
    if window.pd_key != qp.pd_key || binding.rkey >> 8 != window.key() >> 8 {
        return None;
    }
    if binding.length == 0 {
        return window
            .rebind(binding.rkey, &nothing(window.pd_key), None)
            .ok();
    }
    let memory = binding.region?;
    let region = covered(&memory.region(), binding, qp)?;
    let region = Region {
        qpn: (window.kind == IBV_MW_TYPE_2).then(|| qp.number.bits()),
        ..region
    };
    window
        .rebind(binding.rkey, &region, Some(UseGuard::new(&memory.users)))
        .ok()
}

/// The part of a region that a window is to cover.
fn covered(region: &Region, binding: &Binding, qp: &QueuePair) -> Option<Region> {
    let changes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    let access = binding.access;
    if region.access & IBV_ACCESS_MW_BIND == 0
        || access & changes != 0 && region.access & IBV_ACCESS_LOCAL_WRITE == 0
    {
        return None;
    }
    let span = region
        .span(binding.address, binding.length, qp.pd_key, 0)
        .ok()?;
    Some(Region {
        address: span.address,
        length: span.length,
        iova: if access & IBV_ACCESS_ZERO_BASED != 0 {
            0
        } else {
            binding.address
        },
        access,
        pd: region.pd,
        segment_offset: span.segment_offset,
        qpn: None,
    })
}

/// Takes back the key of a window of type 2 that is bound to this queue pair.
fn invalidate(qp: &QueuePair, key: u32) -> Option<()> {
    let process = qp.process;
    let region = own_region(process.own_segment().segment(), key)?;
    if region.qpn != Some(qp.number.bits()) {
        return None;
    }
    let window = process.windows.at(key >> 8)?;
    window.rebind(key, &nothing(window.pd_key), None).ok()
}
