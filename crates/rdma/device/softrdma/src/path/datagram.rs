//! Datagrams to queue pairs of the same host, one or all of a multicast group.
//!
//! What does not find its target, or no receive request, or brings a wrong Q_Key, is lost, and the sender does not hear of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::between_hosts::datagrams;
use super::delivery::{Delivered, deliver};
use super::execute::{Outcome, Requester};
use super::multicast;
use super::pieces::Pieces;
use super::proxied_step::ProxiedStep;
use super::queue_pair::QueuePair;
use super::receiver::Message;
use super::request::{AddressVector, Datagram, Operation, Payload, Target};
use crate::fabric::{Number, Peer};
use crate::identity::{Host, gid, is_multicast};

/// The largest datagram: the port's MTU.
pub const MAX_BYTES: u64 = 4096;

/// The header before the payload.
const GRH_BYTES: usize = 40;

/// A Q_Key with this bit set stands for the queue pair's own (InfiniBand Architecture 1.6, §10.2.5).
const OWN_QKEY: u32 = 1 << 31;

pub fn send(
    qp: &'static QueuePair,
    requester: &Requester<'_>,
    payload: Payload<'_>,
    proxied: Option<&mut ProxiedStep>,
) -> Outcome {
    let Target::Datagram(datagram) = requester.request.target else {
        return Outcome::Failed(IBV_WC_LOC_QP_OP_ERR);
    };
    let bytes = requester.local.bytes();
    if bytes > MAX_BYTES {
        return Outcome::Failed(IBV_WC_LOC_LEN_ERR);
    }
    let Some(ah) = datagram.vector else {
        return Outcome::Failed(IBV_WC_LOC_QP_OP_ERR);
    };
    if !requester.process.link_is_up(qp.device) {
        return Outcome::Done(bytes);
    }
    let gid = ah.attributes.grh.dgid.bytes();
    if ah.attributes.is_global != 0 && is_multicast(gid) {
        to_group(qp, requester, &datagram, ah);
        return Outcome::Done(bytes);
    }
    match ah.host {
        Host::Own => {
            let number = Number::from_bits(datagram.remote_qpn);
            match requester.process.fabric.peer(number.slot()) {
                Some(peer) => {
                    let address = (number, qkey(qp, &datagram));
                    to_one(qp, requester, address, ah, &peer, proxied)
                }
                None => Outcome::Done(bytes),
            }
        }
        Host::At(remote) => {
            let qkey = qkey(qp, &datagram);
            datagrams::send(qp, requester, payload, &datagram, qkey, remote)
        }
        Host::Nowhere => Outcome::Done(bytes),
    }
}

fn qkey(qp: &QueuePair, datagram: &Datagram) -> u32 {
    match datagram.remote_qkey & OWN_QKEY {
        0 => datagram.remote_qkey,
        _ => qp.record().qkey.load(Ordering::Relaxed),
    }
}

fn to_one(
    qp: &'static QueuePair,
    requester: &Requester<'_>,
    (number, qkey): (Number, u32),
    ah: &AddressVector,
    peer: &Arc<Peer>,
    proxied: Option<&mut ProxiedStep>,
) -> Outcome {
    let bytes = requester.local.bytes();
    let header = header(qp, requester, ah, bytes);
    let mut whole = Pieces::of_bytes(&header);
    for piece in requester.local.list() {
        whole.push(piece.address, piece.length);
    }
    let delivered = Delivered {
        message: &message(requester, ah),
        number,
        qkey,
    };
    let process = requester.process;
    match (
        deliver(process, peer, &delivered, &whole, requester.patience),
        proxied,
    ) {
        (Outcome::ByAgent, Some(proxied)) => {
            proxied.send_datagram(requester, peer.clone(), &delivered, &whole)
        }
        (outcome @ (Outcome::ByAgent | Outcome::Again), _) => outcome,
        _ => Outcome::Done(bytes),
    }
}

fn message(requester: &Requester<'_>, ah: &AddressVector) -> Message {
    let with_immediate = requester.request.operation == Operation::SendWithImmediate;
    let grh = if ah.attributes.is_global != 0 {
        IBV_WC_GRH
    } else {
        0
    };
    let imm = if with_immediate { IBV_WC_WITH_IMM } else { 0 };
    Message {
        opcode: IBV_WC_RECV,
        wc_flags: grh | imm,
        immediate: requester.request.immediate,
        src_qp: requester.qpn,
        slid: requester.lid,
        sl: ah.attributes.sl,
        solicited: requester.request.has(IBV_SEND_SOLICITED),
        byte_len: (requester.local.bytes() + GRH_BYTES as u64) as u32,
    }
}

/// The global routing header (InfiniBand Architecture 1.6, §8.3); zeros where there is none.
fn header(
    qp: &QueuePair,
    requester: &Requester<'_>,
    ah: &AddressVector,
    bytes: u64,
) -> [u8; GRH_BYTES] {
    /// Of what follows: the base transport header.
    const NEXT_HEADER: u8 = 0x1b;
    /// Transport headers and the invariant CRC around the payload.
    const AROUND: u64 = 12 + 8 + 4;
    let mut header = [0; GRH_BYTES];
    let route = &ah.attributes.grh;
    if ah.attributes.is_global == 0 {
        return header;
    }
    let config = requester.process.config;
    let device = qp.device;
    let first = 6 << 28 | u32::from(route.traffic_class) << 20 | route.flow_label & 0xf_ffff;
    header[0..4].copy_from_slice(&first.to_be_bytes());
    let length = (bytes.next_multiple_of(4) + AROUND) as u16;
    header[4..6].copy_from_slice(&length.to_be_bytes());
    header[6] = NEXT_HEADER;
    header[7] = route.hop_limit;
    let source = gid(config, device, u32::from(route.sgid_index)).unwrap_or_default();
    header[8..24].copy_from_slice(&source);
    header[24..40].copy_from_slice(&route.dgid.bytes());
    header
}

/// Gives each member on this host its copy. A member that is busy loses it, as in a switch that is.
fn to_group(
    qp: &'static QueuePair,
    requester: &Requester<'_>,
    datagram: &Datagram,
    ah: &AddressVector,
) {
    let group = ah.attributes.grh.dgid.bytes();
    let fabric = requester.process.fabric;
    for entry in fabric.processes().living() {
        let slot = entry.owner.slot();
        let Some(peer) = fabric.peer(slot) else {
            continue;
        };
        // QPNs 0 and 1 are nobody's; records are used in order, so the first that never was ends the table.
        for index in 2..=u16::MAX {
            let record = peer.segment().qp(index);
            if record.generation.load(Ordering::Acquire) == 0 {
                break;
            }
            let number = Number::new(slot, index);
            if multicast::contains(record, group) && number != qp.number {
                let mut proxied = ProxiedStep::default();
                let address = (number, qkey(qp, datagram));
                let _ = to_one(qp, requester, address, ah, &peer, Some(&mut proxied));
                proxied.let_go();
            }
        }
    }
}
