//! `MPI_Comm_split_type` (MPI-5.0 §7.4.2): all processes tell how they want to be split and where they stand, and so each
//! knows what all of them get.

use std::collections::BTreeSet;
use std::ffi::CStr;

use weft_error::{Class, Result, argument};
use weft_handle::{CommId, InfoId};
use weft_objects::comm::hints;
use weft_objects::hardware::{self, Location, Resource};
use weft_objects::{info, session};
use weft_process::job::{host, job, rank};

use crate::create::split_with;
use crate::intercomm::agree_both;

/// How `MPI_Comm_split_type` is to split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitType {
    /// `MPI_COMM_TYPE_SHARED`: processes that can share memory.
    Shared,
    /// `MPI_COMM_TYPE_HW_GUIDED`: by the type of resource that the info object names.
    HardwareGuided,
    /// `MPI_COMM_TYPE_RESOURCE_GUIDED`: by that, or by a process set.
    ResourceGuided,
    /// `MPI_COMM_TYPE_HW_UNGUIDED`: by the widest type of resource that divides the communicator.
    HardwareUnguided,
    /// `MPI_UNDEFINED`.
    Undefined,
}

const RESOURCE_TYPE: &CStr = c"mpi_hw_resource_type";
const SHARED_MEMORY: &CStr = c"mpi_shared_memory";
const PROCESS_SET: &CStr = c"mpi_pset_name";

/// No part of its own, as a colour.
const NOWHERE: i64 = -1;

const LEVELS: usize = Resource::ALL.len();

/// What a process tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SplitChoice {
    /// A [`SplitType`].
    by: i64,
    /// What guides it: none is negative.
    guide: i64,
    /// The part it belongs to: the first counts, or that of each type of resource if nothing guides.
    colors: [i64; LEVELS],
}

impl SplitChoice {
    fn new(by: SplitType, info: Option<InfoId>) -> Result<SplitChoice> {
        let value = |key| info.map_or(Ok(None), |info| info::value(info, key));
        let (guide, colors) = match by {
            SplitType::Undefined => (NOWHERE, [NOWHERE; LEVELS]),
            SplitType::Shared => (0, [sharing(); LEVELS]),
            SplitType::HardwareUnguided => (0, hardware::locations().map(color)),
            SplitType::HardwareGuided | SplitType::ResourceGuided => {
                let guided = match value(RESOURCE_TYPE)? {
                    Some(name) => by_resource(&name),
                    None if by == SplitType::HardwareGuided => None,
                    None => value(PROCESS_SET)?.and_then(|name| by_set(&name)),
                };
                let (guide, color) = guided.unwrap_or((NOWHERE, NOWHERE));
                (guide, [color; LEVELS])
            }
        };
        let by = by as i64;
        Ok(SplitChoice { by, guide, colors })
    }

    fn words(self) -> [i64; LEVELS + 2] {
        let mut words = [0; LEVELS + 2];
        [words[0], words[1]] = [self.by, self.guide];
        words[2..].copy_from_slice(&self.colors);
        words
    }

    fn of_words(words: [i64; LEVELS + 2]) -> SplitChoice {
        let [by, guide, colors @ ..] = words;
        SplitChoice { by, guide, colors }
    }
}

/// The processes with which this one shares memory, as a colour.
fn sharing() -> i64 {
    i64::from(job().hosts.of(rank()))
}

/// An instance of a type of resource on this host, as a colour.
fn color(place: Location) -> i64 {
    match place {
        Location::Restricted(instance) => i64::from(host()) << 32 | i64::from(instance),
        Location::Unrestricted | Location::Unknown => NOWHERE,
    }
}

/// The number of what a value of `mpi_hw_resource_type` names, and this process's colour by it.
fn by_resource(name: &CStr) -> Option<(i64, i64)> {
    if name == SHARED_MEMORY {
        return Some((0, sharing()));
    }
    let resource = Resource::named(name)?;
    let level = resource as usize;
    Some((1 + level as i64, color(hardware::locations()[level])))
}

/// Likewise of `mpi_pset_name`. A set is known by its first process.
fn by_set(name: &CStr) -> Option<(i64, i64)> {
    let (number, group) = session::process_set(name)?;
    let first = 1 + LEVELS as i64;
    Some((first + number as i64, i64::from(group.peer(0))))
}

/// By which of their colours those who take part are split, all told; none if there are no parts.
fn level(choices: &[SplitChoice]) -> Result<Option<usize>> {
    let mut taking_part = choices
        .iter()
        .filter(|choice| choice.by != SplitType::Undefined as i64);
    let Some(first) = taking_part.next() else {
        return Ok(None);
    };
    if taking_part.clone().any(|choice| choice.by != first.by) {
        let what = "not the same on all processes";
        return Err(argument(Class::Arg, "split_type", what));
    }
    if first.guide < 0
        || taking_part
            .clone()
            .any(|choice| choice.guide != first.guide)
    {
        return Ok(None);
    }
    if first.by != SplitType::HardwareUnguided as i64 {
        return Ok(Some(0));
    }
    let divides = |&level: &usize| {
        let mut others = taking_part.clone();
        others.any(|choice| choice.colors[level] != first.colors[level])
    };
    Ok((0..LEVELS).find(divides))
}

/// `MPI_Comm_split_type`: no communicator for those in no part. An unguided split tells by what in the info object.
pub fn split_type(
    comm: CommId,
    by: SplitType,
    key: i32,
    info: Option<InfoId>,
) -> Result<Option<CommId>> {
    let hints = hints::from_info(info)?;
    let own = SplitChoice::new(by, info)?;
    let shared = weft_objects::comm::share_unrevoked(comm)?;
    let (_, (choices, level)) = agree_both(&shared, own.words(), |told| {
        let choices = told.iter().copied().map(SplitChoice::of_words);
        let choices: Vec<SplitChoice> = choices.collect();
        let level = level(&choices)?;
        Ok((choices, level))
    })?;
    let Some(level) = level else {
        return Ok(None);
    };
    let made = split_with(comm, part(&choices, own, level), key, hints)?;
    if by == SplitType::HardwareUnguided
        && made.is_some()
        && let Some(info) = info.filter(|&info| info != InfoId::ENV)
    {
        info::set(info, RESOURCE_TYPE, Resource::ALL[level].name())?;
    }
    Ok(made)
}

/// Which of the parts this process is in, by their colours, which are too long for a split.
fn part(choices: &[SplitChoice], own: SplitChoice, level: usize) -> Option<i32> {
    let color = own.colors[level];
    if color < 0 {
        return None;
    }
    let colors: BTreeSet<i64> = choices.iter().map(|choice| choice.colors[level]).collect();
    Some(colors.range(0..color).count() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(by: SplitType, guide: i64, colors: [i64; LEVELS]) -> SplitChoice {
        SplitChoice {
            by: by as i64,
            guide,
            colors,
        }
    }

    #[test]
    fn unguided_goes_by_the_widest_that_divides() {
        let at = |colors| choice(SplitType::HardwareUnguided, 0, colors);
        let out = choice(SplitType::Undefined, NOWHERE, [NOWHERE; LEVELS]);
        let found = |choices: &[SplitChoice]| level(choices).unwrap();
        let (a, b) = (at([0, 0, 0, 0, 0]), at([0, 0, 1, 1, 2]));
        assert_eq!(found(&[a, b, a]), Some(2));
        assert_eq!(found(&[a, a]), None);
        assert_eq!(found(&[a]), None);
        assert_eq!(found(&[out, a, a]), None);
        assert_eq!(found(&[out]), None);
        assert_eq!(found(&[a, at([0, 0, 0, 0, NOWHERE])]), Some(4));
    }

    #[test]
    fn parts_are_numbered_by_colour_whoever_comes_first() {
        let at = |color| choice(SplitType::Shared, 0, [color; LEVELS]);
        let all = [at(7 << 32), at(NOWHERE), at(5), at(7 << 32 | 1), at(5)];
        let parts = all.map(|own| part(&all, own, 0));
        assert_eq!(parts, [Some(1), None, Some(0), Some(2), Some(0)]);
    }

    #[test]
    fn a_guide_is_agreed_on() {
        let by = |by, guide| choice(by, guide, [3; LEVELS]);
        let (guided, set) = (SplitType::HardwareGuided, SplitType::ResourceGuided);
        assert_eq!(level(&[by(guided, 4), by(guided, 4)]).unwrap(), Some(0));
        assert_eq!(level(&[by(guided, 4), by(guided, 5)]).unwrap(), None);
        assert_eq!(level(&[by(guided, NOWHERE)]).unwrap(), None);
        let mixed = level(&[by(guided, 4), by(set, 4)]);
        assert_eq!(mixed.unwrap_err().class, Class::Arg);
        let own = by(guided, 4);
        assert_eq!(SplitChoice::of_words(own.words()), own);
    }
}
