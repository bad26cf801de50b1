//! Memory that all ranks of a communicator share, and an operation's way through it: what the algorithms `shared` and
//! `direct` are made of.
//!
//! A rank posts on the board (`weft_sync::board`), and reads what others post there; there is no message. An operation takes
//! as many steps on every rank, which follows from what all of them know: the packed bytes and the number of ranks. What is
//! posted is packed, so ranks may use different datatypes of the same signature.
//!
//! Lengths that should be alike and are not, in an erroneous program, are found where something is read: a post says how long it is,
//! and whether more follows. No more is taken than there is and has room. More than has room is an error, as in a message;
//! where the ranks then take unlike steps the board is given up, for all of them. So it is where a rank has gone through the operation
//! by messages, and posts what is of a later one.
//!
//! A rank in which something failed before, between hosts say, takes its steps all the same, and posts marks in place of data.

use std::future::poll_fn;
use std::ops::Range;

use crate::arena::{Arena, Doing};
use crate::memory::{Operand, Packed, Scratch, copy, window, words_memory};
use crate::order::{Order, Partials, Tree};
use crate::{Blocks, Channel, PointToPoint, Reduction};
use weft_memory::Memory;
use weft_sync::board::{BUFFER_BYTES, Board, Broken, INLINE_BYTES, Need, Piece, What};

/// An operation's steps on the board. What returns none has found that a rank it waits for is gone: the channel has the
/// error, and the operation ends there. This rank posts nothing on the board any more, so that what others read there was
/// always right: they have all that they need, or find the board given up. Nor does it wait for them, who may still read its
/// memory while its caller writes to it: that a copy from another's memory was right is known when the board was not given
/// up after it.
pub(crate) struct Steps<'c, 'a, P: PointToPoint> {
    pub(crate) channel: &'c Channel<'a, P>,
    arena: &'c dyn Arena<P::Error>,
    board: &'c Board,
}

/// What this rank is about to post.
pub(crate) struct Posting {
    step: u64,
    more: bool,
    pub slot: Memory,
}

/// Memory of a rank that others read.
#[derive(Clone, Copy)]
pub(crate) struct RemoteRegion {
    rank: usize,
    address: u64,
    bytes: usize,
}

impl RemoteRegion {
    /// What begins `bytes` further on.
    pub fn after(self, bytes: usize) -> RemoteRegion {
        RemoteRegion {
            address: self.address.wrapping_add(bytes as u64),
            bytes: self.bytes.saturating_sub(bytes),
            ..self
        }
    }

    /// Block `index` of `count` that are all as long.
    pub fn block(self, index: usize, count: usize) -> RemoteRegion {
        let bytes = self.bytes / count;
        RemoteRegion {
            bytes,
            ..self.after(index * bytes)
        }
    }
}

/// The longest that is posted in a step.
pub(crate) const LONGEST: usize = BUFFER_BYTES;

/// What pieces a long message is posted in, so that some are read while others are written.
pub(crate) const PIECE: usize = 16 << 10;

/// How many bytes of an operand are copied at once: few enough to be in a cache still when they are combined.
pub(crate) const COPIED_PIECE: usize = 64 << 10;

impl<'a, P: PointToPoint> Channel<'a, P> {
    /// This operation's steps. Algorithms that need them are chosen only where they are there.
    pub(crate) fn steps(&self) -> Steps<'_, 'a, P> {
        let arena = self.arena().expect("chosen where the ranks share a board");
        let board = arena.board();
        board.begin(self.tag());
        Steps {
            channel: self,
            arena,
            board,
        }
    }
}

impl<P: PointToPoint> Steps<'_, '_, P> {
    fn does(&self, does: Doing) {
        self.channel.peers().does(does);
    }

    async fn need(&self, need: Need) -> Option<()> {
        if self.board.is_met(need) {
            return Some(());
        }
        let outcome = poll_fn(|_| self.arena.look(need)).await;
        self.unless_failed(outcome)
    }

    fn unless_failed(&self, outcome: Result<(), P::Error>) -> Option<()> {
        let is_right = outcome.is_ok();
        if !is_right {
            self.board.end();
        }
        self.channel.keep(outcome);
        is_right.then_some(())
    }

    /// Enters the next step, in which this rank posts this.
    pub async fn begin(&self, Piece { bytes, more }: Piece) -> Option<Posting> {
        let in_buffer = bytes > INLINE_BYTES;
        let step = self.board.enter();
        self.does(Doing::Enter { step });
        while let Err(need) = self.board.room(step, in_buffer) {
            self.need(need).await?;
        }
        let payload = self.board.payload(self.channel.rank(), step, in_buffer);
        let slot = Memory::contiguous(payload, bytes);
        Some(Posting { step, more, slot })
    }

    /// Publishes what was written, or that something has failed here. The step.
    pub fn publish(&self, posting: Posting) -> u64 {
        let (bytes, more) = (posting.slot.bytes, posting.more);
        let piece = match self.channel.mark() {
            None => Piece { bytes, more },
            Some(mark) => Piece::failed(mark, more),
        };
        let step = posting.step;
        self.does(Doing::Post { step, bytes });
        if self.board.publish(step, piece) {
            self.arena.wake();
        }
        step
    }

    /// The operation's first step, if it was begun in another way: there this rank has posted what it posts in it.
    pub fn begun(&self) -> Option<u64> {
        self.board.take_begun(self.channel.tag())
    }

    /// Enters the next step and posts a copy, after which another piece follows or none.
    pub async fn post(&self, memory: &Memory, more: bool) -> Option<u64> {
        if let Some(step) = self.begun() {
            return Some(step);
        }
        let bytes = memory.bytes;
        let posting = self.begin(Piece { bytes, more }).await?;
        copy(memory, &posting.slot);
        Some(self.publish(posting))
    }

    /// Enters the next step and posts nothing there but that this rank has come so far.
    pub async fn announce(&self) -> Option<u64> {
        if let Some(step) = self.begun() {
            return Some(step);
        }
        let posting = self.begin(Piece::NOTHING).await?;
        Some(self.publish(posting))
    }

    /// Enters the next step without posting in it.
    pub fn listen(&self) -> u64 {
        if let Some(step) = self.begun() {
            return step;
        }
        let (step, sleepers) = self.board.enter_silently();
        self.does(Doing::Enter { step });
        if sleepers {
            self.arena.wake();
        }
        step
    }

    /// What a rank posts in the step, which should be as expected; nothing where it failed.
    pub async fn posted(&self, step: u64, rank: usize, expected: Piece) -> Option<Memory> {
        self.rank_posted(step, rank).await?;
        let mut theirs = expected;
        if !self.board.is_posted(rank, step, expected) {
            theirs = self.differs(rank, step, expected)?;
        }
        let in_buffer = theirs.bytes > INLINE_BYTES;
        let payload = self.board.payload(rank, step, in_buffer);
        Some(Memory::contiguous(payload, theirs.bytes))
    }

    /// Copies a part of what the rank has posted.
    pub fn copy_posted(&self, rank: usize, part: &Memory, to: &Memory) {
        let bytes = part.bytes;
        self.does(Doing::Take { rank, bytes });
        copy(part, to);
    }

    /// What there is, in place of what was expected. None if the operation cannot go on: unless both are all that is posted of
    /// it, the ranks take unlike steps.
    #[cold]
    fn differs(&self, rank: usize, step: u64, own: Piece) -> Option<Piece> {
        let theirs = self.board.piece(rank, step);
        let is_of_this = self.board.is_of_this_operation(rank, step);
        if is_of_this
            && let Some(mark) = theirs.mark()
            && theirs.more == own.more
        {
            self.channel.keep(Err(self.arena.failure_of(rank, mark)));
            return Some(Piece { bytes: 0, ..own });
        }
        if !is_of_this || theirs.more || own.more {
            self.board.give_up(Broken::Apart);
            self.arena.wake();
            self.unless_failed(Err(self.arena.differs(rank, None)))?;
        }
        if theirs.bytes > own.bytes {
            let bytes = Some([theirs.bytes, own.bytes]);
            self.channel.keep(Err(self.arena.differs(rank, bytes)));
        }
        Some(theirs)
    }

    /// Waits until a rank has posted in the step, whatever that is.
    pub async fn rank_posted(&self, step: u64, rank: usize) -> Option<()> {
        self.does(Doing::Await { rank, step });
        let what = What::Posted;
        self.need(Need { rank, what, step }).await
    }

    /// Waits until all other ranks have posted in the step.
    pub async fn others_posted(&self, step: u64) -> Option<()> {
        for distance in 1..self.channel.size() {
            self.rank_posted(step, self.channel.after(distance)).await?;
        }
        Some(())
    }

    /// A step in which all wait for each other.
    pub async fn meet(&self) -> Option<()> {
        let step = self.announce().await?;
        self.others_posted(step).await
    }

    /// A step in which one rank learns that all have come.
    pub async fn tell(&self, leader: usize) -> Option<()> {
        if self.channel.rank() != leader {
            return self.announce().await.map(drop);
        }
        let step = self.listen();
        for distance in 1..self.channel.size() {
            let rank = self.channel.after(distance);
            self.posted(step, rank, Piece::NOTHING).await?;
        }
        Some(())
    }

    /// A step in which all learn that one rank has come so far.
    pub async fn hear_of(&self, leader: usize) -> Option<()> {
        if self.channel.rank() == leader {
            return self.announce().await.map(drop);
        }
        let step = self.listen();
        self.posted(step, leader, Piece::NOTHING).await.map(drop)
    }

    /// Posts where memory is, for others to read from: the message follows.
    pub async fn post_region(&self, memory: &Memory) -> Option<u64> {
        debug_assert!(memory.layout.is_none());
        let address = memory.base.expose_provenance() as u64;
        let mut words = [address, memory.bytes as u64];
        self.post(&words_memory(&mut words), true).await
    }

    /// Where the memory is that a rank posts.
    pub async fn posted_region(&self, step: u64, rank: usize) -> Option<RemoteRegion> {
        let mut words = [0; 2];
        let (bytes, more) = (size_of_val(&words), true);
        let slot = self.posted(step, rank, Piece { bytes, more }).await?;
        self.copy_posted(rank, &slot, &words_memory(&mut words));
        let [address, bytes] = words;
        Some(RemoteRegion {
            rank,
            address,
            bytes: bytes as usize,
        })
    }

    /// Copies what lies there, as far as there is room; that there is more is the channel's to keep.
    pub fn take(&self, theirs: RemoteRegion, into: &Memory) -> Option<()> {
        if theirs.bytes > into.bytes {
            let bytes = Some([theirs.bytes, into.bytes]);
            let error = self.arena.differs(theirs.rank, bytes);
            self.channel.keep(Err(error));
        }
        self.read(theirs, into)
    }

    /// Copies what lies there, as far as there is room.
    pub fn read(&self, theirs: RemoteRegion, into: &Memory) -> Option<()> {
        let into = window(into, 0..into.bytes.min(theirs.bytes));
        if into.bytes == 0 {
            return Some(());
        }
        self.unless_failed(self.arena.read(theirs.rank, theirs.address, &into))
    }

    /// Takes a block from the memory that every other rank posts in the step, each to that rank's place in `blocks`: number `index` of
    /// `count` that are all as long.
    pub async fn take_blocks(
        &self,
        step: u64,
        (index, count): (usize, usize),
        blocks: &dyn Blocks,
    ) -> Option<()> {
        for distance in 1..self.channel.size() {
            let rank = self.channel.after(distance);
            let block = blocks.block(rank);
            let theirs = self.posted_region(step, rank).await?.block(index, count);
            let packed = self.channel.room(Packed::room_for(&block))?;
            self.take(theirs, &packed.memory())?;
            packed.unpack(&block);
        }
        Some(())
    }

    /// Combines in `order` part `elements` of what the ranks post in the step, such a piece each. `own` is this rank's operand, if it does
    /// not post. What is of another length is left out.
    pub async fn fold(
        &self,
        reduction: &Reduction<'_>,
        (step, piece): (u64, Piece),
        (order, own): (Order, Option<Operand<'_>>),
        elements: Range<usize>,
        mut partials: Partials<'_, '_>,
    ) -> Option<()> {
        let size = reduction.element_bytes();
        for (rank, completes) in order.last_first() {
            if let Some(own) = own.filter(|_| rank == self.channel.rank()) {
                partials.take(Some(own), completes);
                continue;
            }
            let slot = self.posted(step, rank, piece).await?;
            let operand = (slot.bytes == piece.bytes).then(|| {
                let part = slot.part(elements.start * size, elements.len() * size);
                let bytes = part.bytes;
                self.does(Doing::Fold { rank, bytes });
                reduction.unpacked(&part, partials.room(completes))
            });
            partials.take(operand, completes);
        }
        Some(())
    }

    /// Combines part `elements` of what each rank posts in the step, such a piece, to the tree's result. `others` is shown what each
    /// of the others posts. What is of another length is left out.
    pub async fn combine(
        &self,
        (step, posted): (u64, impl Fn(usize) -> Piece),
        elements: Range<usize>,
        mut tree: Tree<'_, '_>,
        mut others: impl FnMut(usize, &Memory),
    ) -> Option<()> {
        for apart in 0..tree.leaves() {
            let mut leaf = [None; 2];
            for (index, rank) in tree.ranks(apart).enumerate() {
                let piece = posted(rank);
                if piece.bytes == 0 {
                    continue;
                }
                let slot = self.posted(step, rank, piece).await?;
                if slot.bytes != piece.bytes {
                    continue;
                }
                if rank != self.channel.rank() {
                    others(rank, &slot);
                }
                if !elements.is_empty() {
                    let part = tree.bytes(elements.clone());
                    let part = slot.part(part.start, part.len());
                    let bytes = part.bytes;
                    self.does(Doing::Fold { rank, bytes });
                    leaf[index] = Some(tree.packed(rank, &part));
                }
            }
            tree.put(leaf, apart);
        }
        Some(())
    }
}

/// Where the block for rank `to` lies among those that rank `from` posts, one for each of the others: as many places after its first as `to` is after
/// the rank that follows `from`, around the ring.
#[inline]
pub(crate) fn place_for(to: usize, from: usize, ranks: usize) -> usize {
    (to + ranks - from - 1) % ranks
}

/// Ranges of at most `longest`, at least 1, that make up `0..count`, each with whether another follows.
pub(crate) fn pieces(count: usize, longest: usize) -> impl Iterator<Item = (Range<usize>, bool)> {
    let longest = longest.max(1);
    (0..count).step_by(longest).map(move |start| {
        let end = count.min(start + longest);
        (start..end, end < count)
    })
}

/// Rank `rank`'s of `ranks` slices of `0..count`.
pub(crate) fn slice(count: usize, rank: usize, ranks: usize) -> Range<usize> {
    count * rank / ranks..count * (rank + 1) / ranks
}

/// A reduction whose operands are copied from where they are.
pub(crate) struct Direct<'s, 'c, 'a, 'r, P: PointToPoint> {
    steps: &'s Steps<'c, 'a, P>,
    reduction: &'s Reduction<'r>,
    /// Where each rank's packed operand is.
    operands: Vec<RemoteRegion>,
}

impl<'s, 'c, 'a, 'r, P: PointToPoint> Direct<'s, 'c, 'a, 'r, P> {
    /// The ranks post in the step where their operands are.
    pub async fn new(
        steps: &'s Steps<'c, 'a, P>,
        reduction: &'s Reduction<'r>,
        step: u64,
    ) -> Option<Self> {
        let mut operands = Vec::with_capacity(steps.channel.size());
        for rank in 0..steps.channel.size() {
            operands.push(steps.posted_region(step, rank).await?);
        }
        Some(Direct {
            steps,
            reduction,
            operands,
        })
    }

    /// Combines these elements of all operands, and packs the result.
    pub fn combine(&self, elements: Range<usize>, result: &Memory) -> Option<()> {
        let (reduction, size) = (self.reduction, self.reduction.element_bytes());
        // In place it may be where the own operand lies.
        let grows_in_result = reduction.is_dense() && !reduction.is_in_place();
        let longest = (COPIED_PIECE / size).min(elements.len());
        let room = reduction.share(0..longest);
        let order = Order::all(self.operands.len());
        let scratch = room.scratch(order.places() + usize::from(!grows_in_result));
        let scratch = self.steps.channel.room(scratch)?;
        let staging = if reduction.is_dense() {
            0
        } else {
            longest * size
        };
        let staging = self.steps.channel.room(Scratch::new(staging))?;
        for (piece, _) in pieces(elements.len(), longest) {
            let at = elements.start + piece.start;
            let packed = result.part(piece.start * size, piece.len() * size);
            let sum = match grows_in_result {
                true => reduction.unpacked(&packed, reduction.output()),
                false => room
                    .in_scratch(&scratch, order.places())
                    .part(0..piece.len()),
            };
            let mut partials = Partials::new(&room, &scratch, sum);
            for (rank, completes) in order.last_first() {
                let mut operand = reduction.input().part(at..at + piece.len());
                if rank != self.steps.channel.rank() {
                    operand = partials.room(completes);
                    let packed = match reduction.is_dense() {
                        true => operand.memory(),
                        false => staging.memory(piece.len() * size),
                    };
                    self.steps
                        .read(self.operands[rank].after(at * size), &packed)?;
                    operand = reduction.unpacked(&packed, operand);
                }
                partials.take(Some(operand), completes);
            }
            if !grows_in_result {
                copy(&sum.memory(), &packed);
            }
        }
        Some(())
    }
}
