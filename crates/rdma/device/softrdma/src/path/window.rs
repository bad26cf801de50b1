//! What a send queue does to its own adapter: binding memory windows, and invalidating them.
//!
//! A window can be bound to a region that allows it, within the region's range, and gives no right to write that the region does not
//! have (InfiniBand Architecture 1.6, §10.6.7.2).

use weft_verbs_abi::*;

use super::execute::Outcome;
use super::request::{Binding, Request, Target};
use crate::fabric::{Region, own_region};
use crate::verbs::{Mr, Mw, Qp, Stand, nothing};

pub fn execute(qp: &Qp, request: &Request) -> Outcome {
    let done = match request.target {
        Target::Binding(binding) => bind(qp, &binding),
        _ => invalidate(qp, request.immediate),
    };
    match done {
        Some(()) => Outcome::Done(0),
        None => Outcome::Failed(IBV_WC_MW_BIND_ERR),
    }
}

fn bind(qp: &Qp, binding: &Binding) -> Option<()> {
    let info = &binding.info;
    // SAFETY: the application keeps both until the request has ended.
    let mw = unsafe { Mw::from_abi(binding.mw) };
    if mw.pd_key != qp.pd_key || binding.rkey >> 8 != mw.key() >> 8 {
        return None;
    }
    if info.length == 0 {
        return mw.rebind(binding.rkey, &nothing(mw.pd_key), None).ok();
    }
    if info.mr.is_null() {
        return None;
    }
    // SAFETY: as above.
    let mr = unsafe { Mr::from_abi(info.mr) };
    let region = covered(&mr.region(), info, qp)?;
    let region = Region {
        qpn: (mw.kind == IBV_MW_TYPE_2).then(|| qp.number.bits()),
        ..region
    };
    mw.rebind(binding.rkey, &region, Some(Stand::on(&mr.users)))
        .ok()
}

/// The part of a region that a window is to cover.
fn covered(region: &Region, info: &ibv_mw_bind_info, qp: &Qp) -> Option<Region> {
    let changes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    let access = info.mw_access_flags;
    if region.access & IBV_ACCESS_MW_BIND == 0
        || access & changes != 0 && region.access & IBV_ACCESS_LOCAL_WRITE == 0
    {
        return None;
    }
    let span = region.span(info.addr, info.length, qp.pd_key, 0).ok()?;
    Some(Region {
        address: span.address,
        length: span.length,
        iova: if access & IBV_ACCESS_ZERO_BASED != 0 {
            0
        } else {
            info.addr
        },
        access,
        pd: region.pd,
        place: span.place,
        qpn: None,
    })
}

/// Takes back the key of a window of type 2 that is bound to this queue pair.
fn invalidate(qp: &Qp, key: u32) -> Option<()> {
    let process = qp.context.process;
    let region = own_region(process.home().segment(), key)?;
    if region.qpn != Some(qp.number.bits()) {
        return None;
    }
    let mw = process.windows.at(key >> 8)?;
    mw.rebind(key, &nothing(mw.pd_key), None).ok()
}
