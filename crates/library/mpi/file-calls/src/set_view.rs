//! Views (MPI-5.0 §14.3): setting one, which all processes do together, and asking for it.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use weft_collective::run_blocking;
use weft_collective_calls::Peers;
use weft_collective_calls::lists::{Exchange, bytes_of, words_of};
use weft_datatype::{Datatype, Growth, Tiling};
use weft_error::told::{Reader, Teller, fingerprint};
use weft_error::{Class, Error, Result, argument};
use weft_file::View;
use weft_handle::{FileId, InfoId};
use weft_objects::types::{self, TypeId, committed};

use super::aggregation::aggregators;
use super::agreement::{check_same, exchange, once, settle};
use super::hints::Settings;
use super::object::{File, share};
use super::representation::Representation;
use super::seen::{OfAll, Seen, too_far};

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
        settings: file.seen().settings,
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

/// A view whose lists, or words, are more is not told when it is set: an access needs a part of them only, at each
/// aggregator another one.
const LONGEST_TOLD: usize = 1024;
const MOST_WORDS: usize = 8 * LONGEST_TOLD;

/// How the others learn of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// It is every byte from the displacement on.
    Plain,
    /// Aggregators are sent its pattern when it is set.
    Pattern,
    /// Aggregators are sent what they need of it with each access.
    Listed,
}

impl Told {
    const ALL: [Told; 3] = [Told::Plain, Told::Pattern, Told::Listed];
}

/// How the others learn of a view, and the words of its pattern if they are sent it.
fn pattern(view: &View) -> (Told, Vec<i64>) {
    let tiling = view.tiling();
    if tiling.is_dense() && view.offset(0) == Some(view.displacement()) {
        return (Told::Plain, Vec::new());
    }
    let words = (tiling.listed() <= LONGEST_TOLD).then(|| tiling.words());
    match words.filter(|words| words.len() <= MOST_WORDS) {
        Some(words) => (Told::Pattern, words),
        None => (Told::Listed, Vec::new()),
    }
}

/// What all processes tell of their views, by rank: where each begins, and how the others learn of it.
fn told_views(told: &[[i64; WORDS]]) -> Result<Vec<(u64, Told)>> {
    check_same(told, 0, "etype")?;
    check_same(told, 1, "datarep")?;
    let view = |mut words: Reader<'_>| {
        words.length("size of an etype")?;
        words.next("data representation")?;
        let displacement = words.length("displacement of a view")?;
        let how = words.index(Told::ALL.len(), "way to tell a view")?;
        Ok((displacement, Told::ALL[how]))
    };
    Reader::of_all(told).map(view).collect()
}

/// The same view when all processes have theirs: settings are the first one's, and aggregators know all views but those that are long
/// lists.
fn agreed(file: &File, seen: Result<Seen>) -> Result<Seen> {
    let found = seen.as_ref().ok().map(|seen| pattern(&seen.view));
    let words = seen.as_ref().map_err(Clone::clone).map(|seen| {
        let [a, b, c, d, e] = seen.settings.words();
        let name = seen.representation.name();
        let name = fingerprint(name.to_bytes().iter().copied().map(u64::from)) as i64;
        let (etype, at) = (seen.etype_bytes as i64, seen.view.displacement() as i64);
        let how = found.as_ref().map_or(Told::Plain, |(how, _)| *how);
        [etype, name, at, how as i64, a, b, c, d, e]
    });
    let (told, settings) = exchange(&file.comm, words, |told| {
        let [.., a, b, c, d, e] = told[0];
        Ok((told_views(told)?, Settings::told([a, b, c, d, e])?))
    })?;
    let (mut seen, (how, pattern)) = (seen?, found.expect("there is a view"));
    seen.settings = settings;
    let views = tell_aggregators(file, &settings, &told, (how, &pattern));
    settle(&file.comm, views.as_ref().map(drop).map_err(Clone::clone))?;
    seen.of_all = OfAll {
        is_listed: how == Told::Listed,
        some_are_listed: told.iter().any(|(_, how)| *how == Told::Listed),
        are_plain: told.iter().all(|(_, how)| *how == Told::Plain),
        views: views?,
        kept: Default::default(),
    };
    Ok(seen)
}

/// Sends this process's pattern to the aggregators, if there is one; at one of them, the views of all processes by
/// rank, none of those that are long lists. If all see every byte from the beginning on there is nothing to know.
fn tell_aggregators(
    file: &File,
    settings: &Settings,
    told: &[(u64, Told)],
    (how, pattern): (Told, &[i64]),
) -> Result<Vec<Option<View>>> {
    if told.iter().all(|view| *view == (0, Told::Plain)) || told.len() == 1 {
        return Ok(Vec::new());
    }
    let aggregators = aggregators(&file.comm, settings);
    let serves = aggregators.contains(&(file.comm.rank() as usize));
    let pattern = bytes_of(pattern);
    let from = told.iter().enumerate();
    let from = from.filter(|(_, (_, how))| serves && *how == Told::Pattern);
    let exchange = Exchange {
        out: match how {
            Told::Pattern => aggregators.iter().map(|&to| (to, &pattern[..])).collect(),
            Told::Plain | Told::Listed => Vec::new(),
        },
        from: from.map(|(rank, _)| rank).collect(),
        most: &|_| 8 * MOST_WORDS,
    };
    let (peers, tag) = (Peers::all(&file.comm), file.comm.next_operation());
    let (lists, outcome) = run_blocking(exchange.run(&peers, tag), || peers.wait());
    outcome?;
    if !serves {
        return Ok(Vec::new());
    }
    let mut lists = lists.iter();
    let view = |(rank, &(displacement, how)): (usize, &(u64, Told))| match how {
        Told::Listed => Ok(None),
        Told::Plain => Ok(Some(View::bytes(displacement))),
        Told::Pattern => view(rank, displacement, lists.next().map_or(&[], |list| list)).map(Some),
    };
    told.iter().enumerate().map(view).collect()
}

/// A process's view, of the pattern that it sent.
fn view(rank: usize, displacement: u64, pattern: &[u8]) -> Result<View> {
    let tiling = words_of(pattern).and_then(|words| Tiling::from_words(&words));
    let view = tiling.and_then(|tiling| View::of(displacement, tiling));
    let bytes = pattern.len();
    view.ok_or_else(|| Teller::Rank(rank).told(format_args!("a pattern of {bytes} bytes"), "view"))
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

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    if let Some((&displacement, pattern)) = words.split_first() {
        let _ = view(1, displacement as u64 >> 1, &bytes_of(pattern));
    }
    if let Ok(views) = told_views(words.as_chunks().0) {
        views
            .iter()
            .for_each(|(displacement, _)| assert!(*displacement <= i64::MAX as u64));
    }
}
