//! `MPI_Comm_idup` (MPI-5.0 §7.4.2): what is copied is copied in the call, and the processes agree on numbers after it.

use std::sync::Arc;

use weft_collective::inter::Sides;
use weft_collective::{Channel, boxed};
use weft_collective_calls::{Call, Peers, Plan, largest_of_both, largest_over};
use weft_error::Result;
use weft_handle::{CommId, InfoId};
use weft_messages::lingering::linger;
use weft_messages::request::Request;
use weft_objects::comm::lanes::LaneSelection;
use weft_objects::comm::numbers::agreement::check_round;
use weft_objects::comm::numbers::{UNAGREED, contexts};
use weft_objects::comm::{Comm, hints, register, share, share_unrevoked};

use super::create::inherit;

/// A communicator whose processes agree on its numbers. Without a handle it is given up when they have.
pub struct Duplicate {
    copy: Arc<Comm>,
    promised: LaneSelection,
    id: Option<CommId>,
}

/// `MPI_Comm_idup_with_info`: the new communicator, which may be used once the request is complete.
pub fn idup(id: CommId, info: Option<InfoId>) -> Result<(CommId, Request)> {
    let comm = share_unrevoked(id)?;
    let hints = hints::from_info(info)?;
    let attributes = comm.attributes.copied(id.handle());
    let own = Comm::new(UNAGREED, comm.rank(), comm.group().clone(), c"");
    let mut copy = match comm.local_and_remote() {
        None => own,
        Some((_, remote)) => Comm::inter(UNAGREED, Arc::new(own), remote.clone()),
    };
    if let Some(topology) = comm.shared_topology() {
        copy.set_topology(topology);
    }
    let promised = hints.promised();
    copy.set_hints(hints);
    let mut copy = inherit(&comm, copy);
    let registered = attributes.and_then(|attributes| {
        copy.attributes = attributes;
        register(copy)
    });
    let (copy, id, failed) = match registered {
        Ok(id) => (share(id)?, Some(id), None),
        // The others wait for this process all the same.
        Err(error) => {
            let own = Comm::new(UNAGREED, comm.rank(), comm.group().clone(), c"");
            (Arc::new(own), None, Some(error))
        }
    };
    let request = Call::new(comm, Duplicate { copy, promised, id }).begin()?;
    match (id, failed) {
        (Some(id), None) => Ok((id, request)),
        (_, error) => {
            linger(request, ());
            Err(error.expect("there is no handle because of an error"))
        }
    }
}

impl Duplicate {
    /// The number, and the promises that all of them make, agreed over `largest`.
    async fn numbered(
        &self,
        alone: bool,
        mut largest: impl AsyncFnMut([i64; 4]) -> Result<[i64; 4]>,
    ) -> Result<(u32, LaneSelection)> {
        let mut selection = self.promised;
        let number = number_over(alone, async |pair| {
            let words = largest(self.promised.words(pair)).await?;
            let (pair, agreed) = LaneSelection::of_words(words);
            selection = agreed;
            Ok(pair)
        });
        Ok((number.await?, selection))
    }

    fn agreed(&self, number: u32, local: Option<u32>, selection: LaneSelection) {
        let contexts = contexts();
        match self.id {
            Some(id) => self.copy.agreed(number, local, selection, id),
            None => [Some(number), local]
                .into_iter()
                .flatten()
                .for_each(|number| contexts.release(number)),
        }
    }
}

impl Plan for Duplicate {
    type Owned = Duplicate;

    fn into_owned(self) -> Duplicate {
        self
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let (number, selection) = self
            .numbered(channel.size() == 1, async |words| {
                boxed(|| largest_over(channel, words, LaneSelection::check)).await
            })
            .await?;
        self.agreed(number, None, selection);
        Ok(())
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        let (number, selection) = self
            .numbered(false, async |words| {
                boxed(|| largest_of_both(sides, words, LaneSelection::check)).await
            })
            .await?;
        let local = number_over(sides.local.size() == 1, async |pair| {
            boxed(|| largest_over(&sides.local, pair, check_round)).await
        })
        .await;
        let local = local.inspect_err(|_| contexts().release(number))?;
        self.agreed(number, Some(local), selection);
        Ok(())
    }
}

async fn number_over(
    alone: bool,
    mut largest: impl AsyncFnMut([i64; 2]) -> Result<[i64; 2]>,
) -> Result<u32> {
    if alone {
        return contexts().alone();
    }
    let mut agreement = contexts().begin_nonblocking();
    loop {
        let agreed = largest(agreement.propose()).await?;
        if let Some(number) = agreement.conclude(agreed)? {
            return Ok(number);
        }
    }
}
