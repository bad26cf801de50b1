//! What all processes of a call tell each other about their parts of it, and whether all of them can go on.
//!
//! A process that cannot go on says so in the place of its words, so that all of them return an error and none waits.
//! What they tell they also [`agree`] about, before anything depends on it: a process that was told nonsense, or
//! something else than another one was, has all of them end the call together.

use weft_collective::Channel;
use weft_error::told::{Reader, Teller, fingerprint};
use weft_error::{Class, Error, Result};
use weft_objects::comm::Comm;

use super::peers::Peers;
use super::words::{Words, gather_words, largest, largest_over};

/// A process's words, or why it has none.
#[derive(Clone, Copy)]
#[repr(C)]
struct Part<const N: usize> {
    /// 0, or the class of an error.
    failed: i64,
    words: [i64; N],
}

// SAFETY: it is a word and an array of words, one behind the other.
unsafe impl<const N: usize> Words for Part<N> {}

/// A process's news that it has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub rank: usize,
    pub class: Class,
}

/// Everyone's words, by rank. This process's own error comes first, then that of the first process that has one, as
/// `elsewhere` says it.
pub fn exchange<const N: usize>(
    comm: &Comm,
    mine: Result<[i64; N]>,
    elsewhere: impl Fn(Elsewhere) -> Error,
) -> Result<Vec<[i64; N]>> {
    let part = Part {
        failed: mine.as_ref().err().map_or(0, |error| error.class as i64),
        words: *mine.as_ref().unwrap_or(&[0; N]),
    };
    let parts = gather_words(comm, part);
    mine?;
    let parts = parts?;
    for (rank, part) in parts.iter().enumerate() {
        let failed = [part.failed];
        if let Some(class) = Reader::new(Teller::Rank(rank), &failed).class()? {
            return Err(elsewhere(Elsewhere { rank, class }));
        }
    }
    Ok(parts.into_iter().map(|part| part.words).collect())
}

/// The same, where no agreement follows: the others do not wait for a process that has failed because it was told
/// nonsense.
pub fn exchange_last<const N: usize>(
    comm: &Comm,
    mine: Result<[i64; N]>,
    elsewhere: impl Fn(Elsewhere) -> Error,
) -> Result<Vec<[i64; N]>> {
    let is_right = mine.is_ok();
    exchange(comm, mine, elsewhere).inspect_err(|error| {
        if is_right {
            Peers::all(comm).disconnect(error);
        }
    })
}

pub fn print_of<const N: usize>(told: &[[i64; N]]) -> u64 {
    fingerprint(told.as_flattened().iter().map(|&word| word as u64))
}

/// What a process says: the class of its error, and the fingerprint of what it was told, as it is and negative.
fn verdict<const N: usize, T>(told: &[[i64; N]], found: &Result<T>) -> [i64; 3] {
    let class = found.as_ref().err().map_or(0, |error| error.class as i64);
    // So that its negative is a number too.
    let print = (print_of(told) >> 1) as i64;
    [class, print, -print]
}

/// Whether the largest of all verdicts is one.
pub fn check_verdict(mut words: Reader<'_>) -> Result<()> {
    words.class()?;
    words.length(PRINT)?;
    words.within(-i64::MAX..=0, PRINT)?;
    Ok(())
}

const PRINT: &str = "fingerprint";

/// What this process found in what all were told, if all were told the same and each found something in it: of the
/// largest of all verdicts, which was checked.
pub fn settled<T>(found: Result<T>, worst: [i64; 3], teller: Teller) -> Result<T> {
    let value = found?;
    if let Some(class) = Reader::new(teller, &worst).class()? {
        let what = "another process of the call could not do its part";
        return Err(Error::new(class, what));
    }
    let [_, print, negative] = worst;
    match print == -negative {
        true => Ok(value),
        false => Err(teller.lied("told one process of the call something else than another")),
    }
}

/// The same; where others may have found another end, they do not wait for this process.
fn settled_among<T>(peers: &Peers<'_>, found: Result<T>, worst: Result<[i64; 3]>) -> Result<T> {
    match worst {
        Ok(worst) => {
            let is_right = found.is_ok();
            let settled = settled(found, worst, peers.teller());
            settled.inspect_err(|error| {
                if is_right {
                    peers.disconnect(error)
                }
            })
        }
        Err(error) => found.and(Err(error)),
    }
}

/// Whether all were told the same, and each found it right.
pub fn agree<const N: usize, T>(comm: &Comm, told: &[[i64; N]], found: Result<T>) -> Result<T> {
    let (peers, verdict) = (Peers::all(comm), verdict(told, &found));
    let worst = largest(&peers, comm.next_operation(), verdict, check_verdict);
    settled_among(&peers, found, worst)
}

/// The same, in an operation.
pub async fn agree_over<const N: usize, T>(
    channel: &Channel<'_, Peers<'_>>,
    told: &[[i64; N]],
    found: Result<T>,
) -> Result<T> {
    let worst = largest_over(channel, verdict(told, &found), check_verdict).await;
    settled_among(channel.peers(), found, worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each process makes of what it was told, by rank.
    fn all_settle(told: [[[i64; 2]; 2]; 2], found: [Result<i32>; 2]) -> [Result<i32>; 2] {
        let words = [verdict(&told[0], &found[0]), verdict(&told[1], &found[1])];
        let worst: [i64; 3] = std::array::from_fn(|place| words[0][place].max(words[1][place]));
        found.map(|found| settled(found, worst, Teller::Anybody))
    }

    #[test]
    fn what_all_were_told_alike_stands() {
        let told = [[1, -2], [i64::MAX, i64::MIN]];
        let [first, second] = all_settle([told; 2], [Ok(5), Ok(6)]);
        assert_eq!((first.unwrap(), second.unwrap()), (5, 6));
    }

    #[test]
    fn a_word_that_differs_fails_the_call_on_all() {
        let told = [[1, 2], [3, 4]];
        for place in 0..4 {
            let mut other = told;
            other.as_flattened_mut()[place] ^= 1 << 60;
            for settled in all_settle([told, other], [Ok(5), Ok(6)]) {
                assert!(settled.unwrap_err().is_nonsense, "{place}");
            }
        }
    }

    #[test]
    fn a_lie_about_a_verdict_is_nonsense_or_a_difference() {
        let right = verdict(&[[1, 2]], &Ok(()));
        assert!(check_verdict(Reader::new(Teller::Rank(0), &right)).is_ok());
        for place in 0..3 {
            for lie in [1 << 38, 1 << 60, i64::MAX] {
                let mut worst = right;
                worst[place] = worst[place].max(lie);
                let checked = check_verdict(Reader::new(Teller::Rank(0), &worst));
                let settled = checked.and_then(|()| settled(Ok(()), worst, Teller::Rank(0)));
                let is_lie = worst != right;
                assert_eq!(
                    settled.is_err_and(|error| error.is_nonsense),
                    is_lie,
                    "{place} {lie}"
                );
            }
        }
    }

    #[test]
    fn what_one_process_finds_wrong_fails_the_call_on_all() {
        let told = [[1, 2], [3, 4]];
        let wrong = || Err(Error::new(Class::NotSame, "etype"));
        let [first, second] = all_settle([told; 2], [Ok(5), wrong()]);
        assert_eq!(first.unwrap_err().class, Class::NotSame);
        assert_eq!(second.unwrap_err().to_string(), "etype");
    }
}
