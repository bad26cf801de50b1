//! What can be done with a collective operation whose arguments are checked.

use std::sync::Arc;

use weft_collective::inter::Sides;
use weft_collective::{Channel, Outcome, boxed, run_blocking};
use weft_error::Result;
use weft_handle::CommId;
use weft_messages::operation::{self, Awaited, SendFuture};
use weft_messages::persistent;
use weft_messages::request::{Request, Status};
use weft_objects::comm::begun::{Begun, Tagged};
use weft_objects::comm::{Comm, CommReference, Traffic};
use weft_process::engine::engine;

use super::arena;
use super::arguments::Over;
use super::peers::Peers;

/// A collective operation's checked arguments, and how it runs.
pub trait Plan {
    /// The same without what the caller may take back: arrays of counts and the like.
    type Owned: Plan + Send + Sync + 'static;

    fn into_owned(self) -> Self::Owned;

    /// Whether nothing is to be moved, as all processes of an intra-communicator know: the lengths that say so match on all of them.
    #[inline]
    fn is_void(&self) -> bool {
        false
    }

    /// The rank of an intra-communicator for which all wait, and which waits for none.
    #[inline]
    fn leader(&self) -> Option<usize> {
        None
    }

    /// On an intra-communicator.
    fn within(&self, channel: &Channel<'_, Peers<'_>>) -> impl Future<Output = Result<()>>;

    /// On an inter-communicator.
    fn between(&self, sides: &Sides<'_, Peers<'_>>) -> impl Future<Output = Result<()>>;
}

/// Whether a call runs its operation or gives a request for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The operation runs in it.
    Blocking,
    /// It gives a request.
    Request,
}

impl Form {
    /// The call of an operation that was gone through with this outcome, tried if it is for running it.
    #[inline(always)]
    pub(super) fn or_through<P>(
        self,
        through: impl FnOnce() -> Option<Result<()>>,
    ) -> Option<Result<Call<P>>> {
        match self {
            Form::Blocking => through().map(|outcome| outcome.map(|()| Call::Over)),
            Form::Request => None,
        }
    }

    /// The call of an operation that may be short, tried if it is for running it.
    #[inline(always)]
    pub(super) fn or_short<P>(self, short: impl FnOnce() -> Option<Over>) -> Option<Call<P>> {
        match self {
            Form::Blocking => short().map(|Over| Call::Over),
            Form::Request => None,
        }
    }
}

/// A collective operation that can run: at once, beside other calls, or again and again.
pub enum Call<P> {
    /// It is over: the call was for running it.
    Over,
    /// This process moves nothing in it, and no other waits for it.
    Void(&'static Comm),
    Planned(Planned<P>),
}

pub struct Planned<P> {
    comm: Arc<Comm>,
    plan: P,
}

/// The tags of one operation that goes on beside other calls: in the communicator, and in its local one if it has one.
struct Tags {
    own: Tagged,
    local: Option<Tagged>,
}

impl Tags {
    /// The same on all processes, as all of them make their calls in one order (MPI-5.0 §6.1).
    fn next(comm: &Comm, tag: impl Fn(&Begun) -> Tagged) -> Tags {
        let own = tag(comm.begun());
        let local = comm.local_and_remote().map(|(local, _)| tag(local.begun()));
        Tags { own, local }
    }
}

impl<P: Plan> Call<P> {
    pub fn new(comm: Arc<Comm>, plan: P) -> Call<P> {
        Call::Planned(Planned { comm, plan })
    }

    /// The blocking form. In line, so that the plan is made where it is used.
    #[inline(always)]
    pub fn run(self) -> Result<()> {
        match &self {
            Call::Over => Ok(()),
            Call::Void(comm) => pass(comm),
            Call::Planned(planned) => planned.run(),
        }
    }

    /// The nonblocking form (MPI-5.0 §6.12).
    pub fn begin(self) -> Result<Request> {
        match self {
            Call::Over => unreachable!("{OVER}"),
            Call::Void(comm) => {
                comm.begun().next_nonblocking();
                Ok(Request::done())
            }
            Call::Planned(planned) => planned.begin(),
        }
    }

    /// The persistent form (MPI-5.0 §6.13).
    pub fn prepare(self) -> Result<Request> {
        match self {
            Call::Over => unreachable!("{OVER}"),
            Call::Void(comm) => {
                let tagged = comm.begun().prepare();
                tagged.choose(0);
                persistent::register(Box::new(move || {
                    let _kept_for_those_that_ask = &tagged;
                    Ok(Request::done())
                }))
            }
            Call::Planned(planned) => planned.prepare(),
        }
    }
}

const OVER: &str = "an operation is gone through at once in the blocking form alone";

/// Goes through a blocking operation in which nothing is moved here: another rank may move something, so that the arena is made with it.
#[inline]
fn pass(comm: &Comm) -> Result<()> {
    arena::access(comm, comm.next_operation());
    comm.operations().end();
    Ok(())
}

impl<P: Plan> Planned<P> {
    #[inline(always)]
    fn run(&self) -> Result<()> {
        let Planned { comm, plan } = self;
        let local_and_remote = comm.local_and_remote();
        if local_and_remote.is_none() && plan.is_void() {
            return pass(comm);
        }
        match local_and_remote {
            None => self.run_within(),
            Some((local, _)) => self.run_between(local),
        }
    }

    /// On an intra-communicator. Out of line, as the other form is: a thread's stack may be small, and has one of them.
    #[inline(never)]
    fn run_within(&self) -> Result<()> {
        let Planned { comm, plan } = self;
        let tag = comm.next_operation();
        let outcome = Outcome::default();
        if let Some(leader) = plan.leader() {
            comm.operations().lead(tag, leader);
        }
        let peers = Peers::of_call(comm, tag, arena::access(comm, tag));
        let channel = Channel::new(&peers, tag, &outcome);
        let result = run_blocking(plan.within(&channel), || peers.wait());
        comm.operations().end();
        engine().waited_outside(tag);
        result
    }

    /// On an inter-communicator.
    #[inline(never)]
    fn run_between(&self, local: &Comm) -> Result<()> {
        let Planned { comm, plan } = self;
        let tag = comm.next_operation();
        let outcome = Outcome::default();
        let peers = Peers::of_call(comm, tag, None);
        let channel = Channel::new(&peers, tag, &outcome);
        let local_tag = local.next_operation();
        let local_peers = Peers::of_call(local, local_tag, None);
        let sides = Sides {
            local: Channel::new(&local_peers, local_tag, &outcome),
            remote: channel,
        };
        let result = run_blocking(boxed(|| plan.between(&sides)), || {
            peers.wait();
            local_peers.wait();
        });
        comm.operations().end();
        local.operations().end();
        result
    }

    fn begin(self) -> Result<Request> {
        let tags = Tags::next(&self.comm, Begun::begin);
        let prepared = Prepared(Arc::new(Inner {
            comm: CommReference::new(self.comm),
            plan: self.plan.into_owned(),
            tags,
        }));
        prepared.start()
    }

    /// Its starts need not come in one order on all processes, so their tag is one that the operation keeps; between two processes
    /// its messages do not overtake each other from start to start.
    fn prepare(self) -> Result<Request> {
        let tags = Tags::next(&self.comm, Begun::prepare);
        let prepared = Prepared(Arc::new(Inner {
            comm: CommReference::new(self.comm),
            plan: self.plan.into_owned(),
            tags,
        }));
        persistent::register(Box::new(move || prepared.start()))
    }
}

struct Inner<P> {
    comm: CommReference,
    plan: P,
    tags: Tags,
}

/// An operation that does not need its call any more.
struct Prepared<P>(Arc<Inner<P>>);

// SAFETY: a plan is addresses, datatypes and numbers, which no one changes, and it is used by one operation at a time.
// Whose thread then works on the user's memory does not matter, as with `Memory`.
unsafe impl<P> Send for Prepared<P> {}
// SAFETY: as above.
unsafe impl<P> Sync for Prepared<P> {}

impl<P: Plan + 'static> Prepared<P> {
    fn start(&self) -> Result<Request> {
        let inner = self.0.clone();
        let comm = &inner.comm;
        let (lane, context) = (comm.lane(), comm.context(Traffic::Collective));
        operation::begin(lane, context, |awaited| {
            // SAFETY: what is not `Send` is the plan, which may be sent (see `Prepared`), and the channels and peers,
            // which the future owns.
            unsafe { SendFuture::new(run(inner, awaited)) }
        })
    }
}

async fn run<P: Plan>(inner: Arc<Inner<P>>, awaited: Awaited) -> Result<Status> {
    let Inner { comm, plan, tags } = &*inner;
    let _under_way = (tags.own.start(), tags.local.as_ref().map(Tagged::start));
    let peers = Peers::of_tagged(comm, &awaited, &tags.own);
    let outcome = Outcome::default();
    let channel = Channel::new(&peers, tags.own.tag(), &outcome);
    match (comm.local_and_remote(), &tags.local) {
        (Some((local, _)), Some(tagged)) => {
            let local = Peers::of_tagged(local, &awaited, tagged);
            let local = Channel::new(&local, tagged.tag(), &outcome);
            let remote = channel;
            let sides = Sides { local, remote };
            boxed(|| plan.between(&sides)).await?;
        }
        _ => plan.within(&channel).await?,
    }
    Ok(Status::EMPTY)
}

/// The communicator of a call, for its length.
pub(super) fn comm(id: CommId) -> Result<Arc<Comm>> {
    weft_objects::comm::share_unrevoked(id)
}
