//! A specification read, and what is wrong with one.

use std::fmt;
use std::str::FromStr;

use crate::{
    LEAST_BYTES, MOST_BYTES, MOST_COUNT, MOST_POOLS, Pool, PoolKind, Pools, default_credits,
    default_low, most_credits,
};

/// What is wrong with a specification, and at which character. Shown as a line that says it, the specification, and a caret below the
/// character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationError {
    specification: String,
    /// Characters before the wrong one.
    at: usize,
    what: String,
}

impl SpecificationError {
    /// Characters before the one that is wrong.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Without the specification.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for SpecificationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |letter: char| if letter.is_control() { '?' } else { letter };
        let text: String = self.specification.chars().map(shown).collect();
        let at = self.at;
        write!(
            formatter,
            "receive pools: {}\n  {text}\n  {:at$}^",
            self.what, ""
        )
    }
}

impl std::error::Error for SpecificationError {}

/// Where in the text, in bytes, and what.
struct Wrong(usize, String);

type Read<T> = Result<T, Wrong>;

fn wrong<T>(at: usize, what: impl Into<String>) -> Read<T> {
    Err(Wrong(at, what.into()))
}

/// A piece of the text and where it begins.
#[derive(Clone, Copy)]
struct Piece<'a> {
    at: usize,
    text: &'a str,
}

impl<'a> Piece<'a> {
    /// What stands between separators.
    fn split(self, separator: char) -> impl Iterator<Item = Piece<'a>> {
        self.text.split(separator).map(move |text| Piece {
            at: self.at + (text.as_ptr() as usize - self.text.as_ptr() as usize),
            text,
        })
    }

    fn end(self) -> usize {
        self.at + self.text.len()
    }
}

impl FromStr for Pools {
    type Err = SpecificationError;

    fn from_str(text: &str) -> Result<Pools, SpecificationError> {
        pools(Piece { at: 0, text }).map_err(|Wrong(at, what)| SpecificationError {
            at: text[..at].chars().count(),
            specification: text.to_owned(),
            what,
        })
    }
}

fn pools(text: Piece<'_>) -> Read<Pools> {
    let mut pools: Vec<Pool> = Vec::new();
    for piece in text.split(':') {
        if pools.len() == MOST_POOLS {
            return wrong(piece.at, format!("more than {MOST_POOLS} pools"));
        }
        let pool = pool(piece)?;
        if let Some(last) = pools.last() {
            check_order(last, &pool, piece)?;
        }
        pools.push(pool);
    }
    Ok(Pools::checked(pools))
}

fn check_order(last: &Pool, pool: &Pool, piece: Piece<'_>) -> Read<()> {
    let is_pair = (last.kind, pool.kind) == (PoolKind::Shared, PoolKind::Xrc);
    let bytes_at = piece.split(',').nth(1).map_or(piece.at, |bytes| bytes.at);
    match pool.bytes.cmp(&last.bytes) {
        std::cmp::Ordering::Greater => Ok(()),
        std::cmp::Ordering::Equal if is_pair => Ok(()),
        std::cmp::Ordering::Equal => wrong(
            bytes_at,
            "two pools of one size, which only an S and an X after it may have",
        ),
        std::cmp::Ordering::Less => wrong(
            bytes_at,
            format!("{} bytes after {}: sizes ascend", pool.bytes, last.bytes),
        ),
    }
}

fn pool(piece: Piece<'_>) -> Read<Pool> {
    let mut fields = piece.split(',');
    let kind = kind(fields.next(), piece)?;
    let bytes = mandatory(fields.next(), piece, "the bytes of a buffer")?;
    let bytes = size(bytes)?;
    let count = mandatory(fields.next(), piece, "the count of buffers")?;
    let count = number(count, "the count of buffers", 1, MOST_COUNT)?;
    let low = match fields.next() {
        Some(low) => number(low, "the low mark", 0, count - 1)?,
        None => default_low(count),
    };
    let credits = match fields.next() {
        Some(credits) => number(credits, "credits", 1, most_credits(kind, count, low))?,
        None => default_credits(kind, low),
    };
    match fields.next() {
        Some(more) => wrong(
            more.at,
            "a sixth field: a pool is TYPE,bytes,count[,low[,credits]]",
        ),
        None => Ok(Pool {
            kind,
            bytes,
            count,
            low,
            credits,
        }),
    }
}

fn kind(field: Option<Piece<'_>>, piece: Piece<'_>) -> Read<PoolKind> {
    let field = field.filter(|field| !field.text.is_empty());
    let Some(field) = field else {
        return wrong(piece.at, "a type is missing: P, S or X");
    };
    let mut letters = field.text.chars();
    match (letters.next().and_then(PoolKind::of_letter), letters.next()) {
        (Some(kind), None) => Ok(kind),
        (Some(_), Some(_)) => wrong(field.at + 1, "a comma is missing after the type"),
        (None, _) => wrong(
            field.at,
            format!("no type: `{}`, of P, S and X", field.text.escape_debug()),
        ),
    }
}

fn mandatory<'a>(field: Option<Piece<'a>>, piece: Piece<'_>, what: &str) -> Read<Piece<'a>> {
    match field {
        Some(field) => Ok(field),
        None => wrong(piece.end(), format!("{what}: missing")),
    }
}

/// Bytes, with `k` or `M` after them.
fn size(field: Piece<'_>) -> Read<u32> {
    let (digits, shift) = match field.text.as_bytes().last() {
        Some(b'k' | b'K') => (&field.text[..field.text.len() - 1], 10),
        Some(b'm' | b'M') => (&field.text[..field.text.len() - 1], 20),
        _ => (field.text, 0),
    };
    let what = "the bytes of a buffer";
    let digits = Piece {
        text: digits,
        ..field
    };
    let bytes = unsigned(digits, what)?;
    let bytes = bytes.saturating_mul(1 << shift);
    in_range(field, what, bytes, LEAST_BYTES, MOST_BYTES)
}

fn number(field: Piece<'_>, what: &str, least: u32, most: u32) -> Read<u32> {
    let number = unsigned(field, what)?;
    in_range(field, what, number, least, most)
}

/// A number that may be too large, but is one.
fn unsigned(field: Piece<'_>, what: &str) -> Read<u64> {
    let wrong_at = field.text.find(|letter: char| !letter.is_ascii_digit());
    match wrong_at {
        Some(at) => wrong(field.at + at, format!("{what}: not a number")),
        None if field.text.is_empty() => wrong(field.at, format!("{what}: missing")),
        // Digits alone can only be too many.
        None => Ok(field.text.parse().unwrap_or(u64::MAX)),
    }
}

fn in_range(field: Piece<'_>, what: &str, number: u64, least: u32, most: u32) -> Read<u32> {
    match u32::try_from(number) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => wrong(field.at, format!("{what}: from {least} to {most}")),
    }
}
