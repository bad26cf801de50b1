//! What two sides of a connection in the making say to each other (librdmacm).
#![no_main]

use libfuzzer_sys::fuzz_target;

// The library has no Rust interface: its messages are taken by their file.
#[allow(dead_code)]
#[path = "../../crates/rdma/device/softrdma-cm/src/message.rs"]
mod message;

fuzz_target!(|data: &[u8]| {
    let mut bytes = [0; message::LEN];
    let length = data.len().min(bytes.len());
    bytes[..length].copy_from_slice(&data[..length]);
    if let Some(read) = message::Message::decode(&bytes) {
        assert!(read.private.len() <= message::PRIVATE_MAX);
        assert_eq!(message::Message::decode(&read.encode()), Some(read));
    }
});
