//! The arguments of a call, alike on all ranks but for their parts in it, and the call.

use std::cell::UnsafeCell;

use weft_collective::{
    Channel, Combine, Outcome, PointToPoint, Reduction, Shares, Uniform, allgather, allreduce,
    alltoall, barrier, bcast, flat, gather, reduce, reduce_scatter, run_blocking, scan, scatter,
};
use weft_datatype::{Datatype, Predefined};
use weft_memory::Memory;

use super::recorder::Recorder;
use crate::Collective;

/// Rooted collectives have rank 0 as their root.
pub struct Call {
    collective: Collective,
    datatype: Datatype,
    /// Elements of a message, or of a block.
    count: usize,
    ranks: usize,
    /// Of a reduce-scatter, shared out as evenly as elements can be.
    shares: Shares,
    input: Buffer,
    output: Buffer,
}

/// Memory that every rank that is recorded uses. Pages that no rank copies to or from are not made.
struct Buffer(Box<[UnsafeCell<u128>]>);

impl Buffer {
    fn new(bytes: usize) -> Buffer {
        let words = vec![0u128; bytes.div_ceil(size_of::<u128>()) + 1];
        let words = Box::into_raw(words.into_boxed_slice());
        // SAFETY: a cell has the layout of what is in it, and the memory is this box's alone.
        Buffer(unsafe { Box::from_raw(words as *mut [UnsafeCell<u128>]) })
    }

    fn base(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.0.as_ptr()).cast()
    }
}

impl Call {
    pub fn new(collective: Collective, ranks: usize, bytes: usize) -> Call {
        let datatype = match bytes.is_multiple_of(size_of::<f64>()) {
            true => Predefined::Double,
            false => Predefined::Byte,
        };
        let datatype = Datatype::from(datatype);
        let count = bytes / datatype.size();
        let of = |whole: bool| Buffer::new(if whole { ranks * bytes } else { bytes });
        let (scatters, gathers) = match collective {
            Collective::Scatter => (true, false),
            Collective::Gather | Collective::Allgather => (false, true),
            Collective::Alltoall => (true, true),
            _ => (false, false),
        };
        let ends = (0..=ranks).map(|rank| (count as u128 * rank as u128 / ranks as u128) as usize);
        Call {
            collective,
            count,
            ranks,
            shares: match collective {
                Collective::ReduceScatter => Shares::Bounds(ends.collect()),
                _ => Shares::Equal(0),
            },
            input: of(scatters),
            output: of(gathers),
            datatype,
        }
    }

    pub fn run(&self, recorder: &Recorder) {
        let outcome = Outcome::default();
        let channel = Channel::new(recorder, 0, &outcome);
        let record = |bytes| recorder.combine(bytes);
        let future = self.operation(&channel, &record, None);
        let done = run_blocking(future, || unreachable!("no request is ever pending"));
        done.unwrap_or_else(|never| match never {});
    }

    /// By the algorithm of that number among those for ranks that are alike, or by the one that is chosen. `record` is
    /// told how many bytes are combined.
    pub async fn operation<P: PointToPoint>(
        &self,
        channel: &Channel<'_, P>,
        record: &dyn Fn(usize),
        algorithm: Option<usize>,
    ) -> Result<(), P::Error> {
        let bytes = self.count * self.datatype.size();
        let input = Memory::contiguous(self.input.base(), bytes);
        let output = Memory::contiguous(self.output.base(), bytes);
        let is_root = channel.rank() == 0;
        let blocks = |buffer: &Buffer| {
            let blocks = Uniform::new(&self.datatype, buffer.base(), self.count, self.ranks);
            blocks.expect("lengths were checked when the buffers were made")
        };
        let (from, to) = (blocks(&self.input), blocks(&self.output));
        let combining = Combining {
            record,
            element_bytes: self.datatype.size(),
        };
        // By the algorithm of that number, or by the one that is chosen.
        macro_rules! by {
            ($operation:ident($($argument:expr),*)) => {
                match algorithm {
                    None => $operation(channel, $($argument),*).await,
                    Some(number) => {
                        use flat::$operation::{Algorithm, run};
                        run(channel, $($argument,)* Algorithm::ALL[number]).await
                    }
                }
            };
        }
        match self.collective {
            Collective::Barrier => by!(barrier()),
            Collective::Bcast => by!(bcast(output, 0)),
            Collective::Gather => by!(gather(Some(input), is_root.then_some(&to as _), 0)),
            Collective::Scatter => by!(scatter(is_root.then_some(&from as _), Some(output), 0)),
            Collective::Allgather => by!(allgather(Some(input), &to)),
            Collective::Alltoall => by!(alltoall(Some(&from), &to)),
            Collective::Reduce => by!(reduce(self.reduction(&combining), 0)),
            Collective::Allreduce => by!(allreduce(self.reduction(&combining))),
            Collective::ReduceScatter => {
                by!(reduce_scatter(self.reduction(&combining), &self.shares))
            }
            Collective::Scan => {
                let reduction = self.reduction(&combining);
                match algorithm {
                    None => scan(channel, reduction).await,
                    Some(number) => {
                        use flat::scan::{Algorithm, ScanKind, run};
                        let algorithm = Algorithm::ALL[number];
                        run(channel, reduction, ScanKind::Inclusive, algorithm).await
                    }
                }
            }
        }
    }

    fn reduction<'a>(&'a self, combining: &'a Combining<'_>) -> Reduction<'a> {
        // SAFETY: both buffers have room for the elements and outlive the operation; what combines them touches no
        // memory, and so is for any datatype.
        let reduction = unsafe {
            Reduction::new(
                combining,
                &self.datatype,
                self.count,
                Some(self.input.base()),
                self.output.base(),
            )
        };
        reduction.expect("lengths were checked when the buffers were made")
    }
}

/// An operation that combines nothing, and says how much.
struct Combining<'a> {
    record: &'a dyn Fn(usize),
    element_bytes: usize,
}

impl Combine for Combining<'_> {
    unsafe fn combine(&self, _: *const u8, _: *mut u8, count: usize) {
        (self.record)(count * self.element_bytes);
    }

    fn commutative(&self) -> bool {
        true
    }
}
