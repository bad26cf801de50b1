//! What a process sees of a file: its view, as it was set (MPI-5.0 §14.3), and, of those that read and write for others, theirs.

use std::ops::Range;

use weft_datatype::{Datatype, Predefined};
use weft_error::{Class, Error, Result, argument};
use weft_file::View;

use super::hints::{OwnSettings, Settings};
use super::kept::Kept;
use super::representation::Representation;

/// A view and how it was given. It never changes; another one takes its place.
pub(super) struct Seen {
    pub view: View,
    pub displacement: i64,
    pub etype: Datatype,
    pub filetype: Datatype,
    /// Of an etype in the file.
    pub etype_bytes: u64,
    pub representation: Representation,
    pub settings: Settings,
    pub own_settings: OwnSettings,
    pub of_all: OfAll,
}

/// What a process knows of the views of all.
#[derive(Default)]
pub(super) struct OfAll {
    /// Its own view is a long list: those that read and write for others learn with each access what of it they need.
    pub is_listed: bool,
    /// So is some process's.
    pub some_are_listed: bool,
    /// All views are every byte from their displacements on.
    pub are_plain: bool,
    /// By rank, where this one reads and writes for others; none of those that are long lists.
    pub views: Vec<Option<View>>,
    pub kept: Kept,
}

impl Seen {
    /// Of a file just opened: all bytes.
    pub fn initial(settings: Settings, own_settings: OwnSettings) -> Seen {
        Seen {
            view: View::bytes(0),
            displacement: 0,
            etype: Predefined::Byte.into(),
            filetype: Predefined::Byte.into(),
            etype_bytes: 1,
            representation: Representation::Native,
            settings,
            own_settings,
            of_all: OfAll {
                are_plain: true,
                ..OfAll::default()
            },
        }
    }

    /// The view of a rank, where this process reads and writes for others; none if it is a long list.
    pub fn view_of(&self, rank: usize) -> Option<View> {
        match self.of_all.views.get(rank) {
            Some(view) => view.clone(),
            None => Some(View::bytes(0)),
        }
    }

    /// The positions of so many bytes from an offset in etypes on.
    pub fn positions(&self, offset: i64, bytes: u64) -> Result<Range<u64>> {
        let etypes = u64::try_from(offset)
            .map_err(|_| argument(Class::Arg, "offset", format_args!("{offset} is negative")))?;
        let start = etypes.checked_mul(self.etype_bytes).ok_or_else(too_far)?;
        let end = start.checked_add(bytes).ok_or_else(too_far)?;
        Ok(start..end)
    }

    /// How many etypes so many bytes of data in the file are.
    pub fn etypes(&self, bytes: u64) -> Result<i64> {
        match self.etype_bytes {
            0 if bytes == 0 => Ok(0),
            etype if etype > 0 && bytes.is_multiple_of(etype) => Ok((bytes / etype) as i64),
            etype => {
                let what = format_args!(
                    "the data are {bytes} bytes, no whole number of etypes of {etype} bytes"
                );
                Err(argument(Class::Io, "count", what))
            }
        }
    }

    /// The offset in etypes of the first etype that lies at or behind a byte of the file: what the end of a file is in a view.
    pub fn etype_at(&self, byte: u64) -> i64 {
        match self.etype_bytes {
            0 => 0,
            etype => self.view.first_from(byte).div_ceil(etype) as i64,
        }
    }
}

#[cold]
pub(super) fn too_far() -> Error {
    argument(
        Class::Arg,
        "offset",
        "beyond the largest position that a file has",
    )
}
