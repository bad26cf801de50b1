//! The port on real sockets: in one process, between processes, between hosts (network namespaces).
//!
//! Addresses are of 127/8, made from the process id, so that tests beside each other do not meet.

mod hosts;
mod node;
mod relaying;
mod trains;

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU8, Ordering};

/// An address of this test process that no other test has.
fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let id = std::process::id().to_be_bytes();
    let last = NEXT.fetch_add(1, Ordering::Relaxed);
    Ipv4Addr::new(127, 64 | id[2] & 63, id[3], last)
}
