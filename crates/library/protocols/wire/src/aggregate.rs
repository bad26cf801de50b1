//! An aggregate's payload: entries of three words (header, length) and the message, padded to a word.

use crate::Body;

const ENTRY_WORDS: usize = 3;

/// Bytes that a message of `bytes` takes in an aggregate.
#[inline]
pub const fn entry_bytes(bytes: usize) -> usize {
    ENTRY_WORDS * 8 + bytes.next_multiple_of(8)
}

/// Writes one entry's head at the front of `out`; the message's place in `out` is returned.
#[inline]
pub fn put_entry(out: &mut [u8], header: [u64; 2], bytes: usize) -> &mut [u8] {
    let (head, rest) = out.split_at_mut(ENTRY_WORDS * 8);
    Body([header[0], header[1], bytes as u64]).put(head);
    &mut rest[..bytes]
}

/// One message of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub header: [u64; 2],
    pub payload: &'a [u8],
}

/// The entries of an aggregate's payload. Yields `Err` once, and ends, where the payload is malformed.
#[derive(Clone)]
pub struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    pub fn new(payload: &'a [u8]) -> Entries<'a> {
        Entries { rest: payload }
    }
}

/// The payload does not divide into entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = split_entry(self.rest);
        self.rest = match &entry {
            Some((_, rest)) => rest,
            None => &[],
        };
        Some(entry.map(|(entry, _)| entry).ok_or(Malformed))
    }
}

#[inline]
fn split_entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (Body([first, second, length]), rest) = Body::<ENTRY_WORDS>::split(bytes)?;
    let length = usize::try_from(length).ok()?;
    let padded = length.checked_next_multiple_of(8)?;
    let (body, rest) = rest.split_at_checked(padded)?;
    Some((
        Entry {
            header: [first, second],
            payload: &body[..length],
        },
        rest,
    ))
}
