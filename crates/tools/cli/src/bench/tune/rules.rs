//! The rules that follow from figures, as the file `select/measured.rs` of the collective operations has them.

use std::fmt::Write;

use weft_collective::{CHOICES, Choice};

use super::figures::{Figures, Operation};
use super::layout::HostsLayout;

/// An algorithm takes the place of the one that was the fastest at the point before where that takes so much longer: medians of a few rounds on
/// virtual machines differ by a twentieth or so from run to run.
const SLOWER: f64 = 1.1;

/// Figures, with how the ranks were placed for them.
pub type OnHosts = (HostsLayout, Figures);

/// The file: `said`, lines of comment, tells by what the figures came about.
pub fn file(measured: &[OnHosts], points: &[u64], said: &str) -> String {
    let mut text = format!(
        "//! Rules as measured. Written by `weft bench collectives --tune --rules FILE` and `make tune`: do not edit.\n//!\n{said}\n\
         #[allow(\n    unused_imports,\n    reason = \"what rules are written with, be there any or not\"\n)]\n\
         use super::rules::{{ANY, Cores, HostsRule, KIB, Rule, hosts_rule, measured, rule}};\n\nmeasured! {{\n"
    );
    for choice in &CHOICES {
        let (on_cores, on_hosts) = rules_of(choice, measured, points)
            .into_iter()
            .partition::<Vec<_>, _>(|(layout, _)| layout.is_one_host());
        let _ = writeln!(text, "    {} {{", choice.operation);
        for (_, rule) in on_cores {
            let _ = writeln!(text, "        {rule}");
        }
        text.push_str("    } hosts {\n");
        for (_, rule) in on_hosts {
            let _ = writeln!(text, "        {rule}");
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

/// An operation's rules: those for fewer hosts, and ranks, first, as the first that admits a call wins.
fn rules_of(choice: &Choice, measured: &[OnHosts], points: &[u64]) -> Vec<(HostsLayout, String)> {
    let mut measured: Vec<&OnHosts> = measured.iter().collect();
    measured.sort_by_key(|(layout, _)| *layout);
    let mut rules = Vec::new();
    for (layout, figures) in measured {
        let is_it = |one: &&Operation| one.name.replace('-', "_") == choice.operation;
        if let Some(operation) = figures.operations.iter().find(is_it) {
            let all = Ranges::new(choice, operation, *layout).rules(points);
            rules.extend(all.into_iter().map(|rule| (*layout, rule)));
        }
    }
    rules
}

/// What is fastest among ranks as they were placed, and among any on as many hosts.
type Fastest<'a> = [Option<&'a str>; 2];

struct Ranges<'a> {
    choice: &'a Choice,
    operation: &'a Operation,
    layout: HostsLayout,
    /// How rules name the algorithms that can run, with their names: among ranks as they were placed, and among any.
    candidates: [Vec<(String, String)>; 2],
}

impl Ranges<'_> {
    fn new<'a>(choice: &'a Choice, operation: &'a Operation, layout: HostsLayout) -> Ranges<'a> {
        let names = choice.algorithms();
        let candidates = [layout.measured(), layout.poorest()].map(|(placement, sharing)| {
            let rules = choice.rules_on(placement, sharing).into_iter();
            let named = rules.map(|(number, rule)| (rule, names[number].clone()));
            named.collect()
        });
        Ranges {
            choice,
            operation,
            layout,
            candidates,
        }
    }

    /// The candidate that is fastest at a point, if it is so by more than a little; else the one of the point before.
    fn fastest_at<'a>(
        &self,
        point: usize,
        candidates: &'a [(String, String)],
        before: Option<&'a str>,
    ) -> Option<&'a str> {
        let figures = candidates.iter().filter_map(|(rule, name)| {
            let mut all = self.operation.algorithms.iter();
            let figure = all.find(|one| one.name == *name)?.value(point)?;
            Some((rule.as_str(), figure))
        });
        let figures: Vec<(&str, f64)> = figures.collect();
        let fastest = figures.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let stays = figures.iter().find(|(rule, _)| Some(*rule) == before);
        let stays = stays.filter(|(_, figure)| *figure <= fastest.1 * SLOWER);
        Some(stays.unwrap_or(fastest).0)
    }

    /// The last point up to which the same are fastest, and these; ranges in order, without points at which nothing was measured.
    fn ranges(&self, points: &[u64]) -> Vec<(usize, Fastest<'_>)> {
        let mut ranges: Vec<(usize, Fastest)> = Vec::new();
        for point in 0..points.len() {
            let before = ranges.last().map_or([None; 2], |(_, fastest)| *fastest);
            let fastest =
                [0, 1].map(|which| self.fastest_at(point, &self.candidates[which], before[which]));
            if fastest == [None; 2] {
                continue;
            }
            match ranges.last_mut() {
                Some(last) if last.1 == fastest => last.0 = point,
                _ => ranges.push((point, fastest)),
            }
        }
        ranges
    }

    fn rules(&self, points: &[u64]) -> Vec<String> {
        let ranges = self.ranges(points);
        let mut rules = Vec::new();
        for (index, (last, [placed, scattered])) in ranges.iter().enumerate() {
            let bytes = match index + 1 < ranges.len() {
                true => Some(self.between(points[*last], points[last + 1])),
                false => None,
            };
            let others = scattered.filter(|other| Some(*other) != *placed);
            for algorithm in [*placed, others].into_iter().flatten() {
                let HostsLayout {
                    hosts,
                    ranks_a_host,
                } = self.layout;
                let bytes = bytes.map_or("ANY".into(), in_source);
                // On one host all are among ranks that are alike, and named so.
                let alike = algorithm
                    .strip_prefix("Flat(")
                    .and_then(|rest| rest.strip_suffix(')'));
                rules.push(match alike.filter(|_| self.layout.is_one_host()) {
                    Some(alike) => format!("{ranks_a_host}, {bytes} => {alike};"),
                    None => format!("{hosts}, {ranks_a_host}, {bytes} => {algorithm};"),
                });
            }
        }
        rules
    }

    /// Where a range ends: half way between two points by their ratio, at a power of two. Points are bytes of a block; a table
    /// goes by those of the whole vector where one is scattered.
    fn between(&self, last: u64, next: u64) -> u64 {
        let middle = ((last as f64) * (next as f64)).sqrt() as u64;
        let power = 1 << middle.max(1).ilog2();
        match self.choice.operation {
            "reduce_scatter" => power * self.layout.ranks() as u64,
            _ => power,
        }
    }
}

fn in_source(bytes: u64) -> String {
    match bytes {
        1024 => "KIB".into(),
        bytes if bytes >= 1024 && bytes.is_multiple_of(1024) => format!("{} * KIB", bytes / 1024),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::printed::Printed;
    use super::*;

    const POINTS: [u64; 4] = [8, 512, 32 << 10, 1 << 20];

    /// Figures of one operation: of each algorithm those at the points.
    fn figures(operation: &str, all: &[(&str, [f64; 4])]) -> Figures {
        let mut figures = Figures::default();
        for (name, values) in all {
            for (point, value) in POINTS.iter().zip(values) {
                figures.add(&POINTS, &format!("{operation}/{name}"), *point, *value);
            }
        }
        figures
    }

    fn rules(operation: &str, measured: &[OnHosts]) -> Vec<String> {
        let mut choices = CHOICES.iter();
        let choice = choices
            .find(|choice| choice.operation == operation)
            .unwrap();
        let rules = rules_of(choice, measured, &POINTS).into_iter();
        rules.map(|(_, rule)| rule).collect()
    }

    #[test]
    fn each_range_has_a_rule_and_one_for_hosts_with_unlike_numbers_of_ranks() {
        let all = [
            ("table", [0.1, 0.1, 0.1, 0.1]),
            ("linear", [9.0, 9.0, 9.0, 5.0]),
            // It measures something else among ranks that share no memory.
            ("shared", [0.1, 0.1, 0.1, 0.1]),
            ("hierarchical", [1.0, 2.0, 4.0, 8.0]),
            ("hierarchical_split", [2.0, 1.0, 3.0, 9.0]),
        ];
        let layout = "4x2".parse().unwrap();
        let found = rules("alltoall", &[(layout, figures("alltoall", &all))]);
        let wanted = [
            "4, 2, 64 => Hierarchical;",
            "4, 2, 128 * KIB => HierarchicalSplit;",
            "4, 2, 128 * KIB => Hierarchical;",
            "4, 2, ANY => Flat(Linear);",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_range_on_one_host_has_a_second_rule_where_the_fastest_copies_from_others() {
        let all = [
            ("linear", [9.0, 9.0, 9.0, 5.0]),
            ("direct", [9.0, 9.0, 1.0, 1.0]),
            ("shared", [1.0, 1.0, 2.0, 9.0]),
            // It cannot run there.
            ("hierarchical", [0.1, 0.1, 0.1, 0.1]),
        ];
        let layout = "1x8".parse().unwrap();
        let found = rules("alltoall", &[(layout, figures("alltoall", &all))]);
        let wanted = [
            "8, 4 * KIB => Shared;",
            "8, 128 * KIB => Direct;",
            "8, 128 * KIB => Shared;",
            "8, ANY => Direct;",
            "8, ANY => Linear;",
        ];
        assert_eq!(found, wanted);
    }

    /// The figures of a machine with 16 cores lead to the rules that the library has.
    #[test]
    fn the_rules_are_what_was_measured() {
        const TABLES: [&str; 3] = [
            include_str!("../../../../../../docs/results/by-algorithm/16-cores-4-ranks.txt"),
            include_str!("../../../../../../docs/results/by-algorithm/16-cores-8-ranks.txt"),
            include_str!("../../../../../../docs/results/by-algorithm/16-cores-16-ranks.txt"),
        ];
        let rules =
            include_str!("../../../../../library/protocols/collective/src/select/measured.rs");
        let printed = Printed::read(&TABLES).unwrap();
        assert_eq!(printed.rules(), rules);
    }

    #[test]
    fn what_is_faster_by_a_little_takes_no_place() {
        let all = [
            ("hierarchical", [1.0, 1.04, 1.04, 2.0]),
            ("hierarchical_streams", [2.0, 1.0, 1.0, 1.0]),
        ];
        let layout = "2x2".parse().unwrap();
        let found = rules("bcast", &[(layout, figures("bcast", &all))]);
        let wanted = [
            "2, 2, 128 * KIB => Hierarchical;",
            "2, 2, ANY => HierarchicalStreams;",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn vectors_that_are_scattered_count_whole_and_fewer_hosts_come_first() {
        let all = [
            ("hierarchical", [1.0, 1.0, 3.0, 3.0]),
            ("hierarchical_split", [2.0, 2.0, 2.0, 2.0]),
        ];
        let of = |layout: &str| (layout.parse().unwrap(), figures("reduce-scatter", &all));
        let found = rules("reduce_scatter", &[of("4x2"), of("2x2")]);
        let wanted = [
            "2, 2, 16 * KIB => Hierarchical;",
            "2, 2, ANY => HierarchicalSplit;",
            "4, 2, 32 * KIB => Hierarchical;",
            "4, 2, ANY => HierarchicalSplit;",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_file_names_every_operation_and_is_the_same_for_the_same_figures() {
        let one = || {
            let all = [("hierarchical", [1.0; 4])];
            let measured = ("2x2".parse().unwrap(), figures("barrier", &all));
            file(&[measured], &POINTS, "Tried.")
        };
        let text = one();
        assert!(text.contains(
            "    barrier {\n    } hosts {\n        2, 2, ANY => Hierarchical;\n    }\n    bcast {\n    } hosts {\n    }\n"
        ));
        let named = |choice: &Choice| text.contains(&format!("\n    {} {{\n", choice.operation));
        assert!(CHOICES.iter().all(named));
        assert_eq!(text, one());
    }
}
