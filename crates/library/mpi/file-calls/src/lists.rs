//! Views that are long lists, in an access by two phases: each process sends each aggregator the part of its view that lies in that one's
//! domain. Other views travel whole, when they are set.

use std::ops::Range;

use weft_collective_calls::Peers;
use weft_collective_calls::lists::Exchange;
use weft_error::Error;
use weft_error::told::Teller;
use weft_file::{Cursor, Domains, View};

use super::aggregation::Told;
use super::kept::{Exchanged, Part};
use super::seen::Seen;

pub(super) struct Lists<'a, 'p> {
    pub seen: &'a Seen,
    pub part: (&'a View, &'a Range<u64>),
    pub told: &'a [Told],
    pub aggregators: &'a [usize],
    pub domains: &'a Domains,
    pub peers: &'a Peers<'p>,
    pub tag: u32,
}

impl Lists<'_, '_> {
    /// The parts that this process works on as an aggregator: those kept since the last access if that was the same, else exchanged now.
    /// Only an access that `keeps` its parts looks for kept ones. And the first error.
    pub async fn learn(&self, rank: usize, keeps: bool) -> (Exchanged, Option<Error>) {
        let of_all = &self.seen.of_all;
        let keeps = keeps && of_all.some_are_listed;
        if let Some(kept) = keeps.then(|| of_all.kept.take(self.told)).flatten() {
            return (kept, None);
        }
        let (parts, failed) = self.exchange(rank).await;
        let told = self.told.to_vec();
        (Exchanged { told, parts }, failed)
    }

    /// Sends each aggregator its part, if this process's view is a list; receives the others' parts, if this process is an aggregator. Those
    /// parts by rank, none of ranks whose views are no lists; and the first error.
    async fn exchange(&self, rank: usize) -> (Vec<Option<Part>>, Option<Error>) {
        let packed = match self.seen.of_all.is_listed {
            true => self.packed(),
            false => Vec::new(),
        };
        let serves = self.aggregators.contains(&rank);
        let is_listed = |&rank: &usize| serves && self.seen.view_of(rank).is_none();
        let listed: Vec<usize> = (0..self.told.len()).filter(is_listed).collect();
        let most = |rank: usize| {
            let positions = &self.told[rank].positions;
            let most = View::most_packed_bytes(positions.end - positions.start);
            usize::try_from(most).unwrap_or(usize::MAX)
        };
        let lists = Exchange {
            out: self
                .aggregators
                .iter()
                .copied()
                .zip(packed.iter().map(|list| &list[..]))
                .collect(),
            from: listed.clone(),
            most: &most,
        };
        let (lists, outcome) = lists.run(self.peers, self.tag).await;
        let mut failed = outcome.err();
        let mut parts: Vec<Option<Part>> = self.told.iter().map(|_| None).collect();
        for (rank, list) in listed
            .into_iter()
            .zip(lists)
            .filter(|(_, list)| !list.is_empty())
        {
            parts[rank] = View::unpack(&list);
            if parts[rank].is_none() {
                let told = format_args!("{} bytes", list.len());
                failed.get_or_insert_with(|| Teller::Rank(rank).told(told, "part of a view"));
            }
        }
        (parts, failed)
    }

    /// What each aggregator needs.
    fn packed(&self) -> Vec<Vec<u8>> {
        let (view, positions) = self.part;
        let of = |number: usize| {
            let domain = self.domains.domain(number);
            let there = Cursor::new(view, positions, &domain).take(domain.end);
            match there.is_empty() {
                true => Vec::new(),
                false => view.pack(&there),
            }
        };
        (0..self.aggregators.len()).map(of).collect()
    }
}
