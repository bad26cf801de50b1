//! Views (MPI-5.0 §14.3): setting one, which all processes do together, and asking for it.

use std::ffi::{CStr, CString};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use weft_collective::{PointToPoint, run_blocking};
use weft_datatype::{Datatype, Growth, Predefined, Tiling};
use weft_file::View;
use weft_memory::Memory;

use super::aggregation::aggregators;
use super::agreement::{check_same, exchange, once, settle};
use super::hints::Settings;
use super::object::{File, share};
use super::representation::Representation;
use super::seen::{OfAll, Seen, too_far};
use crate::collective::Peers;
use crate::error::{Class, Error, Result, argument};
use crate::handle::{FileId, InfoId};
use crate::objects::types::{self, TypeId, committed};

/// `MPI_DISPLACEMENT_CURRENT`, with the ABI's number.
const DISPLACEMENT_CURRENT: i64 = -1;

/// `MPI_File_set_view`.
pub fn set_view(
    id: FileId,
    displacement: i64,
    etype: TypeId,
    filetype: TypeId,
    representation: &CStr,
    info: Option<InfoId>,
) -> Result<()> {
    let file = share(id)?;
    let mut hints = file.hints.lock().clone();
    let mine = checked(&file, displacement, etype, filetype, representation)
        .and_then(|seen| hints.update(info).map(|()| seen));
    let seen = mine.map(|mut seen| {
        seen.settings = hints.settings();
        seen.own_settings = hints.own_settings();
        seen
    });
    let seen = agreed(&file, seen)?;
    *file.hints.lock() = hints;
    *file.seen.write() = Arc::new(seen);
    *file.position.lock() = 0;
    once(&file, || file.shared.store(0))
}

/// A view from the arguments of a call.
fn checked(
    file: &File,
    displacement: i64,
    etype: TypeId,
    filetype: TypeId,
    representation: &CStr,
) -> Result<Seen> {
    let representation = Representation::named(representation)?;
    let etype = committed(etype).map_err(|error| error.of_argument("etype"))?;
    let filetype = committed(filetype).map_err(|error| error.of_argument("filetype"))?;
    let displacement = start(file, displacement)?;
    let in_file = representation.in_file(&filetype)?;
    let etype_bytes = representation.in_file(&etype)?.size();
    let view = View::new(displacement as u64, &in_file).ok_or_else(not_monotone)?;
    if view.growth() == Growth::Overlapping && file.mode.check_writable().is_ok() {
        return Err(not_monotone());
    }
    let whole = match etype_bytes {
        0 => in_file.size() == 0,
        bytes => in_file.size().is_multiple_of(bytes),
    };
    if !whole {
        let what = format_args!(
            "its {} bytes are no whole number of etypes of {etype_bytes} bytes",
            in_file.size()
        );
        return Err(argument(Class::Arg, "filetype", what));
    }
    Ok(Seen {
        view,
        displacement,
        etype,
        filetype,
        etype_bytes: etype_bytes as u64,
        representation,
        settings: Settings::of_words([0; Settings::WORDS]),
        own_settings: file.seen().own_settings,
        of_all: OfAll::default(),
    })
}

/// Where a view begins. In sequential mode that is where the file is (MPI-5.0 §14.3).
fn start(file: &File, displacement: i64) -> Result<i64> {
    match (displacement, file.mode.is_sequential()) {
        (DISPLACEMENT_CURRENT, true) => {
            let (seen, etypes) = (file.seen(), file.shared.load()?);
            let positions = seen.positions(etypes, 0)?;
            let offset = seen.view.offset(positions.start).ok_or_else(too_far)?;
            Ok(offset as i64)
        }
        (DISPLACEMENT_CURRENT, false) => Err(argument(
            Class::Arg,
            "disp",
            "MPI_DISPLACEMENT_CURRENT is for MPI_MODE_SEQUENTIAL",
        )),
        (_, true) => Err(argument(
            Class::Arg,
            "disp",
            "has to be MPI_DISPLACEMENT_CURRENT in MPI_MODE_SEQUENTIAL",
        )),
        (0.., false) => Ok(displacement),
        _ => Err(argument(
            Class::Arg,
            "disp",
            format_args!("{displacement} is negative"),
        )),
    }
}

#[cold]
fn not_monotone() -> Error {
    let what = "its displacements are negative or go back, or overlap and the file may be written (MPI-5.0 §14.3)";
    argument(Class::Io, "filetype", what)
}

/// `MPI_File_set_info`: hints about collective access count from here on.
pub fn set_info(id: FileId, info: InfoId) -> Result<()> {
    let file = share(id)?;
    let mut hints = file.hints.lock().clone();
    let updated = hints.update(Some(info));
    let old = file.seen();
    let seen = updated.map(|()| Seen {
        view: old.view.clone(),
        displacement: old.displacement,
        etype: old.etype.clone(),
        filetype: old.filetype.clone(),
        etype_bytes: old.etype_bytes,
        representation: old.representation.clone(),
        settings: hints.settings(),
        own_settings: hints.own_settings(),
        of_all: OfAll::default(),
    });
    let seen = agreed(&file, seen)?;
    *file.hints.lock() = hints;
    *file.seen.write() = Arc::new(seen);
    Ok(())
}

/// The words by which processes compare their views, and by which they learn of each other's.
const WORDS: usize = 4 + Settings::WORDS;

/// A view whose lists are longer is not told when it is set: an access needs a part of them only, at each aggregator another one.
const LONGEST_TOLD: usize = 1024;
/// Told in place of the length of such a view's pattern.
const LISTED: i64 = -1;

/// The words of a view's pattern, none if that is every byte from the displacement on or a long list.
fn pattern(seen: &Seen) -> Vec<i64> {
    let tiling = seen.view.tiling();
    let is_plain = tiling.is_dense() && seen.view.offset(0) == Some(seen.view.displacement());
    match is_plain || seen.of_all.is_listed {
        true => Vec::new(),
        false => tiling.words(),
    }
}

/// The same view when all processes have theirs: settings are the first one's, and aggregators know all views but those that are long
/// lists.
fn agreed(file: &File, mut seen: Result<Seen>) -> Result<Seen> {
    if let Ok(seen) = &mut seen {
        seen.of_all.is_listed = seen.view.tiling().listed() > LONGEST_TOLD;
    }
    let pattern = seen.as_ref().map_or(Vec::new(), pattern);
    let words = seen.as_ref().map_err(Clone::clone).map(|seen| {
        let [a, b, c, d, e] = seen.settings.words();
        let name = fingerprint(&seen.representation.name());
        let etype = seen.etype_bytes as i64;
        let length = match seen.of_all.is_listed {
            true => LISTED,
            false => pattern.len() as i64,
        };
        let at = seen.view.displacement() as i64;
        [etype, name, at, length, a, b, c, d, e]
    });
    let told: Vec<[i64; WORDS]> = exchange(&file.comm, words)?;
    check_same(&told, 0, "etype")?;
    check_same(&told, 1, "datarep")?;
    let [.., a, b, c, d, e] = told[0];
    let mut seen = seen?;
    seen.settings = Settings::of_words([a, b, c, d, e]);
    let exchanged = tell_aggregators(file, &seen, pattern, &told);
    settle(
        &file.comm,
        exchanged.as_ref().map(drop).map_err(Clone::clone),
    )?;
    seen.of_all.views = exchanged?;
    seen.of_all.some_are_listed = told.iter().any(|words| words[3] == LISTED);
    Ok(seen)
}

/// A number of a representation's name, by which processes compare it.
fn fingerprint(name: &CStr) -> i64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.to_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step) as i64
}

/// Sends this process's pattern to the aggregators; at one of them, the views of all processes by rank, none of those that are long
/// lists. If all see every byte from the beginning on there is nothing to know.
fn tell_aggregators(
    file: &File,
    seen: &Seen,
    mut pattern: Vec<i64>,
    told: &[[i64; WORDS]],
) -> Result<Vec<Option<View>>> {
    if told.iter().all(|words| words[2] == 0 && words[3] == 0) || told.len() == 1 {
        return Ok(Vec::new());
    }
    let aggregators = aggregators(&file.comm, &seen.settings);
    let serves = aggregators.contains(&(file.comm.rank() as usize));
    let lengths = told.iter().map(|words| match serves {
        true => usize::try_from(words[3]).unwrap_or(0),
        false => 0,
    });
    let mut patterns: Vec<Vec<i64>> = lengths.map(|length| vec![0; length]).collect();
    let (peers, tag) = (Peers::all(&file.comm), file.comm.next_operation());
    let exchange = async {
        let mut under_way = Vec::new();
        for (rank, pattern) in patterns.iter_mut().enumerate() {
            if !pattern.is_empty() {
                under_way.push(peers.receive(rank, tag, memory(pattern))?);
            }
        }
        if !pattern.is_empty() {
            for &aggregator in &aggregators {
                under_way.push(peers.send(aggregator, tag, memory(&mut pattern))?);
            }
        }
        let mut failed = Ok(());
        for request in under_way {
            let finished = poll_fn(|_| match peers.poll(request) {
                Some(outcome) => Poll::Ready(outcome),
                None => Poll::Pending,
            });
            failed = failed.and(finished.await.map(drop));
        }
        failed
    };
    let exchanged: Result<()> = run_blocking(exchange, || peers.wait());
    exchanged?;
    match serves {
        true => told
            .iter()
            .zip(&patterns)
            .map(|(words, pattern)| match words[3] {
                LISTED => Ok(None),
                _ => view(words[2], pattern).map(Some),
            })
            .collect(),
        false => Ok(Vec::new()),
    }
}

fn memory(words: &mut [i64]) -> Memory {
    Memory::contiguous(words.as_mut_ptr().cast(), size_of_val(words))
}

/// Another process's view.
fn view(displacement: i64, pattern: &[i64]) -> Result<View> {
    let tiling = match pattern {
        [] => Some(Datatype::from(Predefined::Byte).tiling()),
        words => Tiling::from_words(words),
    };
    let view = u64::try_from(displacement).ok().zip(tiling);
    view.and_then(|(displacement, tiling)| View::of(displacement, tiling))
        .ok_or_else(|| Error::new(Class::Intern, "a process tells of a view that is none"))
}

/// `MPI_File_get_view`: displacement, etype, filetype, data representation. Datatypes that are not predefined are new handles,
/// the caller's to free.
pub fn get_view(id: FileId) -> Result<(i64, TypeId, TypeId, CString)> {
    let seen = share(id)?.seen();
    let handle = |datatype: &Datatype| {
        let id = types::constituent(datatype)?;
        types::commit(id)?;
        Ok::<TypeId, Error>(id)
    };
    let (etype, filetype) = (handle(&seen.etype)?, handle(&seen.filetype)?);
    Ok((
        seen.displacement,
        etype,
        filetype,
        seen.representation.name(),
    ))
}

/// `MPI_File_get_type_extent` (MPI-5.0 §14.5.1).
pub fn type_extent(id: FileId, datatype: TypeId) -> Result<i64> {
    let seen = share(id)?.seen();
    let datatype = types::find(datatype)?;
    Ok(seen.representation.in_file(&datatype)?.extent() as i64)
}

/// `MPI_File_get_byte_offset`: where an offset of the view lies in the file.
pub fn byte_offset(id: FileId, offset: i64) -> Result<i64> {
    let file = share(id)?;
    file.mode.check_random()?;
    let seen = file.seen();
    let positions = seen.positions(offset, 0)?;
    let byte = seen.view.offset(positions.start);
    byte.map(|byte| byte as i64).ok_or_else(too_far)
}
