//! What processes say to each other, as bytes. Numbers are little-endian.
//!
//! ```text
//!  0  magic 'W' 'X'   2  version 1   3  kind   4  serial: 8   12  from: 8   20  to: 8   28  the kind's own
//!  Make    send: 4, first packet: 4        Made     receive: 4, queues
//!  Open    send: 4, receive: 4             Opened   queues
//!  Close                                   Gone, Closed
//!                                          Refused  reason: 1
//!  queues  count: 1, for each: bytes: 4, number: 4
//! ```

use std::fmt;

use super::adapter::{Process, SendQueuePair, SharedQueue};
use crate::{LEAST_BYTES, MOST_BYTES, MOST_POOLS};

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub from: Process,
    pub to: Process,
    /// Of the request, also in its answer.
    pub serial: u64,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Request(Request),
    Answer(Answer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Make a receive queue pair for that send queue pair.
    Make(SendQueuePair),
    /// Refer to the one that another process of the host has made for it.
    Open { send: u32, receive: u32 },
    /// Drop the reference.
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Made {
        receive: u32,
        queues: Vec<SharedQueue>,
    },
    Opened {
        queues: Vec<SharedQueue>,
    },
    /// The receive queue pair is not there any more.
    Gone,
    Refused(Reason),
    Closed,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    NoResources,
    /// The process receives nothing any more.
    Leaving,
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a malformed datagram: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

const MAGIC: [u8; 2] = *b"WX";
const VERSION: u8 = 1;
const MOST_NUMBER: u32 = (1 << 24) - 1;

const MAKE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;
const MADE: u8 = 4;
const OPENED: u8 = 5;
const GONE: u8 = 6;
const REFUSED: u8 = 7;
const CLOSED: u8 = 8;

impl Message {
    /// The longest message has so many bytes.
    pub const MOST_BYTES: usize = 28 + 4 + 1 + 8 * MOST_POOLS;

    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Message::MOST_BYTES);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, kind(&self.body)]);
        bytes.extend(self.serial.to_le_bytes());
        bytes.extend(self.from.0.to_le_bytes());
        bytes.extend(self.to.0.to_le_bytes());
        match &self.body {
            Body::Request(Request::Make(send)) => {
                write_number(&mut bytes, send.number);
                write_number(&mut bytes, send.first_packet);
            }
            Body::Request(Request::Open { send, receive }) => {
                write_number(&mut bytes, *send);
                write_number(&mut bytes, *receive);
            }
            Body::Answer(Answer::Made { receive, queues }) => {
                write_number(&mut bytes, *receive);
                write_queues(&mut bytes, queues);
            }
            Body::Answer(Answer::Opened { queues }) => write_queues(&mut bytes, queues),
            Body::Answer(Answer::Refused(reason)) => bytes.push(*reason as u8),
            Body::Request(Request::Close) | Body::Answer(Answer::Gone | Answer::Closed) => {}
        }
        bytes
    }

    /// Reads all of the bytes, or says why they are no message.
    pub fn read(bytes: &[u8]) -> Result<Message, Malformed> {
        let mut input = Input(bytes);
        if input.bytes()? != MAGIC {
            return Err(Malformed("not of this protocol"));
        }
        let [version, kind] = input.bytes()?;
        if version != VERSION {
            return Err(Malformed("another version"));
        }
        let serial = u64::from_le_bytes(input.bytes()?);
        let from = Process(u64::from_le_bytes(input.bytes()?));
        let to = Process(u64::from_le_bytes(input.bytes()?));
        let body = body(kind, &mut input)?;
        match input.0 {
            [] => Ok(Message {
                from,
                to,
                serial,
                body,
            }),
            _ => Err(Malformed("too long")),
        }
    }
}

fn kind(body: &Body) -> u8 {
    match body {
        Body::Request(Request::Make(_)) => MAKE,
        Body::Request(Request::Open { .. }) => OPEN,
        Body::Request(Request::Close) => CLOSE,
        Body::Answer(Answer::Made { .. }) => MADE,
        Body::Answer(Answer::Opened { .. }) => OPENED,
        Body::Answer(Answer::Gone) => GONE,
        Body::Answer(Answer::Refused(_)) => REFUSED,
        Body::Answer(Answer::Closed) => CLOSED,
    }
}

fn body(kind: u8, input: &mut Input<'_>) -> Result<Body, Malformed> {
    Ok(match kind {
        MAKE => Body::Request(Request::Make(SendQueuePair {
            number: input.number()?,
            first_packet: input.number()?,
        })),
        OPEN => Body::Request(Request::Open {
            send: input.number()?,
            receive: input.number()?,
        }),
        CLOSE => Body::Request(Request::Close),
        MADE => Body::Answer(Answer::Made {
            receive: input.number()?,
            queues: input.queues()?,
        }),
        OPENED => Body::Answer(Answer::Opened {
            queues: input.queues()?,
        }),
        GONE => Body::Answer(Answer::Gone),
        REFUSED => Body::Answer(Answer::Refused(input.reason()?)),
        CLOSED => Body::Answer(Answer::Closed),
        _ => return Err(Malformed("no such kind")),
    })
}

fn write_number(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend(number.to_le_bytes());
}

fn write_queues(bytes: &mut Vec<u8>, queues: &[SharedQueue]) {
    bytes.push(queues.len() as u8);
    for queue in queues {
        write_number(bytes, queue.bytes);
        write_number(bytes, queue.number);
    }
}

/// What is left of a message's bytes.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Malformed("too short"))?;
        self.0 = rest;
        Ok(*first)
    }

    /// The number of a queue pair or packet.
    fn number(&mut self) -> Result<u32, Malformed> {
        match u32::from_le_bytes(self.bytes()?) {
            number @ ..=MOST_NUMBER => Ok(number),
            _ => Err(Malformed("a number of more than 24 bits")),
        }
    }

    fn reason(&mut self) -> Result<Reason, Malformed> {
        let [reason] = self.bytes()?;
        let known = [Reason::NoResources, Reason::Leaving];
        let found = known.into_iter().find(|known| *known as u8 == reason);
        found.ok_or(Malformed("no such reason"))
    }

    /// At least one, with sizes as pools have them.
    fn queues(&mut self) -> Result<Vec<SharedQueue>, Malformed> {
        let [count] = self.bytes()?;
        if !(1..=MOST_POOLS).contains(&usize::from(count)) {
            return Err(Malformed("no queue, or too many"));
        }
        let queues: Vec<SharedQueue> = (0..count)
            .map(|_| self.queue())
            .collect::<Result<_, Malformed>>()?;
        match queues.is_sorted_by(|a, b| a.bytes < b.bytes) {
            true => Ok(queues),
            false => Err(Malformed("sizes that do not ascend")),
        }
    }

    fn queue(&mut self) -> Result<SharedQueue, Malformed> {
        let bytes = u32::from_le_bytes(self.bytes()?);
        if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) {
            return Err(Malformed("a size that no pool has"));
        }
        Ok(SharedQueue {
            bytes,
            number: u32::from_le_bytes(self.bytes()?),
        })
    }
}
