//! Hints of communicators (MPI-5.0 §7.4.4).
//!
//! - `mpi_assert_no_any_tag`, `mpi_assert_no_any_source`: a wildcard is an error from then on. Of a communicator that is
//!   made with them, on all processes, messages spread over lanes (`lanes.rs`), and they stay as they are.
//! - `mpi_assert_allow_overtaking`, `mpi_assert_exact_length`, `mpi_assert_strict_persistent_collective_ordering` are kept and
//!   told, and nothing is gained by them: messages of one receive come by one lane, in order at no cost; a receive knows
//!   the length of its message before it moves any of it; the tag of a persistent operation is its own.
//! - `mpi_assert_memory_alloc_kinds` likewise: every call takes every kind.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_error::{Class, Error, Result, argument};
use weft_handle::InfoId;

use crate::comm::lanes::LaneSelection;
use crate::info;

/// What a program asserts of its use of a communicator, all false at first.
const ASSERTIONS: [&CStr; 5] = [
    c"mpi_assert_no_any_tag",
    c"mpi_assert_no_any_source",
    c"mpi_assert_exact_length",
    c"mpi_assert_allow_overtaking",
    c"mpi_assert_strict_persistent_collective_ordering",
];

/// Places among [`ASSERTIONS`].
const NO_ANY_TAG: usize = 0;
const NO_ANY_SOURCE: usize = 1;

const ASSERTED_KINDS: &CStr = c"mpi_assert_memory_alloc_kinds";

/// The kinds of memory that every call takes, wherever it comes from (MPI-5.0 §11.4.3).
pub(crate) const MEMORY_KINDS: (&CStr, &str) = (
    c"mpi_memory_alloc_kinds",
    "system,mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared",
);

/// A communicator's hints.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    asserted: [bool; ASSERTIONS.len()],
    memory_kinds: Option<String>,
}

fn boolean(value: &CStr) -> Option<bool> {
    match value.to_bytes() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Whether all kinds of a list are supported: `kind:restrictor:...,kind...`.
fn are_supported(kinds: &str) -> bool {
    kinds.split(',').all(|kind| {
        let mut parts = kind.split(':');
        match parts.next() {
            Some("system") => parts.next().is_none(),
            Some("mpi") => parts
                .all(|part| matches!(part, "alloc_mem" | "win_allocate" | "win_allocate_shared")),
            _ => false,
        }
    })
}

impl Hints {
    /// Takes one over; what is not a hint of communicators, or no value of its hint, is ignored.
    fn set(&mut self, key: &CStr, value: &CStr) {
        if key == ASSERTED_KINDS {
            if let Some(kinds) = value.to_str().ok().filter(|kinds| are_supported(kinds)) {
                self.memory_kinds = Some(kinds.to_owned());
            }
            return;
        }
        let place = ASSERTIONS.iter().position(|&known| known == key);
        if let (Some(place), Some(value)) = (place, boolean(value)) {
            self.asserted[place] = value;
        }
    }

    /// Takes over the hints of an info object, if there is one.
    pub(crate) fn set_all(&mut self, info: Option<InfoId>) -> Result<()> {
        if let Some(info) = info {
            for (key, value) in info::pairs(info)? {
                self.set(&key, &value);
            }
        }
        Ok(())
    }

    /// What they promise of receives.
    pub fn promised(&self) -> LaneSelection {
        LaneSelection {
            by_tag: self.asserted[NO_ANY_TAG],
            by_pair: self.asserted[NO_ANY_SOURCE],
        }
    }

    /// What the lanes of messages rely on is not taken back: `false` is ignored then (MPI-5.0 §7.4.4).
    pub(super) fn hold(&mut self, selection: LaneSelection) {
        self.asserted[NO_ANY_TAG] |= selection.by_tag;
        self.asserted[NO_ANY_SOURCE] |= selection.by_pair;
    }

    /// All hints with their values.
    pub(super) fn list(&self) -> Vec<(&CStr, &str)> {
        let truth = |&value: &bool| if value { "true" } else { "false" };
        let asserted = self.asserted.iter().map(truth);
        let mut list: Vec<_> = ASSERTIONS.into_iter().zip(asserted).collect();
        list.push(MEMORY_KINDS);
        list.extend(
            self.memory_kinds
                .as_deref()
                .map(|kinds| (ASSERTED_KINDS, kinds)),
        );
        list
    }
}

/// The hints that an info object holds, before a communicator has them.
pub fn from_info(info: Option<InfoId>) -> Result<Hints> {
    let mut hints = Hints::default();
    hints.set_all(info)?;
    Ok(hints)
}

/// Wildcards that a communicator's hints exclude, for receives that use one.
#[derive(Debug, Default)]
pub struct Wildcards {
    no_tag: AtomicBool,
    no_source: AtomicBool,
}

impl Wildcards {
    pub(super) fn exclude(&self, promised: LaneSelection) {
        self.no_tag.store(promised.by_tag, Ordering::Relaxed);
        self.no_source.store(promised.by_pair, Ordering::Relaxed);
    }

    pub fn check_tag(&self) -> Result<()> {
        match self.no_tag.load(Ordering::Relaxed) {
            true => Err(excluded(Class::Tag, "recvtag", "MPI_ANY_TAG", NO_ANY_TAG)),
            false => Ok(()),
        }
    }

    #[inline]
    pub fn check_source(&self) -> Result<()> {
        match self.no_source.load(Ordering::Relaxed) {
            true => Err(excluded(
                Class::Rank,
                "source",
                "MPI_ANY_SOURCE",
                NO_ANY_SOURCE,
            )),
            false => Ok(()),
        }
    }
}

#[cold]
fn excluded(class: Class, name: &str, wildcard: &str, hint: usize) -> Error {
    let hint = ASSERTIONS[hint].to_string_lossy();
    let what = format_args!("{wildcard}, of a communicator with the hint {hint}");
    argument(class, name, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hints_stay_and_others_do_not() {
        let mut hints = Hints::default();
        assert!(hints.list().iter().all(|pair| pair.1 != "true"));
        hints.set(c"mpi_assert_exact_length", c"true");
        hints.set(c"mpi_assert_exact_length", c"perhaps");
        hints.set(c"mpi_assert_no_any_tag", c"1");
        hints.set(c"something", c"true");
        let list = hints.list();
        assert_eq!(list.len(), ASSERTIONS.len() + 1);
        let is_true = list.iter().filter(|pair| pair.1 == "true");
        assert_eq!(
            is_true.map(|pair| pair.0).collect::<Vec<_>>(),
            [ASSERTIONS[2]]
        );
    }

    #[test]
    fn kinds_of_memory() {
        for kinds in [
            "mpi",
            "system,mpi",
            "mpi:alloc_mem:win_allocate",
            MEMORY_KINDS.1,
        ] {
            assert!(are_supported(kinds), "{kinds:?}");
        }
        for kinds in [
            "",
            "mpi,",
            "cuda",
            "system:alloc_mem",
            "mpi:device",
            "mpi, system",
        ] {
            assert!(!are_supported(kinds), "{kinds:?}");
        }
        let mut hints = Hints::default();
        hints.set(ASSERTED_KINDS, c"cuda");
        assert_eq!(hints.list().len(), ASSERTIONS.len() + 1);
        hints.set(ASSERTED_KINDS, c"mpi");
        assert_eq!(hints.list().last(), Some(&(ASSERTED_KINDS, "mpi")));
    }
}
