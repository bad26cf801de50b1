//! `MPIX_Comm_shrink`: a communicator of the processes that live. Its numbers are agreed on in agreements too, so that who
//! dies meanwhile keeps nobody waiting; it has the members that the last of these says.

use std::sync::Arc;

use weft_agreement::{Decision, Values};
use weft_communicators::create::inherit;
use weft_error::Result;
use weft_error::told::{Reader, Teller};
use weft_handle::CommId;
use weft_messages::operation::Awaited;
use weft_messages::request::{Request, Status};
use weft_objects::comm::numbers::agreement::check_round;
use weft_objects::comm::numbers::contexts;
use weft_objects::comm::{Comm, register, share};
use weft_objects::group::Group;
use weft_process::job;

use crate::agree::{Place, begin, decide, wait};
use crate::registry::with;

/// `MPIX_Comm_ishrink`.
pub fn ishrink(comm: CommId, place: Place<CommId>) -> Result<Request> {
    let comm = share(comm)?;
    begin(&comm.clone(), |awaited| async move {
        let made = match comm.local_and_remote() {
            None => intra(&comm, &awaited).await?,
            Some((local, _)) => inter(&comm, local, &awaited).await?,
        };
        place(register(inherit(&comm, made))?);
        Ok(Status::EMPTY)
    })
}

/// `MPIX_Comm_shrink`.
pub fn shrink(comm: CommId, place: Place<CommId>) -> Result<()> {
    wait(ishrink(comm, place)?)
}

/// A number for what the living processes of a communicator make, and who has failed.
async fn numbered(comm: &Comm, awaited: &Awaited) -> Result<(u32, Decision)> {
    let mut agreement = contexts().begin_nonblocking();
    loop {
        let mut values = Values::NEUTRAL;
        values.words[..2].copy_from_slice(&agreement.propose());
        let decision = decide(comm, values, awaited).await?;
        let [first, second, ..] = decision.values.words;
        check_round(Reader::new(Teller::Anybody, &[first, second]))?;
        if let Some(number) = agreement.conclude([first, second])? {
            return Ok((number, decision));
        }
    }
}

/// Those of a group that have not failed.
fn living(comm: &Comm, group: &Group, decision: &Decision) -> Group {
    let failed = with(comm, |ours| {
        ours.members.group(decision.failed.iter().copied())
    });
    group.difference(&failed)
}

fn own_rank(group: &Group) -> u32 {
    group.rank_of(job::rank()).expect("this process lives")
}

async fn intra(comm: &Comm, awaited: &Awaited) -> Result<Comm> {
    let (number, decision) = numbered(comm, awaited).await?;
    let group = living(comm, comm.group(), &decision);
    Ok(Comm::new(number, own_rank(&group), group, c""))
}

async fn inter(comm: &Comm, local: &Comm, awaited: &Awaited) -> Result<Comm> {
    let (local_number, _) = numbered(local, awaited).await?;
    let (number, decision) = numbered(comm, awaited).await?;
    let own = living(comm, comm.group(), &decision);
    let remote = comm.remote_group()?;
    let remote = living(comm, remote, &decision);
    let own = Comm::new(local_number, own_rank(&own), own, c"");
    Ok(Comm::inter(number, Arc::new(own), remote))
}
