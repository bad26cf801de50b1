//! Barrier, and what goes from one process to all or from all to one (MPI-5.0 §6.3 to §6.6). What is significant at the
//! root alone is looked at there alone.

use weft_collective::inter::{self, Sides};
use weft_collective::{Blocks, Channel};
use weft_error::{OfBuffer, Result};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::types::Buffer;

use super::blocks::{Layout, Vectors};
use super::call::{Call, Form, Plan, comm as shared};
use super::peers::Peers;
use super::root::Root;
use super::void::Glance;
use super::{check_apart, in_place_off_root, not_in_place, optional_memory};
use super::{linear, short};

pub struct Barrier;

/// `MPI_Barrier`.
#[inline]
pub fn barrier(form: Form, comm: CommId) -> Result<Call<Barrier>> {
    if let Some(call) = form.or_short(|| short::barrier(comm)) {
        return Ok(call);
    }
    Ok(Call::new(shared(comm)?, Barrier))
}

impl Plan for Barrier {
    type Owned = Barrier;

    fn into_owned(self) -> Barrier {
        self
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        weft_collective::barrier(channel).await
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        inter::barrier(sides).await
    }
}

pub struct Bcast {
    memory: Memory,
    root: Root,
}

/// `MPI_Bcast`.
#[inline]
pub fn bcast(form: Form, buffer: Buffer, root: i32, comm: CommId) -> Result<Call<Bcast>> {
    if let Some(call) = Call::void_if(comm, buffer.is_nothing(), |comm| {
        Root::new(comm, root).is_ok()
    }) {
        return Ok(call);
    }
    moving_bcast(form, buffer, root, comm)
}

/// The same, where something may be moved. Out of line, so that calls of nothing do not prepare for it.
#[inline(never)]
fn moving_bcast(form: Form, buffer: Buffer, root: i32, comm: CommId) -> Result<Call<Bcast>> {
    if let Some(call) = form.or_short(|| short::bcast(&buffer, root, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    let memory = match root.is_me() || root.has_leaf() {
        true => buffer.memory()?,
        false => Memory::contiguous(std::ptr::null_mut(), 0),
    };
    Ok(Call::new(comm, Bcast { memory, root }))
}

impl Plan for Bcast {
    type Owned = Bcast;

    fn into_owned(self) -> Bcast {
        self
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.memory.bytes == 0
    }

    #[inline]
    fn leader(&self) -> Option<usize> {
        Some(self.root.within())
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        weft_collective::bcast(channel, self.memory.clone(), self.root.within()).await
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        inter::bcast(sides, self.memory.clone(), self.root.between()).await
    }
}

/// The call in which this process has no bytes in its part, which is in place at the root alone, nor the root in its blocks.
#[inline]
fn void<P: Plan>(
    id: CommId,
    root: i32,
    leaf: Option<Buffer>,
    has_no_blocks: impl FnOnce() -> bool,
) -> Option<Call<P>> {
    let has_nothing = leaf.is_none_or(|leaf| leaf.is_nothing());
    Call::void_if(id, has_nothing, |comm| {
        Root::new(comm, root).is_ok_and(|root| match root.is_me() {
            true => has_no_blocks(),
            false => leaf.is_some(),
        })
    })
}

/// One block that every process has, and at the root all of them.
pub struct Rooted<'a> {
    leaf: Option<Memory>,
    blocks: Option<Layout<'a>>,
    root: Root,
    /// Blocks are as long for all processes.
    equal: bool,
}

impl<'a> Rooted<'a> {
    fn new(
        (leaf, side): (Option<Buffer>, &'static str),
        blocks: Option<Layout<'a>>,
        (root, ranks): (Root, u32),
        equal: bool,
    ) -> Result<Rooted<'a>> {
        let leaf = match (root, leaf) {
            (Root::Inter(_), leaf) if root.has_leaf() => Some(
                not_in_place(leaf, "buf")
                    .of_buffer(side)?
                    .memory()
                    .of_buffer(side)?,
            ),
            (Root::Inter(_), _) => None,
            (Root::Rank { is_me: false, .. }, None) => {
                return Err(in_place_off_root()).of_buffer(side);
            }
            (Root::Rank { .. }, leaf) => optional_memory(leaf).of_buffer(side)?,
        };
        if let Some(blocks) = &blocks {
            check_apart(leaf.as_ref(), blocks, ranks as usize)?;
        }
        Ok(Rooted {
            leaf,
            blocks,
            root,
            equal,
        })
    }

    fn blocks(&self) -> Option<&dyn Blocks> {
        self.blocks.as_ref().map(|blocks| blocks as &dyn Blocks)
    }

    /// Whether the blocks are all as long, and have no bytes.
    fn is_void(&self) -> bool {
        let any = self.leaf.as_ref().map(|leaf| leaf.bytes);
        let any = any.or_else(|| self.blocks.as_ref().map(|blocks| blocks.block(0).bytes));
        self.equal && any == Some(0)
    }

    fn keep(self) -> Rooted<'static> {
        Rooted {
            leaf: self.leaf,
            blocks: self.blocks.map(Layout::into_owned),
            root: self.root,
            equal: self.equal,
        }
    }
}

pub struct Gather<'a>(Rooted<'a>);

/// `MPI_Gather`: `receive` matters at the root.
#[inline]
pub fn gather(
    form: Form,
    send: Option<Buffer>,
    receive: Buffer,
    root: i32,
    comm: CommId,
) -> Result<Call<Gather<'static>>> {
    if let Some(call) = void(comm, root, send, || receive.is_nothing()) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::gather(send.as_ref(), &receive, root, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    let mut blocks = None;
    if root.is_me() {
        blocks = Some(Layout::equal(receive, comm.peer_count()).of_buffer("recv")?);
    }
    let rooted = Rooted::new((send, "send"), blocks, (root, comm.peer_count()), true)?;
    Ok(Call::new(comm, Gather(rooted)))
}

/// `MPI_Gatherv`: `receive` matters at the root.
#[inline]
pub fn gatherv<'a>(
    form: Form,
    send: Option<Buffer>,
    receive: Option<Vectors<'a>>,
    root: i32,
    comm: CommId,
) -> Result<Call<Gather<'a>>> {
    if let Some(call) = void(comm, root, send, || {
        receive.as_ref().is_some_and(Glance::is_nothing)
    }) {
        return Ok(call);
    }
    if let Some(outcome) =
        form.or_through(|| linear::gatherv(send.as_ref(), receive.as_ref(), root, comm))
    {
        return outcome;
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    let receive = receive.filter(|_| root.is_me());
    let blocks =
        receive.map(|receive| Layout::varying(receive, comm.peer_count()).of_buffer("recv"));
    let root = (root, comm.peer_count());
    let rooted = Rooted::new((send, "send"), blocks.transpose()?, root, false)?;
    Ok(Call::new(comm, Gather(rooted)))
}

impl Plan for Gather<'_> {
    type Owned = Gather<'static>;

    fn into_owned(self) -> Gather<'static> {
        Gather(self.0.keep())
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.0.is_void()
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let Rooted {
            leaf, root, equal, ..
        } = &self.0;
        let (send, root) = (leaf.clone(), root.within());
        match equal {
            true => weft_collective::gather(channel, send, self.0.blocks(), root).await,
            false => weft_collective::gatherv(channel, send, self.0.blocks(), root).await,
        }
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        let send = self.0.leaf.clone();
        inter::gather(sides, send, self.0.blocks(), self.0.root.between()).await
    }
}

pub struct Scatter<'a>(Rooted<'a>);

/// `MPI_Scatter`: `send` matters at the root.
#[inline]
pub fn scatter(
    form: Form,
    send: Buffer,
    receive: Option<Buffer>,
    root: i32,
    comm: CommId,
) -> Result<Call<Scatter<'static>>> {
    if let Some(call) = void(comm, root, receive, || send.is_nothing()) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::scatter(&send, receive.as_ref(), root, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    let mut blocks = None;
    if root.is_me() {
        blocks = Some(Layout::equal(send, comm.peer_count()).of_buffer("send")?);
    }
    let rooted = Rooted::new((receive, "recv"), blocks, (root, comm.peer_count()), true)?;
    Ok(Call::new(comm, Scatter(rooted)))
}

/// `MPI_Scatterv`: `send` matters at the root.
#[inline]
pub fn scatterv<'a>(
    form: Form,
    send: Option<Vectors<'a>>,
    receive: Option<Buffer>,
    root: i32,
    comm: CommId,
) -> Result<Call<Scatter<'a>>> {
    if let Some(call) = void(comm, root, receive, || {
        send.as_ref().is_some_and(Glance::is_nothing)
    }) {
        if let (Form::Blocking, Call::Void(comm)) = (form, &call) {
            // Others may have blocks, and wait for the root.
            let operations = comm.operations();
            operations.lead(operations.next(), root as usize);
        }
        return Ok(call);
    }
    if let Some(outcome) =
        form.or_through(|| linear::scatterv(send.as_ref(), receive.as_ref(), root, comm))
    {
        return outcome;
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    let send = send.filter(|_| root.is_me());
    let blocks = send.map(|send| Layout::varying(send, comm.peer_count()).of_buffer("send"));
    let root = (root, comm.peer_count());
    let rooted = Rooted::new((receive, "recv"), blocks.transpose()?, root, false)?;
    Ok(Call::new(comm, Scatter(rooted)))
}

impl Plan for Scatter<'_> {
    type Owned = Scatter<'static>;

    fn into_owned(self) -> Scatter<'static> {
        Scatter(self.0.keep())
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.0.is_void()
    }

    #[inline]
    fn leader(&self) -> Option<usize> {
        Some(self.0.root.within())
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let Rooted {
            leaf, root, equal, ..
        } = &self.0;
        let (receive, root) = (leaf.clone(), root.within());
        match equal {
            true => weft_collective::scatter(channel, self.0.blocks(), receive, root).await,
            false => weft_collective::scatterv(channel, self.0.blocks(), receive, root).await,
        }
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        let receive = self.0.leaf.clone();
        inter::scatter(sides, self.0.blocks(), receive, self.0.root.between()).await
    }
}
