//! Commands, as an origin writes them and a target reads them.

use weft_datatype::{Op, Predefined, supports};
use weft_sync::LockKind;

use super::access::Access;
use super::block::Unit;
use super::number::{Reader, write};

/// The longest result that a piece of an update may fetch, which its target stores until it has left.
pub const LONGEST_RESULT: usize = 1 << 20;

/// What an update does to each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updating {
    pub op: Op,
    pub basic: Predefined,
}

/// What an origin asks of a target. `reply` is the tag of the message that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    Put {
        access: Access,
        data: &'a [u8],
    },
    /// A put whose data are a message of their own, with that tag.
    Announce {
        access: Access,
        tag: u32,
    },
    Get {
        access: Access,
        reply: u32,
    },
    /// Elements are combined; there are no operands with `MPI_NO_OP`. What they were before is the reply, if there is to be one.
    Update {
        access: Access,
        updating: Updating,
        operands: &'a [u8],
        reply: Option<u32>,
    },
    /// The element at an offset becomes `value` if it is `compare`; what it was before is the reply.
    Swap {
        offset: i64,
        basic: Predefined,
        compare: &'a [u8],
        value: &'a [u8],
        reply: u32,
    },
    /// Answered once all that this origin has asked for before is done.
    Flush {
        reply: u32,
    },
    /// Answered once the origin has the lock of the part.
    Lock {
        kind: LockKind,
        reply: u32,
    },
    Unlock,
    /// A process's to itself, once it is asked for nothing any more.
    Stop,
}

const PUT: u8 = 0;
const ANNOUNCE: u8 = 1;
const GET: u8 = 2;
const UPDATE: u8 = 3;
const FETCH: u8 = 4;
const SWAP: u8 = 5;
const FLUSH: u8 = 6;
const LOCK_SHARED: u8 = 7;
const LOCK_EXCLUSIVE: u8 = 8;
const UNLOCK: u8 = 9;
const STOP: u8 = 10;

impl Command<'_> {
    /// Bytes that suffice beside the access and the data.
    pub const HEAD: usize = 16;

    /// Adds it to a message.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Command::Put { access, data } => {
                out.push(PUT);
                access.write(out);
                out.extend_from_slice(data);
            }
            Command::Announce { access, tag } => {
                out.push(ANNOUNCE);
                write(u64::from(*tag), out);
                access.write(out);
            }
            Command::Get { access, reply } => {
                out.push(GET);
                write(u64::from(*reply), out);
                access.write(out);
            }
            Command::Update {
                access,
                updating,
                operands,
                reply,
            } => {
                out.push(if reply.is_some() { FETCH } else { UPDATE });
                out.extend([updating.op as u8, updating.basic as u8]);
                reply.inspect(|&reply| write(u64::from(reply), out));
                access.write(out);
                out.extend_from_slice(operands);
            }
            Command::Swap {
                offset,
                basic,
                compare,
                value,
                reply,
            } => {
                out.extend([SWAP, *basic as u8]);
                write(u64::from(*reply), out);
                Access::run(*offset, 1).write(out);
                out.extend_from_slice(compare);
                out.extend_from_slice(value);
            }
            Command::Flush { reply } => tagged(FLUSH, *reply, out),
            Command::Lock { kind, reply } => {
                let kind = match kind {
                    LockKind::Shared => LOCK_SHARED,
                    LockKind::Exclusive => LOCK_EXCLUSIVE,
                };
                tagged(kind, *reply, out);
            }
            Command::Unlock => out.push(UNLOCK),
            Command::Stop => out.push(STOP),
        }
    }
}

fn tagged(kind: u8, reply: u32, out: &mut Vec<u8>) {
    out.push(kind);
    write(u64::from(reply), out);
}

/// The commands of a message, in order. It ends with an `Err` where the message makes no sense.
pub struct Commands<'a>(Option<Reader<'a>>);

/// A message makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonsense;

impl<'a> Commands<'a> {
    pub fn new(message: &'a [u8]) -> Commands<'a> {
        Commands(Some(Reader(message)))
    }
}

impl<'a> Iterator for Commands<'a> {
    type Item = Result<Command<'a>, Nonsense>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.0.as_mut().filter(|reader| !reader.0.is_empty())?;
        let command = read(reader);
        if command.is_none() {
            self.0 = None;
        }
        Some(command.ok_or(Nonsense))
    }
}

fn read<'a>(reader: &mut Reader<'a>) -> Option<Command<'a>> {
    Some(match reader.byte()? {
        PUT => {
            let access = Access::read(reader, Unit::BYTE)?;
            let data = reader.bytes(usize::try_from(access.units()).ok()?)?;
            Command::Put { access, data }
        }
        ANNOUNCE => {
            let tag = tag(reader)?;
            let access = Access::read(reader, Unit::BYTE)?;
            Command::Announce { access, tag }
        }
        GET => {
            let reply = tag(reader)?;
            let access = Access::read(reader, Unit::BYTE)?;
            Command::Get { access, reply }
        }
        UPDATE => read_update(reader, false)?,
        FETCH => read_update(reader, true)?,
        SWAP => {
            let basic = basic(reader)?;
            let reply = tag(reader)?;
            let access = Access::read(reader, Unit::of(basic))?;
            let (compare, value) = (reader.bytes(basic.size())?, reader.bytes(basic.size())?);
            Command::Swap {
                offset: access.first.offset,
                basic,
                compare,
                value,
                reply,
            }
        }
        FLUSH => Command::Flush {
            reply: tag(reader)?,
        },
        LOCK_SHARED => Command::Lock {
            kind: LockKind::Shared,
            reply: tag(reader)?,
        },
        LOCK_EXCLUSIVE => Command::Lock {
            kind: LockKind::Exclusive,
            reply: tag(reader)?,
        },
        UNLOCK => Command::Unlock,
        STOP => Command::Stop,
        _ => return None,
    })
}

fn read_update<'a>(reader: &mut Reader<'a>, fetches: bool) -> Option<Command<'a>> {
    let op = *Op::ALL.get(usize::from(reader.byte()?))?;
    let basic = basic(reader)?;
    let reply = match fetches {
        true => Some(tag(reader)?),
        false => None,
    };
    let unit = Unit::of(basic);
    let access = Access::read(reader, unit)?;
    let bytes = usize::try_from(access.units())
        .ok()?
        .checked_mul(unit.packed)?;
    let operands = match op {
        Op::NoOp => &[],
        _ => reader.bytes(bytes)?,
    };
    let makes_sense = supports(op, basic) && (bytes <= LONGEST_RESULT || !fetches);
    makes_sense.then_some(Command::Update {
        access,
        updating: Updating { op, basic },
        operands,
        reply,
    })
}

fn basic(reader: &mut Reader) -> Option<Predefined> {
    Predefined::ALL.get(usize::from(reader.byte()?)).copied()
}

/// A tag of a message; the engine has 31 bits for it.
fn tag(reader: &mut Reader) -> Option<u32> {
    let number = reader.number()?;
    i32::try_from(number).ok().map(|tag| tag as u32)
}
