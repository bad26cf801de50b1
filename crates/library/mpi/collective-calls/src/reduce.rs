//! Reductions and scans (MPI-5.0 §6.9 to §6.11).

use weft_collective::Counts;
use weft_collective::inter::{self, Sides};
use weft_collective::{Channel, Reduction, Shares};
use weft_datatype::{Datatype, Op, Predefined};
use weft_error::{Class, OfBuffer, Result, argument};
use weft_handle::CommId;
use weft_objects::comm::Comm;
use weft_objects::op::{OpId, Operator};
use weft_objects::types::{self, TypeId};

use super::arguments::Reduce;
use super::call::{Call, Form, Plan, comm as shared};
use super::peers::Peers;
use super::root::Root;
use super::short;
use super::void::Glance;
use super::{IN_PLACE, check_aliased, checked_count, not_in_place};

impl Reduce {
    /// Of a process that neither gives nor gets anything.
    const NOTHING: Reduce = Reduce {
        input: Some(std::ptr::null()),
        output: std::ptr::null_mut(),
        count: 0,
        datatype: TypeId::predefined(Predefined::Int32),
        op: OpId::Predefined(Op::Sum),
    };
}

/// A reduction's arguments, checked.
pub struct Operands {
    op: Operator,
    datatype: Datatype,
    count: usize,
    input: Option<*const u8>,
    output: *mut u8,
}

// SAFETY: two addresses at which nothing is read or written but by an operation, which is made of them by an unsafe function
// (`Reduction::new`); operator and datatype may be sent and shared.
unsafe impl Send for Operands {}
// SAFETY: as above.
unsafe impl Sync for Operands {}
const _: () = {
    const fn sent_and_shared<T: Send + Sync>() {}
    sent_and_shared::<(Operator, Datatype)>();
};

/// Which buffers count on this process.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Significant {
    input: bool,
    output: bool,
}

const BOTH: Significant = Significant {
    input: true,
    output: true,
};

/// Both buffers and the operation.
impl Glance for Reduce {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.count == 0 && types::is_plain(self.datatype) && self.op.is_defined_on(self.datatype)
    }
}

impl Reduce {
    /// Whether the root is right, and the input in place at the root alone.
    #[inline]
    fn may_go_to(&self, root: i32, comm: &Comm) -> bool {
        let root = Root::new(comm, root);
        root.is_ok_and(|root| root.is_me() || self.input.is_some())
    }

    fn check(self, comm: &Comm, significant: Significant) -> Result<Operands> {
        let datatype = types::committed(self.datatype)?;
        let op = Operator::new(self.op, self.datatype)?;
        let count = checked_count(self.count, "count")?;
        if comm.local_and_remote().is_some() && significant.input {
            not_in_place(self.input, "sendbuf")?;
        }
        if significant.output {
            types::memory(self.output, self.count, self.datatype).of_buffer("recv")?;
        }
        let input = self.input.filter(|_| significant.input);
        if let Some(input) = input {
            types::memory(input.cast_mut(), self.count, self.datatype).of_buffer("send")?;
            // Where the output does not count it may be anything, the input too.
            if input == self.output && significant.output {
                check_aliased(true, count > 0)?;
            }
        }
        Ok(Operands {
            op,
            datatype,
            count,
            input,
            output: self.output,
        })
    }
}

impl Operands {
    fn reduction(&self) -> Reduction<'_> {
        let Operands {
            op,
            datatype,
            count,
            input,
            output,
        } = self;
        // SAFETY: the buffers are the caller's until the operation is over and were checked where they count; the
        // operation was made for the type.
        let reduction = unsafe { Reduction::new(op, datatype, *count, *input, *output) };
        reduction.expect("its size was checked when the call was made")
    }

    fn is_empty(&self) -> bool {
        self.count == 0 || self.datatype.size() == 0
    }

    fn keep(self) -> Operands {
        Operands {
            op: self.op.into_owned(&self.datatype),
            ..self
        }
    }
}

pub struct ReduceToRoot {
    operands: Operands,
    root: Root,
}

/// `MPI_Reduce`.
#[inline(always)]
pub fn reduce(
    form: Form,
    arguments: Reduce,
    root: i32,
    comm: CommId,
) -> Result<Call<ReduceToRoot>> {
    if let Some(call) = Call::void_if(comm, arguments.is_nothing(), |comm| {
        arguments.may_go_to(root, comm)
    }) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::reduce(&arguments, root, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let root = Root::new(&comm, root)?;
    if arguments.input.is_none() && root.has_leaf() && !root.may_be_in_place() {
        return Err(super::in_place_off_root()).of_buffer("send");
    }
    let significant = Significant {
        input: root.has_leaf(),
        output: root.is_me(),
    };
    // Beside the root no argument counts (MPI-5.0 §6.9.1).
    let arguments = match significant.input || significant.output {
        true => arguments,
        false => Reduce::NOTHING,
    };
    let operands = arguments.check(&comm, significant)?;
    Ok(Call::new(comm, ReduceToRoot { operands, root }))
}

impl Plan for ReduceToRoot {
    type Owned = ReduceToRoot;

    fn into_owned(self) -> ReduceToRoot {
        ReduceToRoot {
            operands: self.operands.keep(),
            root: self.root,
        }
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.operands.is_empty()
    }

    fn within(&self, channel: &Channel<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        let reduction = self.operands.reduction();
        weft_collective::reduce(channel, reduction, self.root.within())
    }

    fn between(&self, sides: &Sides<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        let reduction = self.operands.reduction();
        inter::reduce(sides, reduction, self.root.between())
    }
}

pub struct Allreduce(Operands);

/// `MPI_Allreduce`.
#[inline(always)]
pub fn allreduce(form: Form, arguments: Reduce, comm: CommId) -> Result<Call<Allreduce>> {
    if let Some(call) = Call::void(comm, &arguments) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::allreduce(&arguments, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let operands = arguments.check(&comm, BOTH)?;
    Ok(Call::new(comm, Allreduce(operands)))
}

impl Plan for Allreduce {
    type Owned = Allreduce;

    fn into_owned(self) -> Allreduce {
        Allreduce(self.0.keep())
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.0.is_empty()
    }

    fn within(&self, channel: &Channel<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        weft_collective::allreduce(channel, self.0.reduction())
    }

    fn between(&self, sides: &Sides<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        inter::allreduce(sides, self.0.reduction())
    }
}

pub struct ReduceScatter {
    operands: Operands,
    shares: Shares,
}

/// `MPI_Reduce_scatter`: one count per process of this group.
pub fn reduce_scatter(
    form: Form,
    arguments: Reduce,
    counts: &Counts<'_>,
    comm: CommId,
) -> Result<Call<ReduceScatter>> {
    if let Some(call) = Call::void(comm, &(counts, &arguments)) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::reduce_scatter(&arguments, counts, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let mut bounds = vec![0];
    let mut end = 0usize;
    for rank in 0..comm.size() as usize {
        let count = checked_count(counts.at(rank), "recvcounts")?;
        end = end.checked_add(count).ok_or(weft_datatype::Overflow)?;
        bounds.push(end);
    }
    shared_out(arguments, end, Shares::Bounds(bounds), comm)
}

/// `MPI_Reduce_scatter_block`: the count is each process's.
pub fn reduce_scatter_block(
    form: Form,
    arguments: Reduce,
    comm: CommId,
) -> Result<Call<ReduceScatter>> {
    if let Some(call) = Call::void(comm, &arguments) {
        return Ok(call);
    }
    if let Some(call) = form.or_short(|| short::reduce_scatter_block(&arguments, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    let count = checked_count(arguments.count, "recvcount")?;
    let all = count.checked_mul(comm.size() as usize);
    let all = all.ok_or(weft_datatype::Overflow)?;
    shared_out(arguments, all, Shares::Equal(count), comm)
}

fn shared_out(
    arguments: Reduce,
    all: usize,
    shares: Shares,
    comm: std::sync::Arc<Comm>,
) -> Result<Call<ReduceScatter>> {
    let own = shares.of(comm.rank() as usize);
    let count = i64::try_from(all).map_err(|_| weft_datatype::Overflow)?;
    // In place, the output holds all operands at first; else only this process's share of the result.
    let in_place = arguments.input.is_none();
    let significant = Significant {
        input: true,
        output: in_place,
    };
    let operands = Reduce { count, ..arguments }.check(&comm, significant)?;
    if let Some(input) = arguments.input {
        types::memory(arguments.output, own as i64, arguments.datatype).of_buffer("recv")?;
        check_aliased(input == arguments.output, all > 0)?;
    }
    Ok(Call::new(comm, ReduceScatter { operands, shares }))
}

impl Plan for ReduceScatter {
    type Owned = ReduceScatter;

    fn into_owned(self) -> ReduceScatter {
        ReduceScatter {
            operands: self.operands.keep(),
            shares: self.shares,
        }
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.operands.is_empty()
    }

    fn within(&self, channel: &Channel<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        let reduction = self.operands.reduction();
        weft_collective::reduce_scatter(channel, reduction, &self.shares)
    }

    fn between(&self, sides: &Sides<'_, Peers<'_>>) -> impl Future<Output = Result<()>> {
        let reduction = self.operands.reduction();
        inter::reduce_scatter(sides, reduction, &self.shares)
    }
}

pub struct Scan {
    operands: Operands,
    inclusive: bool,
}

/// `MPI_Scan`.
#[inline]
pub fn scan(arguments: Reduce, comm: CommId) -> Result<Call<Scan>> {
    if let Some(call) = Call::void(comm, &arguments) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    comm.check_intra("comm")?;
    let operands = arguments.check(&comm, BOTH)?;
    let inclusive = true;
    Ok(Call::new(
        comm,
        Scan {
            operands,
            inclusive,
        },
    ))
}

/// `MPI_Exscan`.
#[inline]
pub fn exscan(arguments: Reduce, comm: CommId) -> Result<Call<Scan>> {
    if let Some(call) = Call::void(comm, &arguments) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    comm.check_intra("comm")?;
    // Rank 0 gets no result, and its receive buffer is not significant, unless it is the input too.
    let significant = Significant {
        input: true,
        output: comm.rank() > 0 || arguments.input.is_none(),
    };
    check_aliased(arguments.output.addr() == IN_PLACE, arguments.count > 0)?;
    let operands = arguments.check(&comm, significant)?;
    let inclusive = false;
    Ok(Call::new(
        comm,
        Scan {
            operands,
            inclusive,
        },
    ))
}

impl Plan for Scan {
    type Owned = Scan;

    fn into_owned(self) -> Scan {
        Scan {
            operands: self.operands.keep(),
            inclusive: self.inclusive,
        }
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.operands.is_empty()
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let reduction = self.operands.reduction();
        match self.inclusive {
            true => weft_collective::scan(channel, reduction).await,
            false => weft_collective::exscan(channel, reduction).await,
        }
    }

    async fn between(&self, _: &Sides<'_, Peers<'_>>) -> Result<()> {
        unreachable!("scans are checked to be on intra-communicators")
    }
}

/// `MPI_Reduce_local`: `output = input op output`, on this process alone.
pub fn reduce_local(arguments: Reduce) -> Result<()> {
    let input = arguments.input.ok_or_else(|| {
        let what = "MPI_IN_PLACE has no meaning here";
        argument(Class::Buffer, "inbuf", what)
    })?;
    let Operands {
        op, count, output, ..
    } = arguments.check(&*weft_objects::comm::share(CommId::SELF)?, BOTH)?;
    // SAFETY: both are the caller's, checked for as many elements of the operation's type, and are not the same.
    unsafe { op.apply(input, output, count) };
    Ok(())
}
