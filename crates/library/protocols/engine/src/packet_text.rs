//! A packet in words, for the lines of a trace (`weft_transport::tracer`).

use weft_transport::Header;
use weft_wire::{
    ANSWER_BYTES, Body, CTS_BYTES, ENQUIRY_BYTES, Entries, FORGOTTEN, OF_SENDER, Packet,
    PacketKind, RTS_ONLY_BYTES, Rts, SYNCHRONOUS, View,
};

/// What a packet says: one text for it, and one more for each message of an aggregate. What makes no sense is told as such.
pub fn describe_packet(header: Header, payload: &[u8]) -> Vec<String> {
    let Some(packet) = View(header.0).packet() else {
        return vec![nonsense(header, payload)];
    };
    let texts = match packet.kind {
        PacketKind::Aggregate => aggregate(payload),
        _ => text(&packet, payload).map(|text| vec![text]),
    };
    texts.unwrap_or_else(|| vec![nonsense(header, payload)])
}

fn nonsense(header: Header, payload: &[u8]) -> String {
    let ([low, high], bytes) = (header.0, payload.len());
    format!("nonsense header={low:#018x},{high:#018x} bytes={bytes}")
}

fn aggregate(payload: &[u8]) -> Option<Vec<String>> {
    let mut texts = vec![String::new()];
    for entry in Entries::new(payload) {
        let entry = entry.ok()?;
        let packet = View(entry.header).packet()?;
        let message = text(&packet, entry.payload)?;
        texts.push(format!("{message} aggregated"));
    }
    let (messages, bytes) = (texts.len() - 1, payload.len());
    texts[0] = format!("aggregate messages={messages} bytes={bytes}");
    Some(texts)
}

/// Of any packet but an aggregate.
fn text(packet: &Packet, payload: &[u8]) -> Option<String> {
    let synchronous = packet.flags & SYNCHRONOUS != 0;
    Some(match packet.kind {
        PacketKind::Eager if synchronous => {
            let (Body([sender]), rest) = Body::<1>::split(payload)?;
            let message = message("eager", packet, rest.len() as u64);
            format!("{message} sender={sender:#x} synchronous")
        }
        PacketKind::Eager => message("eager", packet, payload.len() as u64),
        PacketKind::Rts => {
            let Rts {
                cookie: sender,
                bytes,
                ..
            } = Rts::parse(payload)?;
            let message = message("RTS", packet, bytes);
            let synchronous = if synchronous { " synchronous" } else { "" };
            format!("{message} sender={sender:#x}{synchronous}")
        }
        PacketKind::RtsOnly => {
            let Body([sender, bytes]) = Body::<{ RTS_ONLY_BYTES / 8 }>::whole(payload)?;
            format!("{} sender={sender:#x}", message("RTS-only", packet, bytes))
        }
        PacketKind::Failed => {
            let Body([number]) = Body::whole(payload)?;
            format!("{} number={number}", message("failed", packet, 0))
        }
        PacketKind::Cts => {
            let Body([sender, receiver]) = Body::<{ CTS_BYTES / 8 }>::whole(payload)?;
            format!("CTS sender={sender:#x} receiver={receiver:#x}")
        }
        PacketKind::Data => {
            let (Body([receiver]), rest) = Body::<1>::split(payload)?;
            format!("data receiver={receiver:#x} bytes={}", rest.len())
        }
        PacketKind::Ack => format!("Ack sender={:#x}", cookie(payload)?),
        PacketKind::Cancel => format!("cancel sender={:#x}", cookie(payload)?),
        PacketKind::Cancelled => {
            let was = match packet.flags & FORGOTTEN {
                0 => "too-late",
                _ => "forgotten",
            };
            format!("cancelled sender={:#x} {was}", cookie(payload)?)
        }
        PacketKind::Enquiry => {
            let Body([cookie, ..]) = Body::<{ ENQUIRY_BYTES / 8 }>::whole(payload)?;
            let whose = match packet.flags & OF_SENDER {
                0 => "receiver",
                _ => "sender",
            };
            format!("{} {whose}={cookie:#x}", message("enquiry", packet, 0))
        }
        PacketKind::Answer => {
            let Body([receiver, number]) = Body::<{ ANSWER_BYTES / 8 }>::whole(payload)?;
            format!("answer receiver={receiver:#x} number={number}")
        }
        PacketKind::Notice => {
            let (context, bytes) = (packet.context, payload.len());
            format!("notice context={context} bytes={bytes}")
        }
        PacketKind::Aggregate => return None,
    })
}

fn cookie(payload: &[u8]) -> Option<u64> {
    let Body([cookie]) = Body::whole(payload)?;
    Some(cookie)
}

/// An envelope, by what it is called.
fn message(kind: &str, packet: &Packet, bytes: u64) -> String {
    let Packet {
        context,
        source,
        tag,
        ..
    } = packet;
    format!("{kind} context={context} source={source} tag={tag} bytes={bytes}")
}
