//! A distributed matrix product (Zambre 2018 §VII, "Global array benchmark"): A, B and C stand at a server; the client's threads
//! fetch tiles of A and B by RDMA reads, a row of a tile in each, multiply, and write tiles of C back.
//!
//! Each thread has a buffer and a region for each of the three tiles. Messages are posted one by one, each with its completion.
//! Rates are those of fetching and of writing alone; then the product is done once and compared, to the last bit, with one that the
//! server computes by itself.

mod client;
pub mod job;
mod server;

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

pub use client::play as play_client;
pub use server::play as play_server;

use job::{Ask, ClientJob, ELEMENT, Phase, Product, Tally};

use crate::account::Counters;
use crate::counters::{self, Column};
use crate::device::Choice;
use crate::part::{self, Part};
use crate::party::{Failure, Launcher};
use crate::pins::Placement;
use crate::report::{Panel, Report, Table, digits, millions, percent};
use crate::rounds::{Progress, Sample, Series, in_turn};
use crate::settings::Settings;
use weft_endpoint::{Card, Category, Layout};

/// One round of one category.
#[derive(Clone, Debug, Default, Serialize)]
struct Round {
    reads: Sample,
    writes: Sample,
    /// Of the whole product.
    seconds: f64,
}

struct Variant {
    category: Category,
    threads: usize,
    job: ClientJob,
}

const ORDER: usize = 256;
const TILE: usize = 16;
const THREADS: &[usize] = &[16];

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let product = Product {
        order: settings.order.unwrap_or(ORDER),
        tile: settings.tile.unwrap_or(TILE),
    };
    if product.tile == 0 || !product.order.is_multiple_of(product.tile) || product.order == 0 {
        let (order, tile) = (product.order, product.tile);
        return Err(Failure(format!(
            "{order} rows cannot be divided into tiles of {tile}"
        )));
    }
    let mut variants = Vec::new();
    for threads in settings.points(THREADS) {
        let placement = Placement::of(threads, &settings.processors());
        for category in Category::ALL {
            let layout = settings.deep(category.layout(threads));
            let job = ClientJob {
                product,
                layout: Layout {
                    buffers_each: 3,
                    buffer_bytes: product.tile * product.tile * ELEMENT,
                    completion_depth: layout.depth,
                    ..layout
                },
                placement: placement.clone(),
            };
            variants.push(Variant {
                category,
                threads,
                job,
            });
        }
    }
    let name = |v: &Variant| format!("global-array, {} threads, {}", v.threads, v.category.name());
    let effort = settings.effort;
    let all = in_turn(&variants, effort.rounds, progress, name, |v| {
        measure(&settings.launcher, &settings.device, &v.job, effort.seconds)
    })?;
    Ok(report(product, &variants, &all))
}

fn measure(
    launcher: &Launcher,
    device: &Choice,
    job: &ClientJob,
    seconds: f64,
) -> Result<Round, Failure> {
    let with = |part| part::Job {
        device: device.clone(),
        part,
    };
    let mut server = launcher.start("server", &with(Part::Server(job.product)), &[])?;
    let mut client = launcher.start("client", &with(Part::Client(job.clone())), &[])?;
    server.tell(&client.hear::<Card>()?)?;
    client.tell(&server.hear::<Card>()?)?;
    let mut phase = |phase: Phase| -> Result<Sample, Failure> {
        let before = client.account()?;
        client.tell(&Some(phase))?;
        let tally: Tally = client.hear_within(Duration::from_secs_f64(2.0 * seconds))?;
        let after = client.account()?;
        Ok(Sample {
            operations: tally.messages,
            seconds: tally.seconds,
            processor_seconds: tally.processor_seconds,
            resources: after.map(|a| a.resources),
            counters: after.zip(before).map(|(a, b)| a.counters - b.counters),
        })
    };
    phase(Phase::Fetch(seconds / 10.0))?;
    let reads = phase(Phase::Fetch(seconds))?;
    let writes = phase(Phase::Store(seconds))?;
    let mut ask = |ask: Ask| -> Result<u64, Failure> {
        server.tell(&Some(ask))?;
        server.hear()
    };
    ask(Ask::Clear)?;
    let product = phase(Phase::Multiply)?;
    let wrong = ask(Ask::Compare)?;
    if wrong > 0 {
        let all = job.product.order * job.product.order;
        return Err(Failure(format!(
            "{wrong} of {all} elements of the product are wrong"
        )));
    }
    client.finish()?;
    server.finish()?;
    Ok(Round {
        reads,
        writes,
        seconds: product.seconds,
    })
}

fn series(rounds: &[Round], of: fn(&Round) -> &Sample) -> Series {
    Series(rounds.iter().map(|r| of(r).clone()).collect())
}

fn report(product: Product, variants: &[Variant], all: &[Vec<Round>]) -> Report {
    let a_row = Category::ALL.len();
    let reads: Vec<Series> = all.iter().map(|r| series(r, |r| &r.reads)).collect();
    let writes: Vec<Series> = all.iter().map(|r| series(r, |r| &r.writes)).collect();
    let mut tables = Vec::new();
    let row_bytes = product.tile * ELEMENT;
    for (at, row) in variants.chunks_exact(a_row).enumerate() {
        let range = at * a_row..(at + 1) * a_row;
        tables.push(rates(
            row[0].threads,
            row_bytes,
            &reads[range.clone()],
            &writes[range.clone()],
            &all[range.clone()],
        ));
        let named: Vec<(String, &Series)> = row
            .iter()
            .zip(&reads[range])
            .map(|(v, s)| (v.category.name().into(), s))
            .collect();
        tables.extend(counters::resources("category", &named));
        tables.extend(counters::doings("reads", &named));
    }
    let panel = |title: &str, all: &[Series]| Panel {
        title: format!("global array, {title} of {row_bytes} B"),
        x_label: "threads".into(),
        y_label: "messages a second (M)".into(),
        curves: Category::ALL
            .iter()
            .map(|category| {
                let own = variants
                    .iter()
                    .zip(all)
                    .filter(|(v, _)| v.category == *category);
                (
                    category.name().to_string(),
                    own.map(|(v, s)| (v.threads as u64, s.rate() / 1e6))
                        .collect(),
                )
            })
            .collect(),
    };
    let (order, tile) = (product.order, product.tile);
    let mut notes = counters::placements(variants.iter().map(|v| &v.job.placement));
    notes.push(format!("matrices of {order} x {order}, tiles of {tile} x {tile}; every product is right to the last bit"));
    Report {
        name: "global-array",
        notes,
        tables,
        panels: vec![panel("reads", &reads), panel("writes", &writes)],
        points: variants.iter().zip(all).zip(reads.iter().zip(&writes)).map(|((v, rounds), (reads, writes))| {
            json!({"category": v.category.name(), "threads": v.threads, "order": order, "tile": tile,
                   "message_bytes": row_bytes, "reads_per_second": reads.rate(), "writes_per_second": writes.rate(),
                   "product_seconds": median_seconds(rounds), "is_exact": true,
                   "pinned": v.job.placement.is_pinned(), "rounds": rounds})
        }).collect(),
    }
}

fn median_seconds(rounds: &[Round]) -> f64 {
    crate::statistics::median(rounds.iter().map(|r| r.seconds)).unwrap_or(f64::NAN)
}

fn rates(
    threads: usize,
    bytes: usize,
    reads: &[Series],
    writes: &[Series],
    all: &[Vec<Round>],
) -> Table {
    let title =
        format!("{threads} threads, messages of {bytes} B, Mmsg/s and per cent of MPI everywhere");
    let mut table = Table::new(
        title,
        &[
            "category",
            "reads",
            "%",
            "writes",
            "%",
            "product ms",
            "hardware %",
            "QPs %",
            "contended takes",
        ],
    );
    let columns: [Column; 2] = [("uars", |r| r.uars), ("qps", |r| r.qps)];
    let base = reads[0].resources();
    for (at, category) in Category::ALL.iter().enumerate() {
        let mut row = vec![category.name().to_string()];
        for series in [reads, writes] {
            row.push(millions(series[at].rate()));
            row.push(digits(100.0 * series[at].rate() / series[0].rate()));
        }
        row.push(digits(1e3 * median_seconds(&all[at])));
        for (_, of) in columns {
            let share = reads[at].resources().zip(base);
            row.push(share.map_or("-".into(), |(own, base)| {
                percent(of(&own) as f64, of(&base) as f64)
                    .trim_end_matches(" %")
                    .to_string()
            }));
        }
        let mut sum = Counters::default();
        let both = [&reads[at], &writes[at]];
        let known = both
            .iter()
            .filter_map(|s| s.counters())
            .map(|c| sum += c)
            .count();
        row.push(if known == 2 {
            sum.locks().contentions.to_string()
        } else {
            "-".into()
        });
        table.rows.push(row);
    }
    table
}
