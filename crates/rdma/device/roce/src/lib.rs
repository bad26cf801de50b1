//! RoCEv2: queue pairs whose peer is on another host.
//!
//! The protocol opens no socket and reads no clock. A [`Connection`] is the wire half of one connected queue
//! pair (RC, UC, XRC); [`datagram`] is the whole of UD, which has no state. They reach memory, receive queues
//! and completion queues through the trait [`Host`], put what they send into a [`Batch`] and are told the time
//! in nanoseconds of any clock that does not go back. The [`Port`] beside them owns the UDP socket.
//!
//! ```text
//!   post_send ── post ──▶ Requester ─┐                   ┌─▶ Requester ── Host::send_done
//!                                    ├─▶ Batch ▶ Port    │      ▲ acknowledgements, read responses
//!   Responder ◀─ requests ── receive ◀─────── Port ◀─────┘      │
//!       └──────── responses ─────────┘ (transmit)
//! ```
//!
//! How a queue pair uses it; every call is made under the queue pair's lock, which the host holds:
//! ```text
//! modify_qp INIT→RTR   connection = Connection::new(Service::Reliable, path, responder parameters)
//! modify_qp RTR→RTS    connection.start_requester(requester parameters)
//! post_send            connection.post(work, &mut host); pump
//! a datagram arrives   port.receive(&mut inbox); for each of inbox: the queue pair of view.destination_qpn():
//!                      connection.receive(now, source, &view, &mut host); then pump: at once if the connection
//!                      is_urgent(), else when the inbox is empty or a good many packets have come
//! deadline() passed    connection.expire(now, &mut host); pump
//! to ERR               connection.flush(&mut host); what the peer must still hear (a NAK) goes out by pump
//! to RESET, destroyed  connection.part(&mut batch, &mut host); port.send(now, &mut batch)
//! pump                 while connection.transmit(now, &mut batch, &mut host) { port.send(now, &mut batch) }
//! ```
//! `transmit` says whether it put anything into the batch. Acknowledgements are coalesced between two calls of
//! it, so it is best called once for each inbox and not once for each packet. A connection that wants
//! to be called at a certain time says so by [`Connection::deadline`].
//!
//! Sources: InfiniBand Architecture Specification 1.4, volume 1, chapter 9 and annexes A14 (XRC), A17 (RoCEv2).

mod batch;
mod connection;
pub mod datagram;
mod host;
mod injector;
mod link;
pub mod packet;
mod port;
mod requester;
mod responder;
mod sequence;
pub mod timing;

#[cfg(test)]
mod tests;

pub use batch::{Arrival, Batch, Inbox};
pub use connection::Connection;
pub use host::{
    Access, Atomic, Fault, Host, Immediate, LocalError, Receive, ReceiveDone, ReceiveKind, Region,
    RemoteError, SendDone, Sge, Status,
};
pub use injector::{Injection, Injector};
pub use link::Path;
pub use packet::{MAX_MESSAGE_BYTES, Service, UDP_PORT};
pub use port::{Bundles, Port, PortConfig, SHARED_SLOT, path_mtu};
pub use requester::RequesterConfig;
pub use requester::work::{Operation, Payload, Work};
pub use responder::ResponderConfig;
pub use responder::saved::SavedResponder;
