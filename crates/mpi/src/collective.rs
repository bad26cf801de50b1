//! Collective operations (MPI-5.0 chapter 6): arguments checked, then an algorithm of `weft_collective` driven over
//! the communicator's collective context.

use std::cell::Cell;

use weft_collective::{
    Blocks, Channel, Combine, Counts, PointToPoint, PredefinedOp, Reduction, Uniform, Varying,
    run_blocking,
};
use weft_datatype::{Datatype, Op};
use weft_engine::RequestId;
use weft_transport::Memory;

use crate::comm::{Comm, CommId, Traffic};
use crate::completion;
use crate::error::handler::argument;
use crate::error::{Class, Error, Result};
use crate::operation::{self, Awaited, Whole};
use crate::point_to_point::{Buffer, Mode, start_receive, start_send};
use crate::process::process;
use crate::request::{Request, Status};
use crate::types::{self, TypeId};

/// The processes of a collective operation: a communicator's, or some of them.
pub(crate) struct Peers<'a> {
    comm: &'a Comm,
    traffic: Traffic,
    /// Their ranks in the communicator; none for all.
    members: Option<&'a [u32]>,
    rank: usize,
    waiting: Waiting<'a>,
}

/// Who learns what an operation waits for.
enum Waiting<'a> {
    /// The call that drives it.
    Call(Cell<Option<RequestId>>),
    /// Whoever makes progress.
    Operation(&'a Awaited),
}

impl<'a> Peers<'a> {
    pub fn all(comm: &'a Comm) -> Peers<'a> {
        Peers {
            comm,
            traffic: Traffic::Collective,
            members: None,
            rank: comm.rank() as usize,
            waiting: Waiting::Call(Cell::new(None)),
        }
    }

    /// Some of a communicator's processes, this one at `rank` among them.
    pub fn some(comm: &'a Comm, members: &'a [u32], rank: usize) -> Peers<'a> {
        Peers {
            comm,
            traffic: Traffic::Internal,
            members: Some(members),
            rank,
            waiting: Waiting::Call(Cell::new(None)),
        }
    }

    /// A communicator's processes, in an operation that goes on beside other calls.
    fn of_operation(comm: &'a Comm, awaited: &'a Awaited) -> Peers<'a> {
        Peers {
            waiting: Waiting::Operation(awaited),
            ..Peers::all(comm)
        }
    }

    /// Waits for what was found pending last.
    fn wait(&self) {
        if let Waiting::Call(pending) = &self.waiting
            && let Some(id) = pending.take()
        {
            process().engine.wait_any(&[id]);
        }
    }

    fn peer(&self, rank: usize) -> u32 {
        self.members.map_or(rank as u32, |members| members[rank])
    }
}

impl PointToPoint for Peers<'_> {
    type Request = Request;
    type Error = Error;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.map_or(self.comm.size() as usize, <[u32]>::len)
    }

    fn oversubscribed(&self) -> bool {
        process().oversubscribed()
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<Request> {
        start_send(
            self.comm,
            self.traffic,
            memory,
            self.peer(to),
            tag,
            Mode::Standard,
        )
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<Request> {
        start_receive(
            self.comm,
            self.traffic,
            memory,
            self.peer(from) as i32,
            tag as i32,
        )
    }

    fn poll(&self, mut request: Request) -> Option<Result<usize>> {
        if let Some(id) = request.as_engine()
            && !process().engine.is_complete(id)
            && request != Request::done()
        {
            match &self.waiting {
                Waiting::Call(pending) => pending.set(Some(id)),
                Waiting::Operation(awaited) => awaited.request(id),
            }
            return None;
        }
        let finished = completion::wait(&mut request);
        Some(finished.and_then(|status| status.check().map(|()| status.bytes as usize)))
    }
}

/// Drives an operation to its end, waiting as the engine waits.
pub(crate) fn drive<'p, F>(peers: &Peers<'p>, tag: u32, operation: F) -> Result<()>
where
    F: AsyncFnOnce(&Channel<'_, Peers<'p>>) -> Result<()>,
{
    let channel = Channel::new(peers, tag);
    run_blocking(operation(&channel), || peers.wait())
}

/// Drives an operation of a whole communicator.
fn on_all<F>(comm: &Comm, operation: F) -> Result<()>
where
    F: AsyncFnOnce(&Channel<'_, Peers<'_>>) -> Result<()>,
{
    check_intra(comm)?;
    let peers = Peers::all(comm);
    drive(&peers, comm.next_operation(), async |channel| {
        operation(channel).await
    })
}

fn check_intra(comm: &Comm) -> Result<()> {
    match comm.sides() {
        None => Ok(()),
        Some(_) => {
            let what = "not implemented on inter-communicators in WeftMPI";
            Err(Error::new(Class::UnsupportedOperation, what))
        }
    }
}

/// The element-wise maximum of two numbers over some processes.
pub(crate) fn largest(peers: &Peers<'_>, tag: u32, pair: [i64; 2]) -> Result<[i64; 2]> {
    let predefined = weft_datatype::Predefined::Int64;
    let (datatype, op) = (
        Datatype::from(predefined),
        predefined_op(Op::Max, TypeId::predefined(predefined))?,
    );
    let mut result = pair;
    let output = result.as_mut_ptr().cast();
    // SAFETY: `result` holds two elements of the type and outlives the operation.
    let reduction = unsafe { Reduction::new(&op, &datatype, 2, None, output)? };
    drive(peers, tag, async |channel| {
        weft_collective::allreduce(channel, reduction).await
    })?;
    Ok(result)
}

/// Everyone's `mine`, in rank order.
pub(crate) fn gather_words<const N: usize>(comm: &Comm, mine: [i64; N]) -> Result<Vec<[i64; N]>> {
    let mut all = vec![[0i64; N]; comm.size() as usize];
    let datatype = Datatype::from(weft_datatype::Predefined::Int64);
    let blocks = Uniform::new(&datatype, all.as_mut_ptr().cast(), N, all.len())?;
    let memory = Memory::contiguous(mine.as_ptr().cast_mut().cast(), N * 8);
    on_all(comm, async |channel| {
        weft_collective::allgather(channel, Some(memory), &blocks).await
    })?;
    Ok(all)
}

fn check_root(comm: &Comm, root: i32) -> Result<usize> {
    comm.check_rank(Class::Root, "root", root)
        .map(|root| root as usize)
}

/// A predefined operation on a datatype (MPI-5.0 §6.9.2).
pub fn predefined_op(op: Op, datatype: TypeId) -> Result<PredefinedOp> {
    let predefined = types::plain(datatype).filter(|_| !op.is_accumulate_only());
    predefined
        .and_then(|predefined| PredefinedOp::new(op, predefined))
        .ok_or_else(|| {
            let on = types::as_predefined(datatype)
                .map_or("a derived datatype", |predefined| predefined.name());
            argument(
                Class::Op,
                "op",
                format_args!("{} is not defined on {on}", op.name()),
            )
        })
}

fn checked_count(count: i64, name: &str) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| argument(Class::Count, name, format_args!("{count} is negative")))
}

/// Equal blocks, one per rank, in a buffer.
struct Equal {
    datatype: Datatype,
    address: *mut u8,
    count: usize,
}

impl Equal {
    fn new(buffer: Buffer, ranks: u32) -> Result<Equal> {
        let count = checked_count(buffer.count, "count")?;
        // All checks of a buffer that holds all blocks.
        let all = buffer
            .count
            .checked_mul(i64::from(ranks))
            .ok_or(weft_datatype::Overflow)?;
        types::memory(buffer.address, all, buffer.datatype)?;
        Ok(Equal {
            datatype: types::committed(buffer.datatype)?,
            address: buffer.address,
            count,
        })
    }

    fn blocks(&self, ranks: u32) -> Result<Uniform<'_>> {
        Ok(Uniform::new(
            &self.datatype,
            self.address,
            self.count,
            ranks as usize,
        )?)
    }
}

/// A buffer of blocks of differing lengths: one count and displacement, in extents, per rank.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    pub address: *mut u8,
    pub counts: Counts<'a>,
    pub displacements: Counts<'a>,
    pub datatype: TypeId,
}

impl Vectors<'_> {
    fn checked(&self, ranks: u32) -> Result<Datatype> {
        let datatype = types::committed(self.datatype)?;
        let mut elements = 0;
        for rank in 0..ranks as usize {
            let count = match self.counts {
                Counts::Int(counts) => i64::from(counts[rank]),
                Counts::Large(counts) => counts[rank],
            };
            elements += checked_count(count, "counts")?;
        }
        if self.address.is_null()
            && elements > 0
            && datatype.size() > 0
            && datatype.true_lower_bound() == 0
        {
            return Err(argument(
                Class::Buffer,
                "buf",
                "a null pointer for blocks that are not empty",
            ));
        }
        Ok(datatype)
    }

    fn blocks<'a>(&'a self, datatype: &'a Datatype) -> Result<Varying<'a>> {
        Ok(Varying::new(
            datatype,
            self.address,
            self.counts,
            self.displacements,
        )?)
    }
}

/// `MPI_Barrier`.
pub fn barrier(comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    on_all(&comm, async |channel| {
        weft_collective::barrier(channel).await
    })
}

/// `MPI_Ibarrier`.
pub fn ibarrier(comm: CommId) -> Result<Request> {
    let comm = crate::comm::share(comm)?;
    check_intra(&comm)?;
    let (lane, context) = (comm.lane(), comm.context(Traffic::Collective));
    let tag = comm.next_operation();
    operation::begin(lane, context, |awaited| {
        let run = async move {
            let peers = Peers::of_operation(&comm, &awaited);
            let channel = Channel::new(&peers, tag);
            weft_collective::barrier(&channel).await?;
            Ok(Status::EMPTY)
        };
        // SAFETY: what is not `Send` is the channel and the peers, which it owns.
        unsafe { Whole::new(run) }
    })
}

/// `MPI_Bcast`.
pub fn bcast(buffer: Buffer, root: i32, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let memory = buffer.memory()?;
    on_all(&comm, async |channel| {
        weft_collective::bcast(channel, memory, root).await
    })
}

/// A reduction's arguments: no input is `MPI_IN_PLACE`.
#[derive(Clone, Copy)]
pub struct Reduce {
    pub input: Option<*const u8>,
    pub output: *mut u8,
    pub count: i64,
    pub datatype: TypeId,
    pub op: Op,
}

impl Reduce {
    /// Runs `operation` on the checked arguments; `has_output`: whether this rank gets a result.
    fn with<F>(self, has_output: bool, comm: &Comm, operation: F) -> Result<()>
    where
        F: AsyncFnOnce(&Channel<'_, Peers<'_>>, Reduction<'_>) -> Result<()>,
    {
        let datatype = types::committed(self.datatype)?;
        let op = predefined_op(self.op, self.datatype)?;
        let count = checked_count(self.count, "count")?;
        if has_output {
            types::memory(self.output, self.count, self.datatype)?;
        }
        if let Some(input) = self.input {
            types::memory(input.cast_mut(), self.count, self.datatype)?;
            if input == self.output {
                check_aliased(true, count > 0)?;
            }
        }
        let op: &dyn Combine = &op;
        // SAFETY: the buffers are the caller's for the call and were checked; the operation was made for the type.
        let reduction = unsafe { Reduction::new(op, &datatype, count, self.input, self.output)? };
        on_all(comm, async |channel| operation(channel, reduction).await)
    }
}

/// `MPI_Reduce`.
pub fn reduce(arguments: Reduce, root: i32, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let is_root = comm.rank() as usize == root;
    if arguments.input.is_none() && !is_root {
        return Err(argument(
            Class::Buffer,
            "sendbuf",
            "MPI_IN_PLACE is for the root only",
        ));
    }
    arguments.with(is_root, &comm, async |channel, reduction| {
        weft_collective::reduce(channel, reduction, root).await
    })
}

/// `MPI_Allreduce`.
pub fn allreduce(arguments: Reduce, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    arguments.with(true, &comm, async |channel, reduction| {
        weft_collective::allreduce(channel, reduction).await
    })
}

/// `MPI_Scan`.
pub fn scan(arguments: Reduce, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    arguments.with(true, &comm, async |channel, reduction| {
        weft_collective::scan(channel, reduction).await
    })
}

/// `MPI_Exscan`.
pub fn exscan(arguments: Reduce, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    // Rank 0 gets no result, and its receive buffer is not significant, unless it is the input too.
    let has_output = comm.rank() > 0 || arguments.input.is_none();
    check_aliased(arguments.output.addr() == IN_PLACE, arguments.count > 0)?;
    arguments.with(has_output, &comm, async |channel, reduction| {
        weft_collective::exscan(channel, reduction).await
    })
}

/// A buffer argument that may be `MPI_IN_PLACE`: none.
fn optional_memory(buffer: Option<Buffer>) -> Result<Option<Memory>> {
    buffer.map(|buffer| buffer.memory()).transpose()
}

/// `MPI_IN_PLACE`, where it is no input but an output's address, which it cannot be.
const IN_PLACE: usize = 1;

/// Send and receive buffer must not be the same memory (MPI-5.0 §2.3).
fn check_aliased(same: bool, used: bool) -> Result<()> {
    if same && used {
        return Err(argument(
            Class::Buffer,
            "sendbuf",
            "the same as recvbuf; use MPI_IN_PLACE",
        ));
    }
    Ok(())
}

/// As [`check_aliased`], for two buffers of blocks.
fn check_distinct(send: Option<Buffer>, receive: *const u8) -> Result<()> {
    match send {
        Some(send) => check_aliased(send.address.cast_const() == receive, send.count > 0),
        None => Ok(()),
    }
}

#[cold]
fn in_place_off_root(name: &str) -> Error {
    argument(Class::Buffer, name, "MPI_IN_PLACE is for the root only")
}

/// `MPI_Gather`: `receive` matters at the root.
pub fn gather(send: Option<Buffer>, receive: Buffer, root: i32, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let is_root = comm.rank() as usize == root;
    if send.is_none() && !is_root {
        return Err(in_place_off_root("sendbuf"));
    }
    let memory = optional_memory(send)?;
    let equal = is_root
        .then(|| Equal::new(receive, comm.size()))
        .transpose()?;
    if is_root {
        check_distinct(send, receive.address)?;
    }
    let blocks = equal
        .as_ref()
        .map(|equal| equal.blocks(comm.size()))
        .transpose()?;
    let blocks = blocks.as_ref().map(|blocks| blocks as &dyn Blocks);
    on_all(&comm, async |channel| {
        weft_collective::gather(channel, memory, blocks, root).await
    })
}

/// `MPI_Gatherv`: `receive` matters at the root.
pub fn gatherv(
    send: Option<Buffer>,
    receive: Option<Vectors<'_>>,
    root: i32,
    comm: CommId,
) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let is_root = comm.rank() as usize == root;
    if send.is_none() && !is_root {
        return Err(in_place_off_root("sendbuf"));
    }
    let memory = optional_memory(send)?;
    let receive = receive.filter(|_| is_root);
    let datatype = receive
        .map(|receive| receive.checked(comm.size()))
        .transpose()?;
    let blocks = match (&receive, &datatype) {
        (Some(receive), Some(datatype)) => Some(receive.blocks(datatype)?),
        _ => None,
    };
    let blocks = blocks.as_ref().map(|blocks| blocks as &dyn Blocks);
    on_all(&comm, async |channel| {
        weft_collective::gatherv(channel, memory, blocks, root).await
    })
}

/// `MPI_Scatter`: `send` matters at the root.
pub fn scatter(send: Buffer, receive: Option<Buffer>, root: i32, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let is_root = comm.rank() as usize == root;
    if receive.is_none() && !is_root {
        return Err(in_place_off_root("recvbuf"));
    }
    let memory = optional_memory(receive)?;
    let equal = is_root.then(|| Equal::new(send, comm.size())).transpose()?;
    if is_root {
        check_distinct(receive, send.address)?;
    }
    let blocks = equal
        .as_ref()
        .map(|equal| equal.blocks(comm.size()))
        .transpose()?;
    let blocks = blocks.as_ref().map(|blocks| blocks as &dyn Blocks);
    on_all(&comm, async |channel| {
        weft_collective::scatter(channel, blocks, memory, root).await
    })
}

/// `MPI_Scatterv`: `send` matters at the root.
pub fn scatterv(
    send: Option<Vectors<'_>>,
    receive: Option<Buffer>,
    root: i32,
    comm: CommId,
) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let root = check_root(&comm, root)?;
    let is_root = comm.rank() as usize == root;
    if receive.is_none() && !is_root {
        return Err(in_place_off_root("recvbuf"));
    }
    let memory = optional_memory(receive)?;
    let send = send.filter(|_| is_root);
    let datatype = send.map(|send| send.checked(comm.size())).transpose()?;
    let blocks = match (&send, &datatype) {
        (Some(send), Some(datatype)) => Some(send.blocks(datatype)?),
        _ => None,
    };
    let blocks = blocks.as_ref().map(|blocks| blocks as &dyn Blocks);
    on_all(&comm, async |channel| {
        weft_collective::scatterv(channel, blocks, memory, root).await
    })
}

/// `MPI_Allgather`.
pub fn allgather(send: Option<Buffer>, receive: Buffer, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let memory = optional_memory(send)?;
    let equal = Equal::new(receive, comm.size())?;
    check_distinct(send, receive.address)?;
    let blocks = equal.blocks(comm.size())?;
    on_all(&comm, async |channel| {
        weft_collective::allgather(channel, memory, &blocks).await
    })
}

/// `MPI_Allgatherv`.
pub fn allgatherv(send: Option<Buffer>, receive: Vectors<'_>, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let memory = optional_memory(send)?;
    let datatype = receive.checked(comm.size())?;
    let blocks = receive.blocks(&datatype)?;
    on_all(&comm, async |channel| {
        weft_collective::allgatherv(channel, memory, &blocks).await
    })
}

/// `MPI_Alltoall`.
pub fn alltoall(send: Option<Buffer>, receive: Buffer, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    check_distinct(send, receive.address)?;
    let send = send.map(|send| Equal::new(send, comm.size())).transpose()?;
    let send = send
        .as_ref()
        .map(|send| send.blocks(comm.size()))
        .transpose()?;
    let send = send.as_ref().map(|send| send as &dyn Blocks);
    let equal = Equal::new(receive, comm.size())?;
    let blocks = equal.blocks(comm.size())?;
    on_all(&comm, async |channel| {
        weft_collective::alltoall(channel, send, &blocks).await
    })
}

/// `MPI_Alltoallv`.
pub fn alltoallv(send: Option<Vectors<'_>>, receive: Vectors<'_>, comm: CommId) -> Result<()> {
    let comm = crate::comm::share(comm)?;
    let send_type = send.map(|send| send.checked(comm.size())).transpose()?;
    let send = match (&send, &send_type) {
        (Some(send), Some(datatype)) => Some(send.blocks(datatype)?),
        _ => None,
    };
    let send = send.as_ref().map(|send| send as &dyn Blocks);
    let datatype = receive.checked(comm.size())?;
    let blocks = receive.blocks(&datatype)?;
    on_all(&comm, async |channel| {
        weft_collective::alltoallv(channel, send, &blocks).await
    })
}
