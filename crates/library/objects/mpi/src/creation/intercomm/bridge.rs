//! How two groups agree on something: each within itself, and their leaders with each other.

use weft_memory::Memory;

use crate::collective::{Peers, drive, largest};
use crate::error::{Class, Error, Result};
use crate::messages::completion;
use crate::messages::start::{start_receive, start_send};
use crate::objects::comm::{Comm, Traffic};

/// This process's side of it. The other group's processes have one that mirrors it.
pub(crate) struct Bridge<'a> {
    /// An intra-communicator of this process's group.
    pub local: &'a Comm,
    /// The process that speaks for it: a rank of `local`.
    pub leader: u32,
    /// The way to the other leader; the leader alone has it.
    pub link: Option<LeaderLink<'a>>,
}

/// How a leader reaches the other one. Nothing else that is under way in `comm` has traffic and tag.
pub(crate) struct LeaderLink<'a> {
    pub comm: &'a Comm,
    pub remote_leader: u32,
    pub traffic: Traffic,
    pub tag: u32,
}

/// Words that all of a group send as one message: there is no datatype but bytes for them.
fn memory(words: &mut [i64]) -> Memory {
    Memory::contiguous(words.as_mut_ptr().cast(), size_of_val(words))
}

impl LeaderLink<'_> {
    fn exchange(&self, out: &mut [i64], into: &mut [i64]) -> Result<()> {
        let (leader, tag) = (self.remote_leader, self.tag);
        let into = memory(into);
        let mut incoming = start_receive(self.comm, self.traffic, into, leader as i32, tag as i32)?;
        let out = memory(out);
        let sent = start_send(self.comm, self.traffic, out, leader, tag);
        let sent = sent.and_then(|mut request| completion::wait(&mut request));
        let received = completion::wait(&mut incoming);
        sent?.check()?;
        received?.check()
    }
}

impl<'a> Bridge<'a> {
    /// Of an inter-communicator, for the next of its operations: ranks 0 lead.
    pub fn of(comm: &'a Comm) -> Bridge<'a> {
        let tag = comm.next_operation();
        let (local, _) = comm.local_and_remote().expect("an inter-communicator");
        let link = LeaderLink {
            comm,
            remote_leader: 0,
            traffic: Traffic::Collective,
            tag,
        };
        Bridge {
            local,
            leader: 0,
            link: (local.rank() == 0).then_some(link),
        }
    }

    /// Gives everyone of this group the leader's words.
    fn broadcast(&self, words: &mut [i64]) -> Result<()> {
        let peers = Peers::all(self.local);
        let (memory, leader) = (memory(words), self.leader as usize);
        drive(&peers, self.local.next_operation(), async |channel| {
            weft_collective::bcast(channel, memory, leader).await
        })
    }

    /// As [`broadcast`](Self::broadcast) of what the leader found out, or of that it failed.
    fn share(&self, found: Result<()>, words: &mut [i64]) -> Result<()> {
        let mut failed = [i64::from(found.is_err())];
        self.broadcast(&mut failed)?;
        found?;
        match failed {
            [0] => self.broadcast(words),
            _ => {
                let what = "this group's leader cannot reach the other group's";
                Err(Error::new(Class::Other, what))
            }
        }
    }

    /// Swaps the leaders' words: `mine` for those of the other group, of which there are `count`.
    pub fn swap(&self, mut mine: Vec<i64>, count: usize) -> Result<Vec<i64>> {
        let mut theirs = vec![0; count];
        let exchanged = match &self.link {
            Some(link) => link.exchange(&mut mine, &mut theirs),
            None => Ok(()),
        };
        self.share(exchanged, &mut theirs)?;
        Ok(theirs)
    }

    /// As [`swap`](Self::swap), of as many words as each leader has.
    pub fn swap_any(&self, mine: Vec<i64>) -> Result<Vec<i64>> {
        let count = self.swap(vec![mine.len() as i64], 1)?[0];
        self.swap(mine, count as usize)
    }

    /// The element-wise maximum over both groups.
    pub fn largest<const N: usize>(&self, words: [i64; N]) -> Result<[i64; N]> {
        let peers = Peers::all(self.local);
        let own = largest(&peers, self.local.next_operation(), words)?;
        let theirs = self.swap(own.to_vec(), N)?;
        Ok(std::array::from_fn(|place| own[place].max(theirs[place])))
    }
}
