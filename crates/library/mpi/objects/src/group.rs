//! Groups: ordered sets of processes (MPI-5.0 §7.3).

use std::collections::HashMap;
use std::sync::Arc;

use weft_error::{Class, Result, argument};
use weft_handle::table::Table;
use weft_handle::{GroupId, SessionId, kind};
use weft_process::job;
use weft_transport::Peer;

use crate::constants::{PROC_NULL, UNDEFINED};

/// An ordered set of processes, immutable.
#[derive(Clone, Debug)]
pub struct Group {
    members: Members,
    session: Option<SessionId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    /// Ranks `0..n` of `MPI_COMM_WORLD`, in order.
    First(u32),
    Listed(Arc<[Peer]>),
}

/// How two groups, or communicators, compare: the more alike, the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    Identical,
    /// Communicators only: same group, other context.
    Congruent,
    /// Same processes in another order.
    Similar,
    Unequal,
}

/// A triple of `MPI_Group_range_incl`: first rank, last rank, stride.
pub type Range = [i32; 3];

impl Group {
    /// The first `size` processes.
    pub fn first(size: u32) -> Group {
        Group {
            members: Members::First(size),
            session: None,
        }
    }

    /// These processes, all different, in this order.
    pub fn listed(peers: Vec<Peer>) -> Group {
        let straight = peers
            .iter()
            .enumerate()
            .all(|(rank, &peer)| rank as Peer == peer);
        match straight {
            true => Group::first(peers.len() as u32),
            false => Group {
                members: Members::Listed(peers.into()),
                session: None,
            },
        }
    }

    /// This group, as derived from a session. What is made from it by the methods here, and communicators and groups of
    /// those, is so too.
    pub fn derived_from(self, session: Option<SessionId>) -> Group {
        Group { session, ..self }
    }

    /// The session that it is derived from; none is the world model.
    pub fn session(&self) -> Option<SessionId> {
        self.session
    }

    /// A group derived from the same session, if any.
    fn like(&self, peers: impl Iterator<Item = Peer>) -> Group {
        Group::listed(peers.collect()).derived_from(self.session)
    }

    /// The members at these ranks, all different and below `size`, in this order.
    pub fn part(&self, ranks: impl Iterator<Item = u32>) -> Group {
        self.like(ranks.map(|rank| self.peer(rank)))
    }

    #[inline]
    pub fn size(&self) -> u32 {
        match &self.members {
            Members::First(size) => *size,
            Members::Listed(peers) => peers.len() as u32,
        }
    }

    /// The process of a rank below `size`.
    #[inline]
    pub fn peer(&self, rank: u32) -> Peer {
        match &self.members {
            Members::First(_) => rank,
            Members::Listed(peers) => peers[rank as usize],
        }
    }

    /// The process of a rank, if it is one.
    #[inline]
    pub fn member(&self, rank: u32) -> Option<Peer> {
        match &self.members {
            Members::First(size) => (rank < *size).then_some(rank),
            Members::Listed(peers) => peers.get(rank as usize).copied(),
        }
    }

    /// All processes in rank order.
    pub fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        (0..self.size()).map(|rank| self.peer(rank))
    }

    /// The rank of a process. Linear for a listed group.
    pub fn rank_of(&self, peer: Peer) -> Option<u32> {
        match &self.members {
            Members::First(size) => (peer < *size).then_some(peer),
            Members::Listed(peers) => peers
                .iter()
                .position(|&p| p == peer)
                .map(|rank| rank as u32),
        }
    }

    /// Every process's rank, for many look-ups.
    fn index(&self) -> HashMap<Peer, u32> {
        self.peers().zip(0..).collect()
    }

    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members == other.members {
            return Comparison::Identical;
        }
        let index = self.index();
        let same =
            self.size() == other.size() && other.peers().all(|peer| index.contains_key(&peer));
        if same {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// Those of `self`, then those of `other` that are not in it (MPI-5.0 §7.3.2).
    pub fn union(&self, other: &Group) -> Group {
        let index = self.index();
        let added = other.peers().filter(|p| !index.contains_key(p));
        self.like(self.peers().chain(added))
    }

    /// Those of `self` that are in `other`, in `self`'s order.
    pub fn intersection(&self, other: &Group) -> Group {
        let index = other.index();
        self.like(self.peers().filter(|p| index.contains_key(p)))
    }

    /// Those of `self` that are not in `other`.
    pub fn difference(&self, other: &Group) -> Group {
        let index = other.index();
        self.like(self.peers().filter(|p| !index.contains_key(p)))
    }

    /// The members at `ranks`, in that order.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        self.check_distinct(ranks)?;
        Ok(self.part(ranks.iter().map(|&rank| rank as u32)))
    }

    /// The members but those at `ranks`.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let out = self.check_distinct(ranks)?;
        let kept = (0..self.size()).filter(|&rank| !out[rank as usize]);
        Ok(self.part(kept))
    }

    fn check_distinct(&self, ranks: &[i32]) -> Result<Vec<bool>> {
        let mut seen = vec![false; self.size() as usize];
        for &rank in ranks {
            let place = usize::try_from(rank)
                .ok()
                .and_then(|rank| seen.get_mut(rank));
            match place {
                None => return Err(self.not_a_rank(rank)),
                Some(true) => {
                    return Err(argument(
                        Class::Rank,
                        "ranks",
                        format_args!("{rank} is given twice"),
                    ));
                }
                Some(place) => *place = true,
            }
        }
        Ok(seen)
    }

    fn not_a_rank(&self, rank: i32) -> weft_error::Error {
        argument(
            Class::Rank,
            "ranks",
            format_args!("{rank} is not a rank of a group of {}", self.size()),
        )
    }

    /// The ranks that triples stand for (MPI-5.0 §7.3.2, `MPI_Group_range_incl`).
    pub fn expand(&self, ranges: &[Range]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for &[first, last, stride] in ranges {
            if stride == 0 {
                return Err(argument(Class::Arg, "ranges", "a stride is 0"));
            }
            let mut rank = i64::from(first);
            let ahead = |rank: i64| {
                if stride > 0 {
                    rank <= last.into()
                } else {
                    rank >= last.into()
                }
            };
            if !ahead(rank) {
                let backwards =
                    format_args!("{first} to {last} by {stride} runs away from its end");
                return Err(argument(Class::Arg, "ranges", backwards));
            }
            while ahead(rank) {
                if rank < 0 || rank >= self.size().into() {
                    return Err(self.not_a_rank(rank as i32));
                }
                ranks.push(rank as i32);
                rank += i64::from(stride);
            }
        }
        Ok(ranks)
    }

    /// The rank in `other` of each of `ranks`; `MPI_PROC_NULL` stays.
    pub fn translate(&self, ranks: &[i32], other: &Group) -> Result<Vec<i32>> {
        let index = other.index();
        let translate = |&rank: &i32| match u32::try_from(rank) {
            _ if rank == PROC_NULL => Ok(PROC_NULL),
            Ok(rank) if rank < self.size() => Ok(index
                .get(&self.peer(rank))
                .map_or(UNDEFINED, |&rank| rank as i32)),
            _ => Err(self.not_a_rank(rank)),
        };
        ranks.iter().map(translate).collect()
    }
}

static GROUPS: Table<Group> = Table::new(kind::GROUP);

/// The live handle of a group at an index.
pub fn current(index: u32) -> Option<u64> {
    GROUPS.current(index)
}

/// The group that a handle names.
pub fn find(id: GroupId) -> Result<Arc<Group>> {
    if id == GroupId::EMPTY {
        return Ok(Arc::new(Group::first(0)));
    }
    GROUPS
        .share(id.0)
        .ok_or_else(|| argument(Class::Group, "group", "not a group"))
}

/// A handle for a group: the empty one has its own.
pub fn register(group: Group) -> Result<GroupId> {
    if group.size() == 0 {
        return Ok(GroupId::EMPTY);
    }
    let id = GROUPS.insert(Arc::new(group));
    id.map(GroupId)
        .ok_or_else(|| argument(Class::NoMem, "group", "too many groups"))
}

/// Frees a group's handle. The empty group's may be freed and stays valid.
pub fn free(id: GroupId) -> Result<()> {
    find(id)?;
    GROUPS.remove(id.0);
    Ok(())
}

/// This process's rank in a group, or `MPI_UNDEFINED`.
pub fn own_rank(group: &Group) -> i32 {
    group
        .rank_of(job::rank())
        .map_or(UNDEFINED, |rank| rank as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(group: &Group) -> Vec<u32> {
        group.peers().collect()
    }

    #[test]
    fn set_operations_keep_the_standards_order() {
        let a = Group::listed(vec![4, 1, 3]);
        let b = Group::listed(vec![3, 0, 4]);
        assert_eq!(list(&a.union(&b)), [4, 1, 3, 0]);
        assert_eq!(list(&a.intersection(&b)), [4, 3]);
        assert_eq!(list(&b.intersection(&a)), [3, 4]);
        assert_eq!(list(&a.difference(&b)), [1]);
        assert_eq!(
            a.compare(&Group::listed(vec![1, 3, 4])),
            Comparison::Similar
        );
        assert_eq!(a.compare(&b), Comparison::Unequal);
        assert_eq!(
            Group::listed(vec![0, 1]).compare(&Group::first(2)),
            Comparison::Identical
        );
    }

    #[test]
    fn what_is_made_of_a_sessions_group_is_the_sessions() {
        let session = Some(SessionId(7));
        let group = Group::listed(vec![4, 1, 3]).derived_from(session);
        let other = Group::first(4);
        let made = [
            group.union(&other),
            group.intersection(&other),
            group.difference(&other),
            group.include(&[2, 1]).unwrap(),
            group.exclude(&[0]).unwrap(),
            group.clone(),
        ];
        assert!(made.iter().all(|made| made.session() == session));
        assert_eq!(other.union(&other).session(), None);
        let alike = Group::listed(vec![4, 1, 3]);
        assert_eq!(group.compare(&alike), Comparison::Identical);
    }

    #[test]
    fn ranges_expand() {
        let group = Group::first(10);
        assert_eq!(
            group.expand(&[[1, 7, 3], [9, 2, -4]]).unwrap(),
            [1, 4, 7, 9, 5]
        );
        assert_eq!(group.expand(&[[6, 6, -1]]).unwrap(), [6]);
        assert_eq!(group.expand(&[[0, 3, 0]]).unwrap_err().class, Class::Arg);
        assert_eq!(group.expand(&[[3, 1, 1]]).unwrap_err().class, Class::Arg);
        assert_eq!(group.expand(&[[8, 12, 2]]).unwrap_err().class, Class::Rank);
    }

    #[test]
    fn include_and_exclude_check_ranks() {
        let group = Group::listed(vec![7, 5, 6]);
        assert_eq!(list(&group.include(&[2, 0]).unwrap()), [6, 7]);
        assert_eq!(list(&group.exclude(&[1]).unwrap()), [7, 6]);
        for wrong in [&[3][..], &[-1], &[0, 0]] {
            assert_eq!(group.include(wrong).unwrap_err().class, Class::Rank);
            assert_eq!(group.exclude(wrong).unwrap_err().class, Class::Rank);
        }
    }

    #[test]
    fn translation_keeps_null() {
        let group = Group::listed(vec![7, 5, 6]);
        let other = Group::listed(vec![6, 7]);
        assert_eq!(
            group.translate(&[0, 1, 2, PROC_NULL], &other).unwrap(),
            [1, UNDEFINED, 0, PROC_NULL]
        );
        assert_eq!(
            group.translate(&[3], &other).unwrap_err().class,
            Class::Rank
        );
    }
}
