//! The six categories beside each other (Zambre 2018 §VI and the slides' table): rates, and resources in per cent of MPI
//! everywhere.

use serde_json::json;

use crate::catalog::Settings;
use crate::counters::{self, Column};
use crate::features::FeatureSet;
use crate::message_rate::BYTES;
use crate::party::Failure;
use crate::pins::Placement;
use crate::rate::{self, Job};
use crate::report::{Panel, Report, Table, digits, millions, percent};
use crate::rounds::{Progress, Series, in_turn};
use weft_endpoint::Category;

/// With all features, and as the paper's applications post.
const SETS: [FeatureSet; 2] = [FeatureSet::All, FeatureSet::Conservative];

struct Variant {
    threads: usize,
    category: Category,
    set: FeatureSet,
    job: Job,
}

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
    let name = |v: &Variant| {
        format!(
            "categories, {} threads, {}, {}",
            v.threads,
            v.category.name(),
            v.set.name()
        )
    };
    let effort = settings.effort;
    let all = in_turn(&variants, effort.rounds, progress, name, |v| {
        rate::measure(&settings.launcher, &settings.device, &v.job, effort.seconds)
    })?;
    let all: Vec<Series> = all.into_iter().map(Series).collect();
    Ok(report(&threads, &variants, &all, bytes))
}

fn report(threads: &[usize], variants: &[Variant], all: &[Series], bytes: usize) -> Report {
    let a_row = Category::ALL.len() * SETS.len();
    let rows = || threads.iter().zip(all.chunks_exact(a_row));
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
        points: variants.iter().zip(all).map(|(v, s)| {
            json!({"category": v.category.name(), "features": v.set.name(), "threads": v.threads, "bytes": bytes,
                   "depth": v.job.layout.depth, "messages_per_second": s.rate(),
                   "pinned": v.job.placement.is_pinned(), "rounds": s})
        }).collect(),
    }
}

fn rates(threads: usize, series: &[Series], bytes: usize) -> Table {
    let title = format!(
        "{threads} threads, RDMA writes of {bytes} B, Mmsg/s and per cent of MPI everywhere"
    );
    let mut table = Table::new(title, &["category"]);
    for set in SETS {
        table.header.extend([set.name().to_string(), "%".into()]);
    }
    let each = || series.chunks_exact(SETS.len());
    for (category, both) in Category::ALL.iter().zip(each()) {
        let mut row = vec![category.name().to_string()];
        for (at, series) in both.iter().enumerate() {
            row.push(millions(series.rate()));
            row.push(digits(100.0 * series.rate() / self::first(&each, at)));
        }
        table.rows.push(row);
    }
    table
}

/// MPI everywhere's rate with the features of index `at`.
fn first<'a>(each: &impl Fn() -> std::slice::ChunksExact<'a, Series>, at: usize) -> f64 {
    each().next().map_or(f64::NAN, |both| both[at].rate())
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
