//! What a responder remembers beside its unsent answers, as words: an XRC target is now one process serves it, now another.
//!
//! Answers are left out. What is lost of them with a process that died is what a wire may lose: the requester asks again.

use std::collections::VecDeque;

use super::{Message, Responder, ResponderConfig};
use crate::host::{Receive, Region};
use crate::link::Link;
use crate::sequence::Sequence;

/// READs and atomics that a peer may have under way at most.
const MOST_ATOMICS: usize = 16;

const HEAD: usize = 11;

/// Words that a responder can go on from.
pub type SavedResponder = [u64; HEAD + 2 * MOST_ATOMICS];

const NONE: u64 = 0;
const SEND: u64 = 1;
const WRITE: u64 = 2;

const NAK_SENT: u64 = 1 << 32;
const FAILED: u64 = 1 << 33;

impl Responder {
    pub fn save(&self) -> SavedResponder {
        let mut saved: SavedResponder = [0; HEAD + 2 * MOST_ATOMICS];
        let nak = if self.nak_sent { NAK_SENT } else { 0 };
        let failed = if self.failed { FAILED } else { 0 };
        let message = match &self.message {
            None => [NONE, 0, 0, 0, 0, 0],
            Some(Message::Send { receive, filled }) => {
                [SEND, receive.token, receive.capacity, *filled, 0, 0]
            }
            Some(Message::Write { region, written }) => [
                WRITE,
                u64::from(region.rkey),
                region.address,
                region.length,
                region.srq.map_or(0, |srq| u64::from(srq) + 1),
                *written,
            ],
        };
        saved[..4].copy_from_slice(&[
            u64::from(self.sequence.psn(0)),
            self.expected,
            u64::from(self.msn) | nak | failed,
            self.reads_end,
        ]);
        saved[4..10].copy_from_slice(&message);
        // The youngest, should there ever be more than have room.
        let skipped = self.atomics.len().saturating_sub(MOST_ATOMICS);
        saved[10] = (self.atomics.len() - skipped) as u64;
        let results = self.atomics.iter().skip(skipped);
        for (words, (position, original)) in saved[HEAD..].chunks_exact_mut(2).zip(results) {
            words.copy_from_slice(&[*position, *original]);
        }
        saved
    }

    pub fn resume(link: Link, config: ResponderConfig, saved: &SavedResponder) -> Responder {
        let [psn, expected, flags, reads_end, message @ ..] = saved;
        let [kind, a, b, c, d, e, count, ..] = *message;
        let message = match kind {
            SEND => Some(Message::Send {
                receive: Receive {
                    token: a,
                    capacity: b,
                },
                filled: c,
            }),
            WRITE => Some(Message::Write {
                region: Region {
                    rkey: a as u32,
                    address: b,
                    length: c,
                    srq: d.checked_sub(1).map(|srq| srq as u32),
                },
                written: e,
            }),
            _ => None,
        };
        let results = saved[HEAD..].chunks_exact(2).take(count as usize);
        let atomics: VecDeque<_> = results.map(|words| (words[0], words[1])).collect();
        Responder {
            sequence: Sequence::new(*psn as u32),
            expected: *expected,
            msn: *flags as u32,
            message,
            nak_sent: flags & NAK_SENT != 0,
            failed: flags & FAILED != 0,
            atomics,
            reads_end: *reads_end,
            ..Responder::new(link, config)
        }
    }
}
