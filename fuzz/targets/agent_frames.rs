//! What an agent on another host sends mpiexec: noise of its login, frames, and what they say.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The launcher is a program, not a library: these are taken by their files.
#[allow(dead_code)]
#[path = "../../crates/library/launch/mpiexec/src/agent/codec.rs"]
mod codec;
#[allow(dead_code)]
#[path = "../../crates/library/launch/mpiexec/src/agent/frame.rs"]
mod frame;
#[allow(dead_code)]
#[path = "../../crates/library/launch/mpiexec/src/agent/up.rs"]
mod up;

fuzz_target!(|data: &[u8]| {
    let Some((&piece, bytes)) = data.split_first() else {
        return;
    };
    let mut decoder = frame::Decoder::default();
    if piece % 2 == 0 {
        decoder.push(&frame::preamble());
    }
    for bytes in bytes.chunks(usize::from(piece / 2) + 1) {
        decoder.push(bytes);
        loop {
            match decoder.next() {
                Ok(Some(frame)) => check(&frame),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
});

/// What is understood is written as it was read, but for numbers that were longer than they had to be.
fn check(read: &frame::Frame) {
    if let Some(up) = codec::decode::<up::Up>(&read.body) {
        let written = codec::frame(read.host, &up).body;
        let again: up::Up = codec::decode(&written).expect("what is written reads back");
        assert_eq!(codec::frame(read.host, &again).body, written);
    }
}
