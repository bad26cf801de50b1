//! Short operations: those that the board takes in one step, of data without gaps, gone through in the call, without a future.
//!
//! The steps are those of the `shared` algorithms, so that it does not show whether a rank goes one way or the other: each is free to go the long
//! way, where its data have gaps, say. And one that does not find within a moment what it waits for has done its part of the step, and goes the long way
//! for the rest. The operation is then *begun* (`weft_sync::board`, rule 9), and the long way goes on behind that part. Nothing is written to the
//! caller's memory before all is there.
//!
//! Which lengths are short follows from what all ranks know ([`ShortLimits`]).

use crate::memory::{PlainReduction, copy_together, window};
use crate::select::{CHOICES, Call, Operation, Sharing};
use crate::steps::{LONGEST, PIECE, place_for};
use std::ops::Range;
use weft_memory::Memory;
use weft_sync::board::{Board, INLINE_BYTES, Piece};

/// From how many bytes on, as each operation is chosen by, the ranks of a communicator on one host do not go by the board in one step.
pub struct ShortLimits {
    /// While none is forced: where the ranks' cores are far, where they are near, and while they do not know it. Then a
    /// rank may learn that they are near behind an operation's first step, and goes on as those do.
    chosen: [[usize; Operation::COUNT]; 3],
    /// Where the board is forced.
    possible: [usize; Operation::COUNT],
}

impl ShortLimits {
    pub fn new(ranks: usize, oversubscribed: bool, sharing: Sharing) -> ShortLimits {
        let call = |are_near| Call {
            bytes: 0,
            ranks,
            oversubscribed,
            sharing,
            are_near,
            placement: None,
        };
        let mut possible = [PIECE + 1; Operation::COUNT];
        for posts_blocks in [Operation::scatter, Operation::alltoall] {
            possible[posts_blocks as usize] = (LONGEST / ranks).min(PIECE) + 1;
        }
        let chosen = |are_near, number: usize| {
            let up_to = CHOICES[number].shared_up_to(call(are_near), possible[number] - 1);
            up_to.map_or(0, |bytes| bytes + 1)
        };
        let [far, near]: [[usize; Operation::COUNT]; 2] =
            [false, true].map(|are_near| std::array::from_fn(|number| chosen(are_near, number)));
        let either = std::array::from_fn(|number| far[number].min(near[number]));
        ShortLimits {
            chosen: [far, near, either],
            possible,
        }
    }

    /// Whether the operation is short, among ranks whose cores are near or not, if they know it. If its algorithm is forced, that decides.
    #[inline(always)]
    pub fn admit(&self, operation: Operation, bytes: usize, are_near: Option<bool>) -> bool {
        let number = operation as usize;
        match CHOICES[number].is_shared_forced() {
            None => bytes < self.chosen[are_near.map_or(2, usize::from)][number],
            Some(is_shared) => is_shared && bytes < self.possible[number],
        }
    }
}

/// A blocking operation among all ranks of a board, of a length that [`ShortLimits`] admit. Each function returns whether it is over; if not, the long way is
/// to be gone.
pub struct Short<'b> {
    board: &'b Board,
    number: u32,
    /// Looks at another's post before the long way is gone.
    spins: u32,
}

impl<'b> Short<'b> {
    /// The operation of that number. Once it was tried, the caller looks who sleeps ([`Board::sleepers_behind`]).
    #[inline(always)]
    pub fn new(board: &'b Board, number: u32, spins: u32) -> Short<'b> {
        board.begin(number);
        Short {
            board,
            number,
            spins,
        }
    }

    #[cfg(test)]
    pub fn rank(&self) -> usize {
        self.board.rank()
    }

    /// The ranks after this one, around the ring.
    #[inline(always)]
    fn others(&self) -> impl Iterator<Item = usize> {
        let (rank, ranks) = (self.board.rank(), self.board.ranks());
        (rank + 1..ranks).chain(0..rank)
    }

    /// Enters the next step, and posts in it what is written to the slot. None, and nothing has happened, if there is no room now.
    #[inline(always)]
    fn post(&self, bytes: usize, write: impl FnOnce(Memory)) -> Option<u64> {
        let step = self.board.enter_with_room(bytes > INLINE_BYTES)?;
        write(self.slot(self.board.rank(), step, bytes));
        self.board.publish_quietly(step, Piece::whole(bytes));
        Some(step)
    }

    #[inline(always)]
    fn slot(&self, rank: usize, step: u64, bytes: usize) -> Memory {
        let payload = self.board.payload(rank, step, bytes > INLINE_BYTES);
        Memory::contiguous(payload, bytes)
    }

    /// Waits for a moment until a rank has posted so many bytes in the step.
    #[inline(always)]
    fn comes(&self, rank: usize, step: u64, bytes: usize) -> bool {
        let piece = Piece::whole(bytes);
        for _ in 0..self.spins {
            if self.board.is_posted(rank, step, piece) {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// The same for all others, each as many as `bytes` says. If they have not come, the operation is begun.
    #[inline(always)]
    fn all_come(&self, step: u64, bytes: impl Fn(usize) -> usize) -> bool {
        let mut others = self.others();
        let come = others.all(|rank| self.comes(rank, step, bytes(rank)));
        self.begun_unless(come, step)
    }

    #[inline(always)]
    fn one_comes(&self, rank: usize, step: u64, bytes: usize) -> bool {
        self.begun_unless(self.comes(rank, step, bytes), step)
    }

    #[inline(always)]
    fn begun_unless(&self, come: bool, step: u64) -> bool {
        if !come {
            self.board.set_begun(self.number, step);
        }
        come
    }

    #[inline(always)]
    pub fn barrier(&self) -> bool {
        let step = self.post(0, drop);
        step.is_some_and(|step| self.all_come(step, |_| 0))
    }

    /// Behind an operation that the leader led, which leaves first (`flat/barrier/shared`).
    #[inline(always)]
    pub fn barrier_behind(&self, leader: usize) -> bool {
        if self.board.rank() == leader {
            let step = self.board.enter();
            return self.all_come(step, |_| 0)
                && self.begun_unless(self.post(0, drop).is_some(), step);
        }
        let Some(step) = self.post(0, drop) else {
            return false;
        };
        // The second step is entered once it is known to be over: what was begun is the first.
        let comes = self.begun_unless(self.comes(leader, step + 1, 0), step);
        if comes {
            self.board.enter();
        }
        comes
    }

    #[inline(always)]
    pub fn bcast(&self, memory: &Memory, root: usize) -> bool {
        let bytes = memory.bytes;
        if self.board.rank() == root {
            return self
                .post(bytes, |slot| copy_together(memory, &slot))
                .is_some();
        }
        let step = self.board.enter();
        let comes = self.one_comes(root, step, bytes);
        if comes {
            copy_together(&self.slot(root, step, bytes), memory);
            self.board.take_over(memory.bytes, 0..memory.bytes);
        }
        comes
    }

    /// A rank's part in a gather that is not the root.
    #[inline(always)]
    pub fn gather_leaf(&self, send: &Memory) -> bool {
        let step = self.post(send.bytes, |slot| copy_together(send, &slot));
        step.is_some()
    }

    /// The root's, which has a block of `bytes` for each rank at `receive`; its own is there already if it sends nothing.
    #[inline(always)]
    pub fn gather_root(&self, send: Option<&Memory>, receive: &Memory, bytes: usize) -> bool {
        let step = self.board.enter();
        let come = self.all_come(step, |_| bytes);
        if come {
            self.copy_own(send, receive, bytes);
            self.copy_out(step, |rank| block(receive, rank, bytes));
        }
        come
    }

    /// Everyone's block comes to where `place` says.
    #[inline(always)]
    pub fn allgather(&self, send: Option<&Memory>, place: impl Fn(usize) -> Memory) -> bool {
        let own = place(self.board.rank());
        let from = send.unwrap_or(&own);
        let Some(step) = self.post(own.bytes, |slot| copy_together(from, &slot)) else {
            return false;
        };
        let come = self.all_come(step, |rank| place(rank).bytes);
        if come {
            send.into_iter().for_each(|send| copy_together(send, &own));
            self.copy_out(step, place);
        }
        come
    }

    /// A rank's part in a scatter that is not the root.
    #[inline(always)]
    pub fn scatter_leaf(&self, receive: &Memory, root: usize) -> bool {
        let (rank, ranks, bytes) = (self.board.rank(), self.board.ranks(), receive.bytes);
        let step = self.board.enter();
        let posted = bytes * (ranks - 1);
        let comes = self.one_comes(root, step, posted);
        if comes {
            let slot = self.slot(root, step, posted);
            copy_together(&block(&slot, place_for(rank, root, ranks), bytes), receive);
            self.board.take_over(posted, 0..posted);
        }
        comes
    }

    /// The root's, which has a block of `bytes` for each rank at `send`.
    #[inline(always)]
    pub fn scatter_root(&self, send: &Memory, receive: Option<&Memory>, bytes: usize) -> bool {
        if self.post_blocks(send, bytes).is_none() {
            return false;
        }
        if let Some(receive) = receive {
            copy_together(&block(send, self.board.rank(), bytes), receive);
        }
        true
    }

    /// Both buffers have a block of `bytes` for each rank, and may be the same.
    #[inline(always)]
    pub fn alltoall(&self, send: &Memory, receive: &Memory, bytes: usize) -> bool {
        let (rank, ranks) = (self.board.rank(), self.board.ranks());
        let Some(step) = self.post_blocks(send, bytes) else {
            return false;
        };
        let posted = bytes * (ranks - 1);
        let come = self.all_come(step, |_| posted);
        if come {
            if send.base != receive.base {
                self.copy_own(Some(&block(send, rank, bytes)), receive, bytes);
            }
            for from in self.others() {
                let slot = self.slot(from, step, posted);
                let own = block(&slot, place_for(rank, from, ranks), bytes);
                copy_together(&own, &block(receive, from, bytes));
                self.board.take_over(posted, 0..posted);
            }
        }
        come
    }

    /// The result is for the root.
    #[inline(always)]
    pub fn reduce(&self, reduction: &PlainReduction, root: usize) -> bool {
        let (input, rank, ranks) = (reduction.input(), self.board.rank(), self.board.ranks());
        if rank != root {
            return self.gather_leaf(&input);
        }
        // In place the result grows where the root's operand lies, unless that comes first.
        if reduction.is_in_place() && root + 1 != ranks {
            return false;
        }
        let step = self.board.enter();
        let come = self.all_come(step, |_| input.bytes);
        if come {
            reduction.fold(ranks, input.bytes, |from| match from == rank {
                true => input.clone(),
                false => self.slot(from, step, input.bytes),
            });
            self.board.take_over(input.bytes, 0..input.bytes);
        }
        come
    }

    /// The result is for all.
    #[inline(always)]
    pub fn allreduce(&self, reduction: &PlainReduction) -> bool {
        let whole = 0..reduction.input().bytes / reduction.element_bytes();
        self.reduce_to_all(reduction, whole)
    }

    /// The result is for each rank that of its elements, of which no rank has more than `longest`.
    #[inline(always)]
    pub fn reduce_scatter(
        &self,
        reduction: &PlainReduction,
        own: Range<usize>,
        longest: usize,
    ) -> bool {
        let bytes = longest * reduction.element_bytes();
        bytes <= LONGEST / self.board.ranks() && self.reduce_to_all(reduction, own)
    }

    /// The result is for each rank that of these elements.
    #[inline(always)]
    fn reduce_to_all(&self, reduction: &PlainReduction, own: Range<usize>) -> bool {
        let input = reduction.input();
        let bytes = input.bytes;
        let Some(step) = self.post(bytes, |slot| copy_together(&input, &slot)) else {
            return false;
        };
        let come = self.all_come(step, |_| bytes);
        if come {
            let size = reduction.element_bytes();
            let part = own.start * size..own.end * size;
            let operand = |rank| window(&self.slot(rank, step, bytes), part.clone());
            reduction.fold(self.board.ranks(), part.len(), operand);
            self.board.take_over(bytes, part);
        }
        come
    }

    /// Posts a block for each of the others.
    #[inline(always)]
    fn post_blocks(&self, send: &Memory, bytes: usize) -> Option<u64> {
        let (rank, ranks) = (self.board.rank(), self.board.ranks());
        self.post(bytes * (ranks - 1), |slot| {
            for to in self.others() {
                let place = block(&slot, place_for(to, rank, ranks), bytes);
                copy_together(&block(send, to, bytes), &place);
            }
        })
    }

    /// Copies what the others have posted to its places.
    #[inline(always)]
    fn copy_out(&self, step: u64, place: impl Fn(usize) -> Memory) {
        for rank in self.others() {
            let place = place(rank);
            copy_together(&self.slot(rank, step, place.bytes), &place);
            self.board.take_over(place.bytes, 0..place.bytes);
        }
    }

    #[inline(always)]
    fn copy_own(&self, own: Option<&Memory>, receive: &Memory, bytes: usize) {
        if let Some(own) = own {
            copy_together(own, &block(receive, self.board.rank(), bytes));
        }
    }
}

/// Block `index` of memory that has blocks of `bytes`.
#[inline(always)]
fn block(memory: &Memory, index: usize, bytes: usize) -> Memory {
    window(memory, index * bytes..(index + 1) * bytes)
}
