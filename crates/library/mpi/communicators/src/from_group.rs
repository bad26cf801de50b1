//! Communicators made from groups, without a communicator to make them from (MPI-5.0 §7.4.2, §7.6.2).
//!
//! The processes meet on what all processes of the job have from the start, under a tag that is the string tag's
//! hash. Operations that go on at once have different string tags; should two of them have one hash, they find out.

use std::ffi::CStr;
use std::hash::Hasher;

use fnv::FnvHasher;

use weft_collective_calls::{Peers, largest};
use weft_error::{Class, Error, Result, argument};
use weft_handle::{CommId, GroupId, InfoId};
use weft_objects::comm::lanes::LaneSelection;
use weft_objects::comm::numbers::contexts;
use weft_objects::comm::{Comm, Traffic, hints, register, whole_job};
use weft_objects::group::{self, Group};
use weft_objects::handler::{Handler, Kind};
use weft_process::job;

use crate::intercomm::{Bridge, LeaderLink, connect};

/// `MPI_MAX_STRINGTAG_LEN`, with the terminating null.
const STRING_TAG_BYTES: usize = 256;

/// What both kinds are made with, besides groups.
pub struct CreationArguments<'a> {
    pub string_tag: &'a CStr,
    pub info: Option<InfoId>,
    /// The new communicator's.
    pub handler: Handler,
}

/// What an inter-communicator is made of. The remote group counts at the leader only, which finds it by `remote`.
pub struct IntercommGroups<F> {
    pub local: GroupId,
    pub local_leader: i32,
    pub remote: F,
    pub remote_leader: i32,
}

impl CreationArguments<'_> {
    fn run(
        self,
        make: impl FnOnce(&Self, LaneSelection) -> Result<Option<Comm>>,
    ) -> Result<Option<CommId>> {
        let handler = self.handler.clone().for_kind(Kind::Comm)?;
        let hints = hints::from_info(self.info)?;
        let Some(comm) = make(&self, hints.promised())? else {
            return Ok(None);
        };
        comm.set_handler(handler);
        comm.set_hints(hints);
        register(comm).map(Some)
    }

    fn agreement(&self) -> Result<AgreementTag> {
        let bytes = self.string_tag.to_bytes();
        if bytes.len() >= STRING_TAG_BYTES {
            let most = STRING_TAG_BYTES - 1;
            let what = format_args!(
                "{} characters; at most {most} are a string tag",
                bytes.len()
            );
            return Err(argument(Class::Arg, "stringtag", what));
        }
        Ok(AgreementTag::new(bytes))
    }
}

/// Where the processes of an operation meet.
#[derive(Clone, Copy, Debug)]
struct AgreementTag {
    tag: u32,
    /// More of the hash than the tag holds.
    mark: i64,
}

const MARK: &str = "mark of a string tag";

impl AgreementTag {
    fn new(string_tag: &[u8]) -> AgreementTag {
        let mut hasher = FnvHasher::default();
        hasher.write(string_tag);
        let hash = hasher.finish();
        AgreementTag {
            tag: (hash >> 33) as u32,
            mark: (hash >> 1) as i64,
        }
    }

    /// An intra-communicator of a group that this process is in.
    fn make(self, group: &Group, promised: LaneSelection) -> Result<Comm> {
        let rank = group
            .rank_of(job::rank())
            .ok_or_else(|| argument(Class::Group, "group", "this process is not in it"))?;
        let members: Vec<u32> = group.peers().collect();
        let peers = Peers::some(whole_job(), &members, rank as usize);
        let marks = [self.mark, -self.mark];
        let [most, least] = largest(&peers, self.tag, marks, |mut marks| {
            marks.length(MARK)?;
            marks.within(-i64::MAX..=0, MARK).map(drop)
        })?;
        if most != -least {
            let what = "not the same on all processes of the group";
            return Err(argument(Class::Arg, "stringtag", what));
        }
        let agreed = promised.agree(contexts(), group.size() == 1, |words| {
            largest(&peers, self.tag, words, LaneSelection::check)
        });
        let (number, selection) = agreed?;
        let comm = Comm::new(number, rank, group.clone(), c"");
        comm.set_lane_selection(selection);
        Ok(comm)
    }
}

/// `MPI_Comm_create_from_group`: none for the empty group.
pub fn create(group: GroupId, arguments: CreationArguments<'_>) -> Result<Option<CommId>> {
    arguments.run(|arguments, promised| {
        let group = group::find(group)?;
        let agreement = arguments.agreement()?;
        match group.size() {
            0 => Ok(None),
            _ => agreement.make(&group, promised).map(Some),
        }
    })
}

/// `MPI_Intercomm_create_from_groups`: none if a group is empty.
pub fn create_inter<F>(
    groups: IntercommGroups<F>,
    arguments: CreationArguments<'_>,
) -> Result<Option<CommId>>
where
    F: FnOnce() -> Result<GroupId>,
{
    arguments.run(|arguments, promised| {
        let group = group::find(groups.local)?;
        let agreement = arguments.agreement()?;
        if group.size() == 0 {
            return Ok(None);
        }
        let local = agreement.make(&group, LaneSelection::default())?;
        let made = bridged(groups, &local, agreement, promised);
        local.release_numbers();
        made
    })
}

fn bridged<F>(
    groups: IntercommGroups<F>,
    local: &Comm,
    agreement: AgreementTag,
    promised: LaneSelection,
) -> Result<Option<Comm>>
where
    F: FnOnce() -> Result<GroupId>,
{
    let leader = local.check_rank(Class::Rank, "local_leader", groups.local_leader)?;
    let leads = leader == local.rank();
    let remote = match leads {
        true => remote_leader(groups),
        false => Ok(None),
    };
    // The others of this group must not wait for a leader that has no other leader to meet.
    let found = match &remote {
        Err(_) => 2,
        Ok(None) => i64::from(leads),
        Ok(Some(_)) => 0,
    };
    let peers = Peers::all(local);
    let [found] = largest(&peers, local.next_operation(), [found], |mut found| {
        found.index(3, "outcome of a search").map(drop)
    })?;
    let remote = remote?;
    match found {
        0 => {}
        1 => return Ok(None),
        _ => {
            let what = "the local leader's remote_group or remote_leader is wrong";
            return Err(Error::new(Class::Arg, what));
        }
    }
    let link = remote.map(|remote_leader| LeaderLink {
        comm: whole_job(),
        remote_leader,
        traffic: Traffic::Collective,
        tag: agreement.tag,
    });
    let bridge = Bridge {
        local,
        leader,
        link,
    };
    connect(&bridge, promised).map(Some)
}

/// The process that leads the remote group; none if that is empty.
fn remote_leader<F>(groups: IntercommGroups<F>) -> Result<Option<u32>>
where
    F: FnOnce() -> Result<GroupId>,
{
    let remote = group::find((groups.remote)()?)?;
    let size = remote.size();
    match u32::try_from(groups.remote_leader) {
        _ if size == 0 => Ok(None),
        Ok(rank) if rank < size => Ok(Some(remote.peer(rank))),
        _ => {
            let leader = groups.remote_leader;
            let what = format_args!("{leader} is not a rank of a group of {size}");
            Err(argument(Class::Rank, "remote_leader", what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_tags_are_told_apart() {
        let tags: std::collections::HashSet<u32> = (0..1000)
            .map(|number| AgreementTag::new(format!("library.{number}").as_bytes()).tag)
            .collect();
        assert_eq!(tags.len(), 1000);
        assert!(tags.iter().all(|&tag| tag <= weft_objects::TAG_UB as u32));
        assert!(AgreementTag::new(b"").mark >= 0);
    }
}
