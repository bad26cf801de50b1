//! Lists whose lengths their senders alone know, from process to process.
//!
//! A list comes in pieces, each as long as all before it together, up to [`MOST_PIECE_BYTES`]; the first that is
//! shorter than that, or empty, is the last. So nobody tells how long a list is: a receiver has memory for what has
//! come and for as much again, whatever the sender means to say. One that has no memory, or that needs the list no
//! more, takes the rest over what it has, so that its sender is not left waiting; only a list that is longer than any
//! right one is given up. Behind a list comes its fingerprint: what its sender goes by is what its receiver has.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use weft_collective::PointToPoint;
use weft_error::told::{Teller, fingerprint};
use weft_error::{Class, Error, Result};
use weft_memory::Memory;

/// Most lists are one message.
const FIRST_PIECE_BYTES: usize = 4 << 10;
/// Where longer pieces move bytes no faster.
const MOST_PIECE_BYTES: usize = 1 << 20;

/// Lists to send, by the ranks they go to, and those to be received.
pub struct Exchange<'a> {
    pub out: Vec<(usize, &'a [u8])>,
    pub from: Vec<usize>,
    /// The most bytes that a right list has.
    pub most: &'a dyn Fn(usize) -> usize,
}

/// How long the piece is that comes after so many bytes.
fn piece(before: usize) -> usize {
    before.clamp(FIRST_PIECE_BYTES, MOST_PIECE_BYTES)
}

async fn finish<P: PointToPoint>(peers: &P, request: P::Request) -> Result<usize, P::Error> {
    poll_fn(|_| peers.poll(request).map_or(Poll::Pending, Poll::Ready)).await
}

/// Of a list: by its words, and the bytes behind them.
fn print_of(list: &[u8]) -> u64 {
    let (words, rest) = list.as_chunks();
    let words = words.iter().copied().map(u64::from_ne_bytes);
    fingerprint(words.chain(rest.iter().copied().map(u64::from)))
}

async fn send<P>(peers: &P, to: usize, tag: u32, list: &[u8]) -> Result<()>
where
    P: PointToPoint<Error = Error>,
{
    let mut sent = 0;
    loop {
        let wanted = piece(sent);
        let now = &list[sent..][..wanted.min(list.len() - sent)];
        let memory = Memory::contiguous(now.as_ptr().cast_mut(), now.len());
        finish(peers, peers.send(to, tag, memory)?).await?;
        if now.len() < wanted {
            break;
        }
        sent += wanted;
    }
    let print = print_of(list);
    let memory = Memory::contiguous((&raw const print).cast_mut().cast(), size_of_val(&print));
    finish(peers, peers.send(to, tag, memory)?).await?;
    Ok(())
}

async fn receive<P>(peers: &P, from: usize, tag: u32, most: usize) -> Result<Vec<u8>>
where
    P: PointToPoint<Error = Error>,
{
    let (mut list, mut received, mut refused) = (Vec::new(), 0usize, Ok(()));
    loop {
        let wanted = piece(received);
        let end = list.len() + wanted;
        let has_room = refused.is_ok() && weft_reserve::lengthen(&mut list, end).is_ok();
        if !has_room && refused.is_ok() {
            refused = Err(no_memory(from));
        }
        // What has come is as long as this piece, or this is the first.
        let at = if has_room { end - wanted } else { 0 };
        if list.len() < at + wanted {
            list.resize(at + wanted, 0);
        }
        let memory = Memory::contiguous(list[at..].as_mut_ptr(), wanted);
        let bytes = finish(peers, peers.receive(from, tag, memory)?).await?;
        received = received.saturating_add(bytes);
        if has_room {
            list.truncate(at + bytes);
        }
        if received > most {
            let what = format!("list of at most {most} bytes");
            return Err(Teller::Rank(from).told(format_args!("{received} bytes and more"), &what));
        }
        if bytes < wanted {
            break;
        }
    }
    let mut print = 0u64;
    let memory = Memory::contiguous((&raw mut print).cast(), size_of_val(&print));
    finish(peers, peers.receive(from, tag, memory)?).await?;
    refused?;
    match print == print_of(&list) {
        true => Ok(list),
        false => Err(Teller::Rank(from).lied("told a list that has another fingerprint")),
    }
}

#[cold]
fn no_memory(from: usize) -> Error {
    Error::new(
        Class::NoMem,
        format!("no memory for what rank {from} tells"),
    )
}

/// Something that goes on beside others.
type Task<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Goes on with all tasks until all are over: what each came to.
pub(crate) async fn join<T>(mut tasks: Vec<Task<'_, T>>) -> Vec<T> {
    let mut outcomes: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (task, outcome) in tasks.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let Poll::Ready(value) = task.as_mut().poll(context)
            {
                *outcome = Some(value);
            }
        }
        match outcomes.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}

impl Exchange<'_> {
    /// Sends and receives all, to the end, whatever fails: the lists in the order of `from`, and the first error.
    pub async fn run<P>(self, peers: &P, tag: u32) -> (Vec<Vec<u8>>, Result<()>)
    where
        P: PointToPoint<Error = Error>,
    {
        let Exchange { out, from, most } = self;
        let mut tasks: Vec<Task<'_, Result<Vec<u8>>>> = Vec::new();
        for &from in &from {
            tasks.push(Box::pin(receive(peers, from, tag, most(from))));
        }
        for (to, list) in out {
            tasks.push(Box::pin(async move {
                send(peers, to, tag, list).await.map(|()| Vec::new())
            }));
        }
        let mut outcome = Ok(());
        let lists = join(tasks).await.into_iter().map(|list| {
            list.unwrap_or_else(|error| {
                if outcome.is_ok() {
                    outcome = Err(error);
                }
                Vec::new()
            })
        });
        let mut lists: Vec<Vec<u8>> = lists.collect();
        lists.truncate(from.len());
        (lists, outcome)
    }
}

/// Words as a list.
pub fn bytes_of(words: &[i64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The words of a list; none if it is no whole number of them.
pub fn words_of(list: &[u8]) -> Option<Vec<i64>> {
    let (words, []) = list.as_chunks() else {
        return None;
    };
    Some(words.iter().copied().map(i64::from_ne_bytes).collect())
}

#[cfg(test)]
mod tests;
