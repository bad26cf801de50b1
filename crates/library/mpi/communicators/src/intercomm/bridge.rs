//! How two groups agree on something: each within itself, and their leaders with each other.

use weft_collective::run_blocking;
use weft_collective_calls::lists::{Exchange, bytes_of, words_of};
use weft_collective_calls::{Peers, check_verdict, largest, settled};
use weft_error::told::{Check, Reader, Teller};
use weft_error::{Class, Error, Result};
use weft_objects::comm::{Comm, Traffic};

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

impl LeaderLink<'_> {
    fn peers(&self) -> Peers<'_> {
        Peers::one(self.comm, self.traffic, &self.remote_leader)
    }

    /// Swaps lists with the other leader, whose is no longer than `most` words.
    fn exchange(&self, mine: &[i64], most: usize) -> Result<Vec<i64>> {
        let peers = self.peers();
        let mine = bytes_of(mine);
        let exchange = Exchange {
            out: vec![(0, &mine)],
            from: vec![0],
            most: &|_| 8 * most,
        };
        let (lists, outcome) = run_blocking(exchange.run(&peers, self.tag), || peers.wait());
        outcome?;
        let told = || Teller::RemoteLeader.told(format_args!("{} bytes", lists[0].len()), LIST);
        words_of(&lists[0]).ok_or_else(told)
    }
}

const LIST: &str = "list of words";

/// What a leader's list begins with: that it has words of the other's, or that it has none.
const FOUND: i64 = 1;
const MISSED: i64 = 0;

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

    /// Gives everyone of this group the words that the leader found, which are at most `most`, or the news that it
    /// found none.
    fn share(&self, found: Result<Vec<i64>>, most: usize) -> Result<Vec<i64>> {
        let leader = self.leader as usize;
        let leads = self.local.rank() == self.leader;
        let list = match &found {
            Ok(words) => bytes_of(&[&[FOUND], &words[..]].concat()),
            Err(_) => bytes_of(&[MISSED]),
        };
        let others = (0..self.local.size() as usize).filter(|&rank| leads && rank != leader);
        let exchange = Exchange {
            out: others.map(|rank| (rank, &list[..])).collect(),
            from: (!leads).then_some(leader).into_iter().collect(),
            most: &|_| 8 * (most + 1),
        };
        let (peers, tag) = (Peers::all(self.local), self.local.next_operation());
        let (lists, outcome) = run_blocking(exchange.run(&peers, tag), || peers.wait());
        if leads {
            return found.and_then(|words| outcome.map(|()| words));
        }
        outcome?;
        let words = words_of(&lists[0]).unwrap_or_default();
        match &words[..] {
            [FOUND, words @ ..] => Ok(words.to_vec()),
            [MISSED] => {
                let what = "this group's leader cannot reach the other group's";
                Err(Error::new(Class::Other, what))
            }
            _ => Err(Teller::Rank(leader).told(format_args!("{} bytes", lists[0].len()), LIST)),
        }
    }

    /// Swaps the leaders' words: `mine` for those of the other group, of which there are `count`.
    pub fn swap(&self, mine: &[i64], count: usize) -> Result<Vec<i64>> {
        let theirs = self.swap_any(mine, count)?;
        match theirs.len() == count {
            true => Ok(theirs),
            false => Err(Teller::RemoteLeader.told(format_args!("{} words", theirs.len()), LIST)),
        }
    }

    /// The same, of as many as each leader has, which are no more than `most`.
    pub fn swap_any(&self, mine: &[i64], most: usize) -> Result<Vec<i64>> {
        let found = self
            .link
            .as_ref()
            .map_or(Ok(Vec::new()), |link| link.exchange(mine, most));
        self.share(found, most)
    }

    /// Whether all of both groups can go on.
    pub fn settle<T>(&self, found: Result<T>) -> Result<T> {
        self.agree(0, found)
    }

    /// The same, if all have the same `print` of what they were told, which is less than 2^63 and not negative.
    pub fn agree<T>(&self, print: u64, found: Result<T>) -> Result<T> {
        let print = print as i64;
        let class = found.as_ref().err().map_or(0, |error| error.class as i64);
        let worst = self.largest([class, print, -print], check_verdict);
        let is_right = found.is_ok();
        let settled = match worst {
            Ok(worst) => settled(found, worst, Teller::Anybody),
            Err(error) => found.and(Err(error)),
        };
        settled.inspect_err(|error| {
            if is_right {
                self.disconnect(error);
            }
        })
    }

    /// The element-wise maximum over both groups, of which each group's is such as `check` finds right.
    pub fn largest<const N: usize>(&self, words: [i64; N], check: Check) -> Result<[i64; N]> {
        let peers = Peers::all(self.local);
        let own = largest(&peers, self.local.next_operation(), words, check);
        let theirs = own.and_then(|own| {
            let theirs = self.swap(&own, N)?;
            check(Reader::new(Teller::RemoteLeader, &theirs))?;
            Ok(std::array::from_fn(|place| own[place].max(theirs[place])))
        });
        theirs.inspect_err(|error| self.disconnect(error))
    }

    /// As [`Peers::disconnect`], from this group and the other's leader.
    #[cold]
    fn disconnect(&self, error: &Error) {
        Peers::all(self.local).disconnect(error);
        if let Some(link) = &self.link {
            link.peers().disconnect(error);
        }
    }
}
