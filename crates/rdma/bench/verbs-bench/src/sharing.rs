//! What sharing each resource costs and saves (Zambre 2018 §V, Figures 5 to 11): from endpoints that share nothing, one
//! resource after the other is shared by 2, 4, … threads.

use serde_json::json;

use crate::counters;
use crate::features::FeatureSet;
use crate::message_rate::BYTES;
use crate::party::Failure;
use crate::pins::Placement;
use crate::rate::Job;
use crate::report::{Panel, Report, Table, millions};
use crate::rounds::{Progress, Series, in_turn};
use crate::settings::Settings;
use crate::standing;
use weft_endpoint::{Layout, Level};

/// The paper's number.
const THREADS: usize = 16;

/// What is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Buffer,
    Context,
    ProtectionDomain,
    MemoryRegion,
    CompletionQueue,
    QueuePair,
}

/// From the highest level of the paper's Figure 4 to the lowest.
const RESOURCES: [Resource; 6] = [
    Resource::Buffer,
    Resource::Context,
    Resource::ProtectionDomain,
    Resource::MemoryRegion,
    Resource::CompletionQueue,
    Resource::QueuePair,
];

/// A line of one of the paper's figures: a set of features, and what is done differently from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Features(FeatureSet),
    /// Buffers one behind the other, so that many are on one cache line: Figure 6.
    PackedWithoutInlining,
    /// Twice as many queue pairs as threads, every second one unused: "All w/o Postlist 2xQPs".
    DoubledWithoutPostlist,
    /// Thread domains of level 2: "All w/o Postlist Sharing 2".
    Level2WithoutPostlist,
}

impl Resource {
    fn name(self) -> &'static str {
        match self {
            Resource::Buffer => "BUF",
            Resource::Context => "CTX",
            Resource::ProtectionDomain => "PD",
            Resource::MemoryRegion => "MR",
            Resource::CompletionQueue => "CQ",
            Resource::QueuePair => "QP",
        }
    }

    fn lines(self) -> Vec<Line> {
        let mut lines: Vec<Line> = FeatureSet::FIGURES.map(Line::Features).into();
        match self {
            Resource::Buffer => lines.push(Line::PackedWithoutInlining),
            Resource::Context => {
                lines.extend([Line::DoubledWithoutPostlist, Line::Level2WithoutPostlist]);
            }
            _ => {}
        }
        lines
    }

    /// `threads` threads, `ways` on one resource. What can only be shared inside of a context is shared in one of all threads, as
    /// the paper's resource counts show.
    fn layout(self, threads: usize, ways: usize) -> Layout {
        let naive = Layout::independent(threads);
        let one_context = Layout {
            context: threads,
            ..naive.clone()
        };
        let one_domain = Layout {
            domain: threads,
            ..one_context.clone()
        };
        match self {
            Resource::Buffer => Layout {
                buffer: ways,
                ..naive
            },
            Resource::Context => Layout {
                context: ways,
                ..naive
            },
            Resource::ProtectionDomain => Layout {
                domain: ways,
                ..one_context
            },
            Resource::MemoryRegion => Layout {
                region: ways,
                ..one_domain
            },
            Resource::CompletionQueue => Layout {
                completions: ways,
                ..one_domain
            },
            // A thread domain promises one thread; a queue pair of several has its lock.
            Resource::QueuePair => Layout {
                completions: ways,
                queue_pair: ways,
                thread_domain: if ways == 1 {
                    one_domain.thread_domain
                } else {
                    None
                },
                ..one_domain
            },
        }
    }
}

impl Line {
    fn name(self) -> String {
        match self {
            Line::Features(set) => set.name().into(),
            Line::PackedWithoutInlining => "w/o inlining, one line".into(),
            Line::DoubledWithoutPostlist => "w/o postlist 2xQPs".into(),
            Line::Level2WithoutPostlist => "w/o postlist sharing 2".into(),
        }
    }

    fn set(self) -> FeatureSet {
        match self {
            Line::Features(set) => set,
            Line::PackedWithoutInlining => FeatureSet::WithoutInlining,
            Line::DoubledWithoutPostlist | Line::Level2WithoutPostlist => {
                FeatureSet::WithoutPostlist
            }
        }
    }

    fn change(self, layout: Layout) -> Layout {
        match self {
            Line::Features(_) => layout,
            Line::PackedWithoutInlining => Layout {
                // Each thread has a buffer of its own; that they stand on one line is what is measured.
                buffer: 1,
                is_packed: true,
                ..layout
            },
            Line::DoubledWithoutPostlist => Layout {
                is_doubled: true,
                ..layout
            },
            Line::Level2WithoutPostlist => Layout {
                thread_domain: Some(Level::Uuar),
                ..layout
            },
        }
    }
}

struct Variant {
    resource: Resource,
    ways: usize,
    line: Line,
    job: Job,
}

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let threads = settings.threads.unwrap_or(THREADS);
    let bytes = settings.bytes.unwrap_or(BYTES);
    let ways = settings.points(&[1, 2, 4, 8, 16]);
    let ways: Vec<usize> = ways
        .into_iter()
        .filter(|w| threads.is_multiple_of(*w))
        .collect();
    if ways.is_empty() {
        return Err(Failure(format!("{threads} threads cannot be divided so")));
    }
    let placement = Placement::of(threads, &settings.processors());
    let mut reports = Vec::new();
    for resource in RESOURCES {
        let variants = variants(settings, resource, threads, &ways, bytes, &placement);
        let name = |v: &Variant| {
            format!(
                "sharing, {} {}-way, {}",
                v.resource.name(),
                v.ways,
                v.line.name()
            )
        };
        let effort = settings.effort;
        let all = in_turn(&variants, effort.rounds, progress, name, |v| {
            standing::measure(&settings.launcher, &settings.device, &v.job, effort.seconds)
        })?;
        let all: Vec<Series> = all.into_iter().map(Series).collect();
        reports.push(part(resource, &ways, &variants, &all));
    }
    let mut report = Report {
        name: "sharing",
        notes: vec![placement.line(), format!("RDMA writes of {bytes} B")],
        tables: Vec::new(),
        panels: Vec::new(),
        points: Vec::new(),
    };
    for part in reports {
        report.tables.extend(part.tables);
        report.panels.extend(part.panels);
        report.points.extend(part.points);
    }
    Ok(report)
}

fn variants(
    settings: &Settings,
    resource: Resource,
    threads: usize,
    ways: &[usize],
    bytes: usize,
    placement: &Placement,
) -> Vec<Variant> {
    let mut variants = Vec::new();
    for &ways in ways {
        for line in resource.lines() {
            let layout = settings.deep(line.change(resource.layout(threads, ways)));
            let job = Job::new(layout, line.set().features(), bytes, placement);
            variants.push(Variant {
                resource,
                ways,
                line,
                job,
            });
        }
    }
    variants
}

/// What belongs to one resource.
fn part(resource: Resource, ways: &[usize], variants: &[Variant], all: &[Series]) -> Report {
    let lines = resource.lines();
    let rows = || ways.iter().zip(all.chunks_exact(lines.len()));
    let name = resource.name();
    let mut rates = Table::new(format!("{name} shared x ways, Mmsg/s"), &["ways"]);
    rates.header.extend(lines.iter().map(|l| l.name()));
    for (ways, series) in rows() {
        let mut row = vec![ways.to_string()];
        row.extend(series.iter().map(|s| millions(s.rate())));
        rates.rows.push(row);
    }
    let mut tables = vec![rates];
    let first: Vec<(String, &Series)> = rows().map(|(w, s)| (w.to_string(), &s[0])).collect();
    tables.extend(counters::resources("ways", &first));
    let without = |l: &Line| *l == Line::Features(FeatureSet::WithoutPostlist);
    let plain = lines.iter().position(without).unwrap_or(0);
    let names = rows().flat_map(|(w, s)| {
        [
            (format!("{w} all"), &s[0]),
            (format!("{w} {}", lines[plain].name()), &s[plain]),
        ]
    });
    tables.extend(counters::doings(
        "ways, features",
        &names.collect::<Vec<_>>(),
    ));
    let curve = |(at, line): (usize, &Line)| {
        let points = rows().map(|(w, s)| (*w as u64, s[at].rate() / 1e6));
        (line.name(), points.collect())
    };
    Report {
        name: "sharing",
        notes: Vec::new(),
        tables,
        panels: vec![Panel {
            title: format!("sharing the {name}"),
            x_label: "threads on one".into(),
            y_label: "messages a second (M)".into(),
            curves: lines.iter().enumerate().map(curve).collect(),
        }],
        points: variants.iter().zip(all).map(|(v, s)| {
            json!({"resource": name, "ways": v.ways, "line": v.line.name(), "threads": v.job.layout.threads,
                   "bytes": v.job.bytes, "depth": v.job.layout.depth, "messages_per_second": s.rate(), "rounds": s})
        }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_can_be_made() {
        for resource in RESOURCES {
            for ways in [1, 2, 4, 8, 16] {
                for line in resource.lines() {
                    let layout = line.change(resource.layout(16, ways));
                    layout
                        .check()
                        .unwrap_or_else(|e| panic!("{resource:?} {ways} {line:?}: {e}"));
                }
            }
        }
    }

    #[test]
    fn unshared_queue_pairs_are_the_naive_ones_and_shared_ones_have_a_lock() {
        assert_eq!(
            Resource::QueuePair.layout(16, 1).thread_domain,
            Some(Level::Page)
        );
        assert_eq!(Resource::QueuePair.layout(16, 2).thread_domain, None);
        assert_eq!(Resource::Context.layout(16, 1), Layout::independent(16));
        assert_eq!(Resource::Buffer.layout(16, 1), Layout::independent(16));
    }
}
