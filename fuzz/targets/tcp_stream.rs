//! What a peer sends over TCP, from its card and the handshake to frames and bulk data: whatever that is, it is taken or ends the peer,
//! memory beside the targets is not touched, and what is kept has a bound.
//!
//! The input begins with a byte that says whether it is a handshake; else it is a list of steps: bytes come on one of the
//! connections, a transfer is taken up, one is opened, and perhaps is under way in stripes, or the newest is taken back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_fuzz::Input;
use weft_memory::Memory;
use weft_tcp::fuzzed::{Connection, Streams, handshake};
use weft_transport::{Cookie, Header, Lost, Peer, Sink};

const TARGET_BYTES: usize = 512;
/// Steps from this on are about stripes.
const STRIPED: u8 = 128;
/// Long enough to go in stripes; it is only read.
static SOURCE: [u8; 2 << 20] = [1; 2 << 20];
const GUARD: u8 = 0xa5;
/// What may be kept of one peer, unasked data and parts of frames.
const KEPT_BYTES: usize = (4 << 20) + (256 << 10);

struct Taken(usize);

impl Sink for Taken {
    fn packet(&mut self, from: Peer, _: Header, payload: &[u8]) {
        assert_eq!(from, 1);
        self.0 += payload.len();
    }
    fn sent(&mut self, _: Cookie) {}
    fn received(&mut self, _: Cookie) {}
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, _: &Lost) {}
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    if input.byte() == Some(b'h') {
        return handshake(input.0);
    }
    // Every target has its own place, with guards about it.
    let mut places = vec![GUARD; 16 * 2 * TARGET_BYTES];
    let mut used = Vec::new();
    let mut streams = Streams::default();
    let mut taken = Taken(0);
    while let Some(step) = input.byte() {
        let done = match step % 4 {
            lane_or_bulk @ (0 | 1) => {
                let connection = match (lane_or_bulk, step >= STRIPED) {
                    (0, _) => Connection::Packets,
                    (_, false) => Connection::Bulk,
                    (_, true) => Connection::Stripe,
                };
                let bytes = (input.number(2) as usize).min(input.0.len());
                let (now, rest) = input.0.split_at(bytes);
                input.0 = rest;
                streams.feed(connection, now, &mut taken)
            }
            2 if used.len() < 16 => {
                let words = [1, 2, 4, 1].map(|bytes| input.number(bytes));
                let bytes = input.number(2) as usize;
                let room = bytes.min(TARGET_BYTES);
                let begin = 2 * used.len() * TARGET_BYTES + TARGET_BYTES;
                used.push(begin..begin + room);
                let target = Memory::contiguous(places[begin..].as_mut_ptr(), room);
                // SAFETY: of memory that outlives the streams, each time another part of it.
                unsafe { streams.take_up(words, bytes, target) }.map_err(str::to_owned)
            }
            3 if step % 16 == 7 => {
                streams.cancel();
                Ok(())
            }
            _ => {
                let bytes = (input.number(3) as usize).min(SOURCE.len());
                let memory = Memory::contiguous(SOURCE.as_ptr().cast_mut(), bytes);
                // SAFETY: of memory that outlives the streams.
                unsafe {
                    match step >= STRIPED {
                        true => streams.open_striped(memory),
                        false => _ = streams.open(memory),
                    }
                }
                Ok(())
            }
        };
        assert!(streams.kept_bytes() <= KEPT_BYTES);
        if done.is_err() {
            break;
        }
    }
    drop(streams);
    let is_guard = |at: &usize| !used.iter().any(|range| range.contains(at));
    assert!(
        (0..places.len())
            .filter(is_guard)
            .all(|at| places[at] == GUARD)
    );
});
