//! How message rates grow with threads that share nothing, with each feature and without (Zambre 2018 §IV, Figure 3).

use serde_json::json;

use crate::counters;
use crate::features::FeatureSet;
use crate::party::Failure;
use crate::pins::Placement;
use crate::rate::Job;
use crate::report::{Panel, Report, Table, millions};
use crate::rounds::{Progress, Series, in_turn};
use crate::settings::Settings;
use crate::standing;
use weft_endpoint::Layout;

pub const BYTES: usize = 2;

struct Variant {
    threads: usize,
    set: FeatureSet,
    job: Job,
}

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let threads = settings.points(&[1, 2, 4, 8, 16]);
    let bytes = settings.bytes.unwrap_or(BYTES);
    let mut variants = Vec::new();
    for &threads in &threads {
        let placement = Placement::of(threads, &settings.processors());
        let layout = settings.deep(Layout::independent(threads));
        for set in FeatureSet::FIGURES {
            let job = Job::new(layout.clone(), set.features(), bytes, &placement);
            variants.push(Variant { threads, set, job });
        }
    }
    let effort = settings.effort;
    let name = |v: &Variant| format!("message-rate, {} threads, {}", v.threads, v.set.name());
    let all = in_turn(&variants, effort.rounds, progress, name, |v| {
        standing::measure(&settings.launcher, &settings.device, &v.job, effort.seconds)
    })?;
    let all: Vec<Series> = all.into_iter().map(Series).collect();
    Ok(report(&threads, &variants, &all, bytes))
}

fn report(threads: &[usize], variants: &[Variant], all: &[Series], bytes: usize) -> Report {
    let sets = FeatureSet::FIGURES;
    let rows = || threads.iter().zip(all.chunks_exact(sets.len()));
    let title = format!(
        "RDMA writes of {bytes} B, a queue pair, completion queue and context for each thread, Mmsg/s"
    );
    let mut rates = Table::new(title, &["threads"]);
    rates
        .header
        .extend(sets.iter().map(|s| s.name().to_string()));
    for (threads, series) in rows() {
        let mut row = vec![threads.to_string()];
        row.extend(series.iter().map(|s| millions(s.rate())));
        rates.rows.push(row);
    }
    let named: Vec<(String, &Series)> = rows().map(|(t, s)| (t.to_string(), &s[0])).collect();
    let mut tables = vec![rates];
    tables.extend(counters::resources("threads", &named));
    let named = variants.iter().zip(all);
    let named: Vec<(String, &Series)> = named
        .map(|(v, s)| (format!("{} {}", v.threads, v.set.name()), s))
        .collect();
    tables.extend(counters::doings("threads, features", &named));
    let curve = |(at, set): (usize, &FeatureSet)| {
        let points = rows().map(|(t, s)| (*t as u64, s[at].rate() / 1e6));
        (set.name().to_string(), points.collect())
    };
    Report {
        name: "message-rate",
        notes: counters::placements(variants.iter().map(|v| &v.job.placement)),
        tables,
        panels: vec![Panel {
            title: format!("message rate, RDMA writes of {bytes} B"),
            x_label: "threads".into(),
            y_label: "messages a second (M)".into(),
            curves: sets.iter().enumerate().map(curve).collect(),
        }],
        points: variants.iter().zip(all).map(|(v, s)| {
            json!({"threads": v.threads, "features": v.set.name(), "bytes": bytes, "depth": v.job.layout.depth,
                   "messages_per_second": s.rate(), "pinned": v.job.placement.is_pinned(), "rounds": s})
        }).collect(),
    }
}
