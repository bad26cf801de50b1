//! Whether a collective access goes by two phases, and by which processes (MPI-5.0 §14.4.1: collective calls may cooperate).

use std::ops::Range;

use weft_error::Result;
use weft_error::told::Reader;
use weft_file::{Domains, GAP_BYTES, View};
use weft_objects::comm::Comm;

use super::form::Direction;
use super::hints::{Settings, Switch};

/// Aggregators on each host where no hint says how many in all.
const PER_HOST: usize = 4;
/// Runs shorter than this are worth a message.
const SHORT_BYTES: usize = 64 << 10;
/// So many processes of one host read for themselves what lies so near together that gaps are read along: bytes that are in the host's
/// memory come faster from there several times than by a message once.
const FEW_READERS: usize = 4;

/// What a process tells the others of its access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub positions: Range<u64>,
    hull: Range<u64>,
    is_scattered: bool,
    /// Gaps are such as are read along.
    is_near: bool,
    /// Whether offsets grow with these positions, as two phases need it.
    is_in_order: bool,
}

impl Told {
    pub const WORDS: usize = 7;

    pub fn words(view: &View, positions: &Range<u64>, hull: &Range<u64>) -> [i64; Told::WORDS] {
        let tiling = view.tiling();
        let in_order = view.in_order(positions);
        let is_near =
            |(view, _): &(View, Range<u64>)| view.largest_gap().is_some_and(|gap| gap <= GAP_BYTES);
        let runs = if tiling.is_dense() { 1 } else { tiling.runs() };
        let is_scattered = !tiling.is_dense() && tiling.size() / runs.max(1) < SHORT_BYTES;
        [
            positions.start as i64,
            positions.end as i64,
            hull.start as i64,
            hull.end as i64,
            is_scattered.into(),
            in_order.as_ref().is_some_and(is_near).into(),
            in_order.is_some().into(),
        ]
    }

    fn read(mut words: Reader<'_>) -> Result<Told> {
        Ok(Told {
            positions: words.range("range of positions")?,
            hull: words.range("range of a file")?,
            is_scattered: words.next("shape of a view")? != 0,
            is_near: words.next("shape of a view")? != 0,
            is_in_order: words.next("shape of a view")? != 0,
        })
    }

    /// What all processes told.
    pub fn all(words: &[[i64; Told::WORDS]]) -> Result<Vec<Told>> {
        Reader::of_all(words).map(Told::read).collect()
    }
}

/// The processes that read and write for the others, by number: those of each host in turn.
pub(super) fn aggregators(comm: &Comm, settings: &Settings) -> Vec<usize> {
    let size = comm.size() as usize;
    let Some(hosts) = comm.hosts() else {
        let count = settings.aggregators.unwrap_or(PER_HOST).min(size);
        return (0..count).collect();
    };
    let in_turn = (0..hosts.most_ranks()).flat_map(|position| {
        let there = (0..hosts.count()).filter(move |&host| position < hosts.ranks_on(host));
        there.map(move |host| hosts.rank_at(host, position))
    });
    let most = match settings.aggregators {
        Some(count) => count.min(size),
        None => (0..hosts.count())
            .map(|host| hosts.ranks_on(host).min(PER_HOST))
            .sum(),
    };
    in_turn.take(most).collect()
}

/// The domains of an access by two phases; none if each process goes by itself. The same on all processes.
pub(super) fn domains(
    told: &[Told],
    settings: &Settings,
    direction: Direction,
    aggregators: usize,
    one_host: bool,
) -> Option<Domains> {
    let mut hulls: Vec<&Range<u64>> = told
        .iter()
        .map(|told| &told.hull)
        .filter(|hull| !hull.is_empty())
        .collect();
    hulls.sort_by_key(|hull| hull.start);
    let together = match settings.of(direction) {
        Switch::Enable => told.len() > 1,
        Switch::Disable => false,
        Switch::Automatic => {
            let meet = hulls.windows(2).any(|pair| pair[0].end > pair[1].start);
            let few = one_host && told.len() <= FEW_READERS;
            let alone = direction == Direction::Read && few && told.iter().all(|told| told.is_near);
            meet && !alone && told.iter().any(|told| told.is_scattered)
        }
    };
    let start = hulls.first()?.start;
    let end = hulls.iter().map(|hull| hull.end).max()?;
    let (window, unit) = (settings.window_bytes, settings.unit_bytes);
    let together = together && told.iter().all(|told| told.is_in_order);
    together.then(|| Domains::new(start..end, aggregators, window, unit))
}
