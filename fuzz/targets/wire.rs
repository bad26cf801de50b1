//! The engine's headers and payloads: a view that says a header is valid says what the header says, and entries of an
//! aggregate lie inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_wire::{Body, Entries, View, entry_bytes};

fuzz_target!(|data: &[u8]| {
    let Some((Body(words), payload)) = Body::<2>::split(data) else {
        return;
    };
    let view = View(words);
    if let Some(packet) = view.packet() {
        assert_eq!(packet.words(), words);
        assert_eq!(Some(packet.kind), view.kind());
        assert_eq!((packet.source, packet.context, packet.tag), view.address());
    } else {
        assert!(!view.is_plain_eager());
    }
    let mut taken = 0;
    for entry in Entries::new(payload).flatten() {
        taken += entry_bytes(entry.payload.len());
        assert!(taken <= payload.len());
    }
});
