//! Accesses of an origin: put, get, and updates (MPI-5.0 §12.3).

use parking_lot::MutexGuard;
use weft_datatype::{Op, Predefined};
use weft_error::Result;
use weft_memory::Memory;
use weft_rma::Target;
use weft_rma::far::{Access, Command, LONGEST_RESULT, Piece, Pieces, Room, Unit, Updating};
use weft_transport::Direction;

use super::line::{State, What};
use super::path::{MESSAGE_BYTES, Owner, Path};

/// Bytes of a put from which its data are a message of their own: then they are copied nowhere in between.
const ANNOUNCED_BYTES: usize = 64 << 10;

/// What an update combines with, and where to what was there before goes.
pub struct Buffers {
    pub operands: Option<Memory>,
    pub results: Option<Memory>,
}

/// How the commands of an access are made.
#[derive(Clone, Copy)]
struct Form {
    unit: Unit,
    /// With the data.
    inline: bool,
    /// Without an answer.
    is_silent: bool,
    /// Bytes of data that one is for, at most.
    longest: usize,
}

impl Form {
    fn of_bytes(inline: bool, is_silent: bool) -> Form {
        Form {
            unit: Unit::BYTE,
            inline,
            is_silent,
            longest: usize::MAX,
        }
    }
}

impl Path<'_> {
    /// `MPI_Put`. The target was checked, and so was that the data fit it.
    ///
    /// # Safety
    /// `origin` is valid for reads until the access is complete at the origin.
    pub unsafe fn put(&self, target: &Target, origin: &Memory, owner: &mut Owner) -> Result<()> {
        let Some(access) = access(target, Unit::BYTE, origin.bytes) else {
            return Ok(());
        };
        if let Some(place) = self.exposed(&access) {
            // SAFETY: by this function's contract.
            return unsafe { self.access_exposed(place, Direction::Write, origin, owner) };
        }
        let mut pieces = Pieces::new(access, Unit::BYTE, origin.bytes);
        let mut state = self.enter_to_access()?;
        state.begin(true);
        if origin.bytes >= ANNOUNCED_BYTES {
            return self.put_announced(&mut state, pieces, origin, owner);
        }
        let mut copy = Vec::new();
        let form = Form::of_bytes(true, true);
        while let Some(piece) = self.next_piece(&mut state, &mut pieces, form)? {
            // SAFETY: by this function's contract; the piece lies in the origin.
            let data = unsafe { packed(origin, piece.begin, piece.bytes, &mut copy) }?;
            let access = piece.access;
            Self::write(&mut state, &Command::Put { access, data });
        }
        self.gather(&mut state);
        Ok(())
    }

    fn put_announced(
        &self,
        state: &mut MutexGuard<'_, State>,
        mut pieces: Pieces,
        origin: &Memory,
        owner: &mut Owner,
    ) -> Result<()> {
        let form = Form::of_bytes(false, true);
        while let Some(piece) = self.next_piece(state, &mut pieces, form)? {
            let tag = Self::data_tag(state);
            let access = piece.access;
            Self::write(state, &Command::Announce { access, tag });
            self.send(state)?;
            if let Some(id) = self.send_data(origin.part(piece.begin, piece.bytes), tag)? {
                Self::note(state, owner, id, What::Data);
            }
        }
        Ok(())
    }

    /// `MPI_Get`: the data come straight to `origin`.
    ///
    /// # Safety
    /// `origin` is valid for writes until the access is complete.
    pub unsafe fn get(&self, target: &Target, origin: &Memory, owner: &mut Owner) -> Result<()> {
        let Some(access) = access(target, Unit::BYTE, origin.bytes) else {
            return Ok(());
        };
        if let Some(place) = self.exposed(&access) {
            // SAFETY: by this function's contract.
            return unsafe { self.access_exposed(place, Direction::Read, origin, owner) };
        }
        let mut pieces = Pieces::new(access, Unit::BYTE, origin.bytes);
        let mut state = self.enter_to_access()?;
        state.begin(false);
        let form = Form::of_bytes(false, false);
        while let Some(piece) = self.next_piece(&mut state, &mut pieces, form)? {
            let into = origin.part(piece.begin, piece.bytes);
            let (reply, id) = self.expect(&mut state, into)?;
            Self::note(&mut state, owner, id, What::Answer(piece.bytes));
            let access = piece.access;
            Self::write(&mut state, &Command::Get { access, reply });
        }
        self.send(&mut state)
    }

    /// Updates elements of the target, which are all of the operation's type.
    ///
    /// # Safety
    /// The buffers are as long as the target; the operands are valid for reads now, the results for writes until the access is complete.
    pub unsafe fn update(
        &self,
        target: &Target,
        updating: Updating,
        buffers: &Buffers,
        owner: &mut Owner,
    ) -> Result<()> {
        let Buffers { operands, results } = buffers;
        let unit = Unit::of(updating.basic);
        let bytes = target.datatype.size() * target.count;
        let Some(access) = access(target, unit, bytes) else {
            return Ok(());
        };
        let mut pieces = Pieces::new(access, unit, bytes);
        let form = Form {
            unit,
            inline: updating.op != Op::NoOp,
            is_silent: results.is_none(),
            longest: LONGEST_RESULT,
        };
        let mut state = self.enter_to_access()?;
        state.begin(form.is_silent);
        let mut copy = Vec::new();
        while let Some(piece) = self.next_piece(&mut state, &mut pieces, form)? {
            let mut reply = None;
            if let Some(results) = results {
                let into = results.part(piece.begin, piece.bytes);
                let (tag, id) = self.expect(&mut state, into)?;
                Self::note(&mut state, owner, id, What::Result(piece.bytes));
                reply = Some(tag);
            }
            let operands = match operands.as_ref().filter(|_| form.inline) {
                // SAFETY: by this function's contract; the piece lies in the operands.
                Some(memory) => unsafe { packed(memory, piece.begin, piece.bytes, &mut copy)? },
                None => &[],
            };
            let command = Command::Update {
                access: piece.access,
                updating,
                operands,
                reply,
            };
            Self::write(&mut state, &command);
        }
        match results {
            Some(_) => self.send(&mut state)?,
            None => self.gather(&mut state),
        }
        Ok(())
    }

    /// `MPI_Compare_and_swap` of one element at an offset; all three memories hold one.
    ///
    /// # Safety
    /// `compare` and `value` are valid for reads now, `result` for writes until the access is complete.
    pub unsafe fn swap(
        &self,
        (offset, basic): (i64, Predefined),
        [compare, value]: [&Memory; 2],
        result: &Memory,
    ) -> Result<()> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let bytes = basic.size();
        let mut state = self.enter_to_access()?;
        state.begin(false);
        if Self::room(&state) < Pieces::smallest_room(Unit::of(basic)) + bytes {
            self.send(&mut state)?;
        }
        let (reply, id) = self.expect(&mut state, result.clone())?;
        Self::note(&mut state, &mut Owner::Line, id, What::Result(bytes));
        // SAFETY: by this function's contract.
        let (compare, value) = unsafe {
            (
                packed(compare, 0, bytes, &mut first)?,
                packed(value, 0, bytes, &mut second)?,
            )
        };
        let command = Command::Swap {
            offset,
            basic,
            compare,
            value,
            reply,
        };
        Self::write(&mut state, &command);
        self.send(&mut state)
    }

    /// The next piece of an access. The batch is sent first if it has no room for a piece, or for all that is left though another message
    /// would have.
    fn next_piece(
        &self,
        state: &mut MutexGuard<'_, State>,
        pieces: &mut Pieces,
        form: Form,
    ) -> Result<Option<Piece>> {
        let wanted = pieces.longest(form.inline).min(MESSAGE_BYTES / 2);
        if Self::room(state) < wanted.max(Pieces::smallest_room(form.unit)) {
            self.send(state)?;
            if self.pause(state) {
                state.begin(form.is_silent);
            }
        }
        Ok(pieces.next(Room {
            message: Self::room(state),
            inline: form.inline,
            data: form.longest,
        }))
    }
}

/// Where the data of a target lie. None if there are no bytes to go there.
fn access(target: &Target, unit: Unit, bytes: usize) -> Option<Access> {
    if bytes == 0 {
        return None;
    }
    Access::new(target.datatype, target.count, target.offset, unit)
}

/// Packed bytes of a buffer: itself where they lie together, else copied.
///
/// # Safety
/// The buffer is valid for reads while the bytes are used, and has as many.
unsafe fn packed<'a>(
    memory: &'a Memory,
    begin: usize,
    bytes: usize,
    copy: &'a mut Vec<u8>,
) -> Result<&'a [u8]> {
    Ok(match memory.layout {
        // SAFETY: by this function's contract.
        None => unsafe { std::slice::from_raw_parts(memory.base.wrapping_add(begin), bytes) },
        Some(_) => {
            weft_reserve::lengthen(copy, bytes)?;
            // SAFETY: by this function's contract.
            unsafe { memory.read(begin, copy) };
            copy
        }
    })
}
