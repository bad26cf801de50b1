//! An access of one process: which positions of its view, from or to which memory (MPI-5.0 §14.4).

use std::ops::Range;
use std::sync::Arc;

use weft_error::{Class, Result, argument};
use weft_file::Sharing;
use weft_handle::FileId;
use weft_memory::Memory;
use weft_messages::request::Status;
use weft_objects::UNDEFINED;
use weft_objects::types::Buffer;

use super::form::{Direction, Positioning};
use super::hints::OwnSettings;
use super::object::{File, share};
use super::representation::Typed;
use super::seen::{Seen, too_far};

/// An access whose arguments are checked.
pub(super) struct Access {
    pub file: Arc<File>,
    pub seen: Arc<Seen>,
    pub direction: Direction,
    pub positions: Range<u64>,
    /// As many bytes as there are positions, as they are in the file.
    pub memory: Memory,
    /// What the program gave, and the data in the file's representation, to which `memory` points.
    converted: Option<(Typed, Vec<u8>)>,
}

/// An access that has no place yet.
pub(super) struct Unplaced {
    pub file: Arc<File>,
    pub seen: Arc<Seen>,
    direction: Direction,
    memory: Memory,
    converted: Option<(Typed, Vec<u8>)>,
    /// Its data are as many etypes.
    pub etypes: i64,
}

impl Unplaced {
    pub fn new(id: FileId, direction: Direction, buffer: &Buffer) -> Result<Unplaced> {
        let file = share(id)?;
        match direction {
            Direction::Read => file.mode.check_readable()?,
            Direction::Write => file.mode.check_writable()?,
        }
        let seen = file.seen();
        let (memory, converted) = match seen.representation.is_native() {
            true => (buffer.memory()?, None),
            false => {
                let typed = Typed::new(buffer)?;
                let mut data = match direction {
                    Direction::Write => seen.representation.encode(&typed)?,
                    Direction::Read => {
                        let bytes = seen
                            .representation
                            .file_bytes(&typed.datatype, typed.count)?;
                        weft_reserve::zeroed(bytes)?
                    }
                };
                let memory = Memory::contiguous(data.as_mut_ptr(), data.len());
                (memory, Some((typed, data)))
            }
        };
        let etypes = seen.etypes(memory.bytes as u64)?;
        weft_file::count_access();
        Ok(Unplaced {
            file,
            seen,
            direction,
            memory,
            converted,
            etypes,
        })
    }

    /// Begins at an offset in etypes.
    pub fn at(self, offset: i64) -> Result<Access> {
        let mut positions = self.seen.positions(offset, self.memory.bytes as u64)?;
        let mut memory = self.memory;
        if self.seen.view.tiling().size() == 0 && self.direction == Direction::Read {
            // A view that shows nothing ends where it begins.
            positions.end = positions.start;
            memory = memory.part(0, 0);
        }
        if self.seen.view.hull(&positions).is_none() {
            return Err(match self.seen.view.tiling().size() {
                0 => argument(Class::Io, "fh", "a view that shows no byte of the file"),
                _ => too_far(),
            });
        }
        if self.direction == Direction::Write {
            self.file.mark_written();
        }
        Ok(Access {
            file: self.file,
            seen: self.seen,
            direction: self.direction,
            positions,
            memory,
            converted: self.converted,
        })
    }

    /// Begins where the individual pointer is, which moves on by what the access is for (MPI-5.0 §14.4.3).
    pub fn at_individual(self) -> Result<Access> {
        self.file.mode.check_random()?;
        let file = self.file.clone();
        let mut position = file.position.lock();
        let etypes = self.etypes;
        let access = self.at(*position)?;
        *position += etypes;
        Ok(access)
    }

    /// As `positioning` says, in a call of this process alone.
    pub fn placed(self, positioning: Positioning) -> Result<Access> {
        match positioning {
            Positioning::At(offset) => {
                self.file.mode.check_random()?;
                self.at(offset)
            }
            Positioning::Individual => self.at_individual(),
            Positioning::Shared => {
                let offset = self.file.shared.advance(self.etypes)?;
                self.at(offset)
            }
        }
    }
}

impl Access {
    /// Reads or writes, by this process alone. Returns how many bytes of the file there were.
    pub fn carry_out(&self) -> Result<usize> {
        let file = &*self.file;
        let alone = file.is_atomic().then(|| file.atomic_access.lock());
        let hull = self.seen.view.hull(&self.positions).ok_or_else(too_far)?;
        let sharing = match self.direction {
            Direction::Read => Sharing::Readers,
            Direction::Write => Sharing::Nobody,
        };
        let locked = (alone.is_some() && !hull.is_empty())
            .then(|| file.descriptor.lock(hull, sharing))
            .transpose();
        let _locked = locked.map_err(|error| file.failed(&error))?;
        let (descriptor, view) = (&file.descriptor, &self.seen.view);
        let positions = self.positions.clone();
        let OwnSettings {
            sieve_bytes,
            may_map,
        } = self.seen.own_settings;
        // SAFETY of both: the program's buffer, or one of this access's own, which nobody else touches until the access is
        // over (MPI-5.0 §14.4.2).
        let moved = match self.direction {
            Direction::Read => {
                // SAFETY: as above.
                unsafe { weft_file::read(descriptor, view, positions, &self.memory, sieve_bytes) }
            }
            Direction::Write => {
                // SAFETY: as above.
                let written =
                    unsafe { weft_file::write(descriptor, view, positions, &self.memory, may_map) };
                written.map(|()| self.memory.bytes)
            }
        };
        moved.map_err(|error| file.failed(&error))
    }

    /// Ends it, of so many bytes of the file: data that were read are converted. The status says how many bytes of the program's
    /// data they are.
    pub fn finish(self, bytes: usize) -> Result<Status> {
        let Some((typed, mut data)) = self.converted else {
            return Ok(transferred(bytes));
        };
        if self.direction == Direction::Write {
            return Ok(transferred(typed.memory.bytes));
        }
        data.truncate(bytes);
        let bytes = self.seen.representation.decode(&mut data, &typed)?;
        Ok(transferred(bytes))
    }
}

/// The status of an access: source and tag say nothing (MPI-5.0 §14.4.5).
pub(super) fn transferred(bytes: usize) -> Status {
    Status::said(UNDEFINED, UNDEFINED, bytes as u64, false)
}
