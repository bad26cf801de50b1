//! What other processes tell, as it is read: the words of messages of the library's own by which memory is sized,
//! places are found and loops end. `docs/design/hostile-peers.md` lists them.
//!
//! 1. A word of another process's is used once a [`Reader`] has given it, which takes a bound for each; what lies
//!    beyond it is an error that names the process and says what it told.
//! 2. How long a list is nobody tells: it comes in pieces, and memory for it grows with what has come
//!    (`collective-calls/lists`).
//! 3. A process that was told nonsense goes on to the call's next agreement and says there that it has failed
//!    (`collective-calls/agreement`), so that all processes of the call end it with an error.
//! 4. One that was told nonsense in an agreement, or behind the last, ends its connections to the others
//!    (`Peers::disconnect`): they may know of nothing and go on, but wait for it no more.

use std::fmt;
use std::ops::RangeInclusive;

use crate::{Class, Error, Result};

/// Words that one process has told.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    teller: Teller,
    words: &'a [i64],
}

/// The process that told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teller {
    /// By its rank in the communicator, or in the group, of the call.
    Rank(usize),
    /// The leader of the other group of an inter-communicator that is being made.
    RemoteLeader,
    /// One of several, nobody knows which: what is known is the largest word of all.
    Anybody,
}

/// Whether words are such as right processes tell.
pub type Check = fn(Reader<'_>) -> Result<()>;

/// A number of what was told, by which processes compare it: FNV-1a, by words. No other word in the place of one has
/// the same.
pub fn fingerprint(words: impl IntoIterator<Item = u64>) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

const ERROR_CLASS: &str = "class of an error";

impl fmt::Display for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Teller::Rank(rank) => write!(f, "rank {rank}"),
            Teller::RemoteLeader => f.write_str("the remote group's leader"),
            Teller::Anybody => f.write_str("a process"),
        }
    }
}

impl Teller {
    /// It has told `word` in place of something that is `what`.
    #[cold]
    pub fn told(self, word: impl fmt::Display, what: &str) -> Error {
        self.lied(format_args!("told {word}, which is no {what}"))
    }

    /// It did something that no right process does.
    #[cold]
    pub fn lied(self, what: impl fmt::Display) -> Error {
        Error::new(Class::Other, format!("{self} {what}")).of_nonsense()
    }
}

impl<'a> Reader<'a> {
    pub fn new(teller: Teller, words: &'a [i64]) -> Reader<'a> {
        Reader { teller, words }
    }

    /// Of the words that all ranks have told, by rank.
    pub fn of_all<const N: usize>(told: &'a [[i64; N]]) -> impl Iterator<Item = Reader<'a>> {
        let of = |(rank, words): (usize, &'a [i64; N])| Reader::new(Teller::Rank(rank), words);
        told.iter().enumerate().map(of)
    }

    /// A word that may be anything.
    pub fn next(&mut self, what: &str) -> Result<i64> {
        let Some((&first, rest)) = self.words.split_first() else {
            return Err(self.teller.told("nothing", what));
        };
        self.words = rest;
        Ok(first)
    }

    /// A word within bounds.
    pub fn within(&mut self, bounds: RangeInclusive<i64>, what: &str) -> Result<i64> {
        let word = self.next(what)?;
        match bounds.contains(&word) {
            true => Ok(word),
            false => Err(self.teller.told(word, what)),
        }
    }

    /// A number of bytes, elements or the like: none is negative.
    pub fn length(&mut self, what: &str) -> Result<u64> {
        Ok(self.within(0..=i64::MAX, what)? as u64)
    }

    /// A number that is one of so many.
    pub fn index(&mut self, count: usize, what: &str) -> Result<usize> {
        let word = self.next(what)?;
        let index = usize::try_from(word).ok().filter(|&index| index < count);
        index.ok_or_else(|| self.teller.told(word, what))
    }

    /// Where something begins and ends.
    pub fn range(&mut self, what: &str) -> Result<std::ops::Range<u64>> {
        let (start, end) = (self.length(what)?, self.length(what)?);
        match start <= end {
            true => Ok(start..end),
            false => Err(self.teller.told(format_args!("{start} to {end}"), what)),
        }
    }

    /// Whether something is so.
    pub fn flag(&mut self, what: &str) -> Result<bool> {
        Ok(self.index(2, what)? == 1)
    }

    /// The class of an error; none is 0.
    pub fn class(&mut self) -> Result<Option<Class>> {
        let word = self.next(ERROR_CLASS)?;
        let class = i32::try_from(word).ok().and_then(Class::numbered);
        let class = class.ok_or_else(|| self.teller.told(word, ERROR_CLASS))?;
        Ok((class != Class::Success).then_some(class))
    }

    /// Whether there are more words.
    pub fn is_at_end(&self) -> bool {
        self.words.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(words: &[i64]) -> Reader<'_> {
        Reader::new(Teller::Rank(3), words)
    }

    #[test]
    fn a_word_beyond_its_bounds_names_its_teller() {
        let error = reader(&[1 << 60]).index(5, "rank").unwrap_err();
        assert_eq!(error.class, Class::Other);
        assert_eq!(
            error.to_string(),
            "rank 3 told 1152921504606846976, which is no rank"
        );
        let error = reader(&[]).length("size").unwrap_err();
        assert_eq!(error.to_string(), "rank 3 told nothing, which is no size");
    }

    #[test]
    fn bounds_are_inclusive_and_indices_are_not() {
        assert_eq!(reader(&[4]).index(5, "rank").unwrap(), 4);
        for word in [5, -1, i64::MIN, i64::MAX] {
            assert!(reader(&[word]).index(5, "rank").is_err(), "{word}");
        }
        assert_eq!(reader(&[i64::MAX]).length("size").unwrap(), i64::MAX as u64);
        assert!(reader(&[-1]).length("size").is_err());
        assert_eq!(reader(&[1, 1]).range("access").unwrap(), 1..1);
        assert!(reader(&[2, 1]).range("access").is_err());
        assert!(reader(&[1]).range("access").is_err());
    }

    #[test]
    fn classes_and_flags_are_such() {
        assert_eq!(reader(&[0]).class().unwrap(), None);
        assert_eq!(
            reader(&[Class::NoMem as i64]).class().unwrap(),
            Some(Class::NoMem)
        );
        assert!(!reader(&[0]).flag("promise").unwrap() && reader(&[1]).flag("promise").unwrap());
        for lie in [-1, 1 << 38, 1 << 60, i64::MIN] {
            assert!(reader(&[lie]).class().unwrap_err().is_nonsense, "{lie}");
            assert!(
                reader(&[lie]).flag("promise").unwrap_err().is_nonsense,
                "{lie}"
            );
        }
    }

    #[test]
    fn words_are_read_in_their_order() {
        let mut words = reader(&[7, 8]);
        assert_eq!(words.next("first").unwrap(), 7);
        assert!(!words.is_at_end());
        assert_eq!(words.within(8..=8, "second").unwrap(), 8);
        assert!(words.is_at_end());
    }
}
