//! `weft plan collective --hosts 1`: how long each algorithm takes among the ranks of one host, and which is chosen.

use serde_json::{Map, Value, json};
use weft_plan::{OneHost, Simulated};
use weft_sim::{Host, MACHINES};

use super::options::Options;
use crate::bench::progress::Progress;
use crate::bench::stats::binary;
use crate::output::{align, duration};

/// What stands for the host that this runs on.
const THIS: &str = "this";

struct Row {
    bytes: u64,
    found: Vec<(String, Simulated)>,
    chosen: String,
}

impl Row {
    fn of(&self, name: &str) -> f64 {
        let found = self.found.iter().find(|(known, _)| known == name);
        found.map_or(f64::NAN, |(_, simulated)| simulated.ns)
    }

    fn best(&self) -> &str {
        let mut found = self.found.iter();
        let least = found
            .by_ref()
            .min_by(|(_, one), (_, other)| one.ns.total_cmp(&other.ns));
        least.map_or("-", |(name, _)| name)
    }

    fn ratio(&self) -> f64 {
        self.of(self.best()) / self.of(&self.chosen)
    }

    fn is_storm(&self) -> bool {
        self.found.iter().any(|(_, simulated)| simulated.is_storm)
    }
}

pub fn answer(options: &Options) -> Result<String, String> {
    if options.ppn < 2 {
        return Err("--hosts 1 takes --ppn of 2 or more".into());
    }
    if options.goal.is_some() {
        return Err("--goal takes --hosts of 2 or more: schedules know no shared memory".into());
    }
    let host = host(&options.host)?;
    let mut progress = Progress::new(options.json);
    let mut rows = Vec::new();
    for &bytes in options.lengths() {
        rows.push(row(options, &host, bytes, &mut progress)?);
    }
    progress.clear();
    Ok(match options.json {
        true => format!("{:#}\n", to_json(options, &rows)),
        false => to_text(options, &host, &rows),
    })
}

fn host(name: &str) -> Result<Host, String> {
    if name == THIS {
        let model = weft_host::Model::measure();
        return Host::measured(&model).ok_or_else(|| {
            "--host this takes two CPUs or more, between whose processes the kernel copies".into()
        });
    }
    if let Some(host) = Host::named(name) {
        return Ok(host);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let names: Vec<&str> = MACHINES.iter().map(|(name, _)| *name).collect();
        format!(
            "--host {name}: neither `{THIS}`, one of {}, nor a file: {error}",
            names.join(", ")
        )
    })?;
    text.parse().map_err(|why| format!("--host {name}: {why}"))
}

fn row(options: &Options, host: &Host, bytes: u64, progress: &mut Progress) -> Result<Row, String> {
    let (ranks, length) = (options.ppn as usize, binary(bytes));
    let plan = OneHost::new(options.collective, ranks, bytes);
    let plan = plan.map_err(|too_long| {
        let gib = too_long.bytes as f64 / f64::from(1 << 30);
        format!("{length}: a rank would hold {gib:.1} GiB, which is not planned")
    })?;
    let algorithms = plan.algorithms().into_iter();
    let found = algorithms.map(|(number, name)| {
        progress.show(&format!("{} of {length}: {name}", options.collective));
        let simulated = plan.simulate(host, number, options.seed);
        (name, simulated)
    });
    Ok(Row {
        bytes,
        found: found.collect(),
        chosen: plan.chosen(host),
    })
}

fn to_text(options: &Options, host: &Host, rows: &[Row]) -> String {
    let mut text = format!(
        "{} on one host, {} ranks on {} cores; simulated\n",
        options.collective, options.ppn, host.cores
    );
    let mut title = vec!["bytes".to_owned()];
    title.extend(rows[0].found.iter().map(|(name, _)| name.clone()));
    title.extend(["chosen", "best", "best/chosen"].map(str::to_owned));
    let mut lines = vec![title];
    lines.extend(rows.iter().map(|row| {
        let mut cells = vec![binary(row.bytes)];
        let times = row.found.iter();
        cells.extend(times.map(|(_, simulated)| duration(simulated.ns)));
        let ratio = format!("{:.2}", row.ratio());
        cells.extend([row.chosen.clone(), row.best().to_owned(), ratio]);
        cells
    }));
    text += &align(&lines);
    if rows.iter().any(Row::is_storm) {
        text += "in some operation wakes took more time than all ranks worked\n";
    }
    text
}

fn to_json(options: &Options, rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        let ns = |(name, simulated): &(String, Simulated)| (name.clone(), json!(simulated.ns));
        json!({
            "bytes": row.bytes,
            "ns": row.found.iter().map(ns).collect::<Map<_, _>>(),
            "chosen": row.chosen,
            "best": row.best(),
            "ratio": row.ratio(),
            "storm": row.is_storm(),
        })
    });
    json!({
        "collective": options.collective.name(),
        "hosts": 1,
        "ppn": options.ppn,
        "host": options.host,
        "seed": options.seed,
        "rows": rows.collect::<Vec<_>>(),
    })
}
