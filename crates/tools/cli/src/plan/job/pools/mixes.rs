//! `weft plan job --pools --mix`: what mixes of messages use and waste of receive buffers, beside buffers of one size.

use serde_json::{Value, json};
use weft_pools::{Mix, MixUse, Pools};

use crate::output::columns;

/// Enough for shares to three digits.
const MESSAGES: usize = 100_000;
/// Messages that a receiver has before it and has not taken out.
const HELD: usize = 64;

#[derive(Clone, Debug)]
pub struct Chosen(pub Vec<Mix>);

impl Chosen {
    pub fn parse(name: &str) -> Result<Chosen, String> {
        match name {
            "all" => Ok(Chosen(Mix::ALL.to_vec())),
            _ => Ok(Chosen(vec![name.parse()?])),
        }
    }
}

/// A mix in the pools, and in buffers of their largest size alone.
struct Row {
    mix: Mix,
    pools: MixUse,
    one_size: MixUse,
}

pub fn answer(pools: &Pools, mixes: &[Mix], is_json: bool) -> String {
    let one_size = pools.largest();
    let simulate =
        |pools: &Pools, mix: Mix| MixUse::simulate(pools, mix.lengths().take(MESSAGES), HELD);
    let row = |&mix: &Mix| Row {
        mix,
        pools: simulate(pools, mix),
        one_size: simulate(&one_size, mix),
    };
    let rows: Vec<Row> = mixes.iter().map(row).collect();
    match is_json {
        true => format!("{:#}\n", to_json(pools, &rows)),
        false => render(pools, &rows),
    }
}

fn render(pools: &Pools, rows: &[Row]) -> String {
    let titles = [
        "mix",
        "buffer",
        "messages",
        "used",
        "wasted",
        "most held",
        "memory",
    ];
    let mut lines = vec![titles.map(str::to_owned)];
    for row in rows {
        let ways = [(&row.pools, "all"), (&row.one_size, "one size")];
        for (mix_use, name) in ways {
            lines.extend(pool_lines(row.mix, mix_use, name));
        }
    }
    format!(
        "{MESSAGES} messages of a mix in receive pools {pools}
{}
used, wasted: of the buffers that messages took, in per cent; one size: all in buffers of the largest pool
none: messages longer than all buffers, which are moved without one
most held, memory: buffers that {HELD} messages not yet taken out held at one time, and their bytes\n",
        columns(&lines)
    )
}

/// A line for each pool, if there are several, and one for all.
fn pool_lines(mix: Mix, mix_use: &MixUse, name: &str) -> Vec<[String; 7]> {
    let line = |buffer: String, messages: u64, used: u64, wasted: u64, held: u64, bytes: u64| {
        [
            mix.to_string(),
            buffer,
            messages.to_string(),
            percent(used, used + wasted),
            percent(wasted, used + wasted),
            held.to_string(),
            kibibytes(bytes),
        ]
    };
    let mut lines = Vec::new();
    if mix_use.pools.len() > 1 {
        lines.extend(mix_use.pools.iter().map(|pool| {
            let bytes = pool.most_held * u64::from(pool.bytes);
            let buffer = pool.bytes.to_string();
            let (used, wasted) = (pool.used_bytes, pool.wasted_bytes);
            line(buffer, pool.messages, used, wasted, pool.most_held, bytes)
        }));
    }
    let sum = |of: fn(&weft_pools::PoolUse) -> u64| mix_use.pools.iter().map(of).sum();
    if mix_use.too_long > 0 {
        lines.push(line("none".to_owned(), mix_use.too_long, 0, 0, 0, 0));
    }
    lines.push(line(
        name.to_owned(),
        sum(|pool| pool.messages),
        mix_use.used_bytes(),
        mix_use.wasted_bytes(),
        sum(|pool| pool.most_held),
        mix_use.needed_bytes(),
    ));
    lines
}

fn percent(part: u64, all: u64) -> String {
    match all {
        0 => "-".to_owned(),
        _ => format!("{:.1}", 100.0 * part as f64 / all as f64),
    }
}

fn kibibytes(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

fn to_json(pools: &Pools, rows: &[Row]) -> Value {
    let mix_json = |row: &Row| {
        json!({
            "mix": row.mix.name(),
            "pools": use_json(&row.pools),
            "one_size": use_json(&row.one_size),
        })
    };
    json!({
        "pools": pools.to_string(),
        "messages": MESSAGES,
        "held": HELD,
        "mixes": rows.iter().map(mix_json).collect::<Vec<_>>(),
    })
}

fn use_json(mix_use: &MixUse) -> Value {
    let pool = |pool: &weft_pools::PoolUse| {
        json!({
            "buffer_bytes": pool.bytes,
            "messages": pool.messages,
            "used_bytes": pool.used_bytes,
            "wasted_bytes": pool.wasted_bytes,
            "most_held": pool.most_held,
        })
    };
    json!({
        "by_pool": mix_use.pools.iter().map(pool).collect::<Vec<_>>(),
        "too_long": mix_use.too_long,
        "used_bytes": mix_use.used_bytes(),
        "wasted_bytes": mix_use.wasted_bytes(),
        "needed_bytes": mix_use.needed_bytes(),
    })
}
