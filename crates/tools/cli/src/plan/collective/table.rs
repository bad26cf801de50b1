//! What `weft plan collective` prints.

use serde_json::{Value, json};
use weft_plan::{Estimate, Exactness};

use super::found::{Found, Row};
use super::options::Options;
use crate::bench::stats::binary;
use crate::output::{align, duration};

pub fn to_text(options: &Options, rows: &[Row]) -> String {
    let found = rows.iter().find_map(|row| row.found.as_ref().ok());
    let names = found.map_or(Vec::new(), |found| {
        found.others.iter().map(|(name, _)| *name).collect()
    });
    let mut text = format!(
        "{} on {} hosts, {} on each; simulated (LogGOPS)\n",
        options.collective,
        options.hosts,
        match options.ppn {
            1 => "1 rank".to_owned(),
            ppn => format!("{ppn} ranks"),
        }
    );
    let mut lines = vec![title(options, &names)];
    lines.extend(rows.iter().map(|row| line(options, row, &names)));
    text += &align(&lines);
    let estimates: Vec<Estimate> = (rows.iter())
        .filter_map(|row| row.found.as_ref().ok())
        .flat_map(|found| {
            let others = found.others.iter().map(|(_, estimate)| *estimate);
            others.chain([found.ours])
        })
        .collect();
    let are_any = |exactness| estimates.iter().any(|one| one.exactness == exactness);
    if are_any(Exactness::OneHost) {
        text += "*: by what one host does; all that were looked at do alike\n";
    }
    if are_any(Exactness::AtLeast) {
        text += ">: too much to simulate; what the busiest host is busy for, without its waits\n";
    }
    for row in rows {
        if let Err(too_long) = &row.found {
            let gib = too_long.bytes as f64 / f64::from(1 << 30);
            let length = binary(row.bytes);
            text += &format!("{length}: a rank would hold {gib:.1} GiB, which is not planned\n");
        }
    }
    text
}

fn title(options: &Options, names: &[&str]) -> Vec<String> {
    let mut cells = vec!["bytes", "algorithm", "ours"];
    if options.ppn > 1 {
        cells.push("within hosts");
    }
    cells.extend(names);
    cells.extend(["best", "ours/best"]);
    cells.into_iter().map(str::to_owned).collect()
}

fn line(options: &Options, row: &Row, names: &[&str]) -> Vec<String> {
    let mut cells = vec![binary(row.bytes)];
    let Ok(found) = &row.found else {
        let others = 4 + names.len() + usize::from(options.ppn > 1);
        cells.extend(vec!["-".to_owned(); others]);
        return cells;
    };
    cells.extend([found.algorithm.clone(), time(found.ours)]);
    if options.ppn > 1 {
        cells.push(duration(found.within_ns));
    }
    cells.extend(found.others.iter().map(|(_, estimate)| time(*estimate)));
    let best = found.best().map_or("-", |(name, _)| name);
    cells.extend([best.to_owned(), ratio(found)]);
    cells
}

fn time(estimate: Estimate) -> String {
    let time = duration(estimate.ns);
    match estimate.exactness {
        Exactness::Whole => time,
        Exactness::OneHost => format!("{time}*"),
        Exactness::AtLeast => format!(">{time}"),
    }
}

fn ratio(found: &Found) -> String {
    let Some(ratio) = found.ratio() else {
        return "-".to_owned();
    };
    match found.ours.exactness {
        Exactness::AtLeast => format!(">{ratio:.2}"),
        _ => format!("{ratio:.2}"),
    }
}

pub fn to_json(options: &Options, rows: &[Row]) -> Value {
    json!({
        "collective": options.collective.name(),
        "hosts": options.hosts,
        "ppn": options.ppn,
        "combine_ns_a_byte": options.combine,
        "rows": rows.iter().map(row_json).collect::<Vec<_>>(),
    })
}

fn row_json(row: &Row) -> Value {
    match &row.found {
        Err(too_long) => json!({
            "bytes": row.bytes,
            "bytes_of_a_rank": too_long.bytes as f64,
        }),
        Ok(found) => json!({
            "bytes": row.bytes,
            "algorithm": found.algorithm,
            "ours": estimate_json(found.ours),
            "within_hosts_ns": found.within_ns,
            "others": (found.others.iter())
                .map(|(name, estimate)| ((*name).to_owned(), estimate_json(*estimate)))
                .collect::<serde_json::Map<_, _>>(),
            "best": found.best().map(|(name, _)| name),
            "ratio": found.ratio(),
        }),
    }
}

fn estimate_json(estimate: Estimate) -> Value {
    let exactness = match estimate.exactness {
        Exactness::Whole => "whole",
        Exactness::OneHost => "one host",
        Exactness::AtLeast => "at least",
    };
    json!({ "ns": estimate.ns, "exactness": exactness })
}
