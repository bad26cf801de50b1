//! The six categories beside each other (Zambre 2018 §VI and the slides' table): rates, and resources in per cent of MPI
//! everywhere.

use std::cell::RefCell;

use serde::Serialize;
use serde_json::json;

use crate::counters::{self, Column};
use crate::features::FeatureSet;
use crate::message_rate::BYTES;
use crate::party::Failure;
use crate::pins::Placement;
use crate::rate::Job;
use crate::report::{Panel, Report, Table, digits, millions, percent};
use crate::rounds::{Progress, Series, in_turn};
use crate::settings::Settings;
use crate::standing::Standing;
use crate::statistics::{median, median_interval};
use weft_endpoint::Category;

/// With all features, and as the paper's applications post.
const SETS: [FeatureSet; 2] = [FeatureSet::All, FeatureSet::Conservative];
/// Variants with the same number of threads.
const A_ROW: usize = Category::ALL.len() * SETS.len();

struct Variant {
    threads: usize,
    category: Category,
    set: FeatureSet,
    job: Job,
}

/// Seconds of a turn. Turns are short and many, so that what the machine does meanwhile falls on all categories alike, and
/// each turn is compared with MPI everywhere's next to it.
const TURN_SECONDS: f64 = 0.02;

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let threads = settings.points(&[1, 2, 4, 8, 16]);
    let bytes = settings.bytes.unwrap_or(BYTES);
    let mut variants = Vec::new();
    for &threads in &threads {
        let placement = Placement::of(threads, &settings.processors());
        for category in Category::ALL {
            for set in SETS {
                let layout = settings.deep(category.layout(threads));
                let job = Job::new(layout, set.features(), bytes, &placement);
                variants.push(Variant {
                    threads,
                    category,
                    set,
                    job,
                });
            }
        }
    }
    let mut all = Vec::new();
    for alike in variants.chunks(A_ROW) {
        all.extend(beside_each_other(settings, alike, progress)?);
    }
    Ok(report(&threads, &variants, &all, bytes))
}

/// Measures variants in processes that stand beside each other and have their turns until all rounds are done.
fn beside_each_other(
    settings: &Settings,
    variants: &[Variant],
    progress: &mut Progress,
) -> Result<Vec<Series>, Failure> {
    let effort = settings.effort;
    let turns = ((effort.seconds / TURN_SECONDS).round() as usize).max(1);
    let seconds = effort.seconds / turns as f64;
    let mut all = vec![Vec::new(); variants.len()];
    for round in 0..effort.rounds {
        let start = |v: &Variant| {
            let standing = Standing::start(&settings.launcher, &settings.device, &v.job, seconds);
            standing.map(RefCell::new)
        };
        let standing: Vec<_> = variants.iter().map(start).collect::<Result<_, _>>()?;
        let pairs: Vec<_> = variants.iter().zip(&standing).collect();
        let name = |(v, _): &(&Variant, _)| {
            format!(
                "categories ({} of {}), {} threads, {}, {}",
                round + 1,
                effort.rounds,
                v.threads,
                v.category.name(),
                v.set.name()
            )
        };
        let samples = in_turn(&pairs, turns, progress, name, |(_, standing)| {
            standing.borrow_mut().run(seconds)
        })?;
        for (all, samples) in all.iter_mut().zip(samples) {
            all.extend(samples);
        }
        for standing in standing {
            standing.into_inner().finish()?;
        }
    }
    Ok(all.into_iter().map(Series).collect())
}

fn report(threads: &[usize], variants: &[Variant], all: &[Series], bytes: usize) -> Report {
    let rows = || threads.iter().zip(all.chunks_exact(A_ROW));
    let mut tables = Vec::new();
    for (&threads, series) in rows() {
        tables.push(rates(threads, series, bytes));
        tables.extend(usage(threads, series));
        let names = Category::ALL.iter().zip(series.chunks_exact(SETS.len()));
        let names = names.flat_map(|(category, both)| {
            let named = SETS.iter().zip(both);
            named.map(|(set, s)| (format!("{} {}", category.name(), set.name()), s))
        });
        tables.extend(counters::doings(
            "category, features",
            &names.collect::<Vec<_>>(),
        ));
    }
    let panel = |(at, set): (usize, &FeatureSet)| {
        let curve = |(which, category): (usize, &Category)| {
            let points = rows().map(|(t, s)| (*t as u64, s[which * SETS.len() + at].rate() / 1e6));
            (category.name().to_string(), points.collect())
        };
        Panel {
            title: format!("categories, {}", set.name()),
            x_label: "threads".into(),
            y_label: "messages a second (M)".into(),
            curves: Category::ALL.iter().enumerate().map(curve).collect(),
        }
    };
    Report {
        name: "categories",
        notes: counters::placements(variants.iter().map(|v| &v.job.placement)),
        tables,
        panels: SETS.iter().enumerate().map(panel).collect(),
        points: variants.iter().zip(all).enumerate().map(|(at, (v, s))| {
            let everywhere = &all[at - at % A_ROW + at % SETS.len()];
            json!({"category": v.category.name(), "features": v.set.name(), "threads": v.threads, "bytes": bytes,
                   "depth": v.job.layout.depth, "messages_per_second": s.rate(),
                   "percent_of_mpi_everywhere": Share::of(s, everywhere),
                   "pinned": v.job.placement.is_pinned(), "rounds": s})
        }).collect(),
    }
}

fn rates(threads: usize, series: &[Series], bytes: usize) -> Table {
    let title = format!(
        "{threads} threads, RDMA writes of {bytes} B: Mmsg/s; per cent of MPI everywhere, the median of all turns and where it lies \
         with 95 % confidence"
    );
    let mut table = Table::new(title, &["category"]);
    for set in SETS {
        let columns = [set.name(), "%", "95 %"];
        table.header.extend(columns.map(String::from));
    }
    let mut both = series.chunks_exact(SETS.len());
    let Some(everywhere) = both.next() else {
        return table;
    };
    for (category, both) in Category::ALL.iter().zip(series.chunks_exact(SETS.len())) {
        let mut row = vec![category.name().to_string()];
        for (series, base) in both.iter().zip(everywhere) {
            row.push(millions(series.rate()));
            let share = Share::of(series, base);
            row.push(digits(share.median));
            row.push(share.interval.map_or("-".into(), |(low, high)| {
                format!("{} to {}", digits(low), digits(high))
            }));
        }
        table.rows.push(row);
    }
    table
}

/// A category's rate in per cent of MPI everywhere's, turn by turn.
#[derive(Serialize)]
struct Share {
    median: f64,
    /// Where it lies with 95 % confidence; none if there were too few turns to tell.
    interval: Option<(f64, f64)>,
}

impl Share {
    fn of(series: &Series, everywhere: &Series) -> Share {
        let turns = series.0.iter().zip(&everywhere.0);
        let ratios: Vec<f64> = turns.map(|(s, e)| 100.0 * s.rate() / e.rate()).collect();
        Share {
            median: median(ratios.iter().copied()).unwrap_or(f64::NAN),
            interval: median_interval(ratios),
        }
    }
}

const COLUMNS: [Column; 6] = [
    ("UARs", |r| r.uars),
    ("uUARs", |r| r.uuars),
    ("used", |r| r.used_uuars),
    ("QPs", |r| r.qps),
    ("CQs", |r| r.cqs),
    ("memory KiB", |r| r.bytes / 1024),
];

/// As the slides' table: each in per cent of the first category.
fn usage(threads: usize, series: &[Series]) -> Option<Table> {
    let title = format!("{threads} threads, resources and per cent of MPI everywhere");
    let mut table = Table::new(title, &["category"]);
    for (name, _) in COLUMNS {
        table.header.extend([name.to_string(), "%".into()]);
    }
    let base = series.first()?.resources()?;
    for (category, both) in Category::ALL.iter().zip(series.chunks_exact(SETS.len())) {
        let found = both[0].resources()?;
        let mut row = vec![category.name().to_string()];
        for (_, of) in COLUMNS {
            row.push(of(&found).to_string());
            let share = percent(of(&found) as f64, of(&base) as f64);
            row.push(share.trim_end_matches(" %").to_string());
        }
        table.rows.push(row);
    }
    Some(table)
}
