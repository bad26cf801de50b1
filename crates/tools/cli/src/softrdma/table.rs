//! The terminal tables of `weft softrdma stat`.

use std::time::Duration;

use weft_softrdma::stat::{Figures, LockFigures};

use super::report::{Row, device_name, devices, sum};

type Column = (&'static str, fn(&Figures) -> String);

const RESOURCES: [Column; 13] = [
    ("contexts", |f| f.contexts.to_string()),
    ("UARs", |f| f.uars().to_string()),
    ("static", |f| f.static_uars.to_string()),
    ("dynamic", |f| f.dynamic_uars.to_string()),
    ("uUARs", |f| f.uuars().to_string()),
    ("used", |f| f.used_uuars.to_string()),
    ("wasted", |f| f.wasted_uuars().to_string()),
    ("TDs 1/2", |f| {
        format!("{}/{}", f.tds_level_1, f.tds_level_2)
    }),
    ("QPs", |f| f.qps.to_string()),
    ("CQs", |f| f.cqs.to_string()),
    ("SRQs", |f| f.srqs.to_string()),
    ("PDs/MRs", |f| format!("{}/{}", f.pds, f.mrs)),
    ("memory", |f| kib(f.bytes())),
];

const ACTIVITY: [Column; 9] = [
    ("posts", |f| f.posts.to_string()),
    ("requests", |f| f.requests.to_string()),
    ("doorbells", |f| f.doorbells.to_string()),
    ("BlueFlame", |f| f.blueflame_writes.to_string()),
    ("send lock", |f| lock(f.send_lock)),
    ("uUAR lock", |f| lock(f.uuar_lock)),
    ("receive lock", |f| lock(f.receive_lock)),
    ("CQ lock", |f| lock(f.cq_lock)),
    ("SRQ lock", |f| lock(f.srq_lock)),
];

/// What the processes have.
pub fn resources(fabric: &str, rows: &[Row]) -> String {
    if rows.is_empty() {
        return format!("fabric {fabric}: no process has a device open\n");
    }
    format!("fabric {fabric}\n{}", table(rows, &RESOURCES))
}

/// What they have done, and how often their locks were taken, and found taken.
pub fn activity(rows: &[Row]) -> String {
    format!(
        "since they were opened (locks: taken/contended)\n{}",
        table(rows, &ACTIVITY)
    )
}

/// What they did a second between `before` and `now`.
pub fn rates(before: &[Row], now: &[Row], elapsed: Duration) -> String {
    let rates: Vec<Row> = now
        .iter()
        .map(|row| {
            let old = before
                .iter()
                .find(|old| (old.pid, old.device) == (row.pid, row.device));
            let old = old.map_or_else(Figures::default, |old| old.figures);
            Row {
                figures: rate(&old, &row.figures, elapsed),
                ..row.clone()
            }
        })
        .collect();
    if rates.is_empty() {
        return String::new();
    }
    format!(
        "a second (locks: taken/contended)\n{}",
        table(&rates, &ACTIVITY)
    )
}

fn rate(old: &Figures, new: &Figures, elapsed: Duration) -> Figures {
    let per_second = |old: u64, new: u64| {
        let more = new.saturating_sub(old) as f64;
        (more / elapsed.as_secs_f64().max(1e-3)).round() as u64
    };
    let lock = |old: LockFigures, new: LockFigures| LockFigures {
        takes: per_second(old.takes, new.takes),
        contentions: per_second(old.contentions, new.contentions),
    };
    Figures {
        posts: per_second(old.posts, new.posts),
        requests: per_second(old.requests, new.requests),
        doorbells: per_second(old.doorbells, new.doorbells),
        blueflame_writes: per_second(old.blueflame_writes, new.blueflame_writes),
        send_lock: lock(old.send_lock, new.send_lock),
        uuar_lock: lock(old.uuar_lock, new.uuar_lock),
        receive_lock: lock(old.receive_lock, new.receive_lock),
        cq_lock: lock(old.cq_lock, new.cq_lock),
        srq_lock: lock(old.srq_lock, new.srq_lock),
        ..Figures::default()
    }
}

/// A line for each row, and below them the sums of devices where several processes have one, and of all.
fn table(rows: &[Row], columns: &[Column]) -> String {
    let head = ["pid", "program", "device"].map(str::to_owned);
    let titles = columns.iter().map(|(title, _)| (*title).to_owned());
    let mut lines = vec![head.into_iter().chain(titles).collect()];
    let mut add = |first: [String; 3], figures: &Figures| {
        let values = columns.iter().map(|(_, value)| value(figures));
        lines.push(first.into_iter().chain(values).collect());
    };
    for row in rows {
        let first = [
            row.pid.to_string(),
            row.program.clone(),
            device_name(row.device),
        ];
        add(first, &row.figures);
    }
    let devices = devices(rows);
    if rows.len() > devices.len() {
        for (device, figures) in &devices {
            add(["all".into(), String::new(), device_name(*device)], figures);
        }
    }
    if devices.len() > 1 {
        add(["all".into(), String::new(), "all".into()], &sum(rows));
    }
    align(&lines)
}

/// The first three columns to the left, numbers to the right.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = (line.iter().zip(&widths).enumerate())
            .map(|(column, (cell, &width))| {
                if column < 3 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn lock(lock: LockFigures) -> String {
    format!("{}/{}", lock.takes, lock.contentions)
}

fn kib(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use super::super::report::{rows, tests::processes};
    use super::*;

    /// The words of the line that begins with `first`.
    fn line(text: &str, first: &[&str]) -> Vec<String> {
        let found = text.lines().find(|line| {
            let words: Vec<&str> = line.split_whitespace().take(first.len()).collect();
            words == first
        });
        let words = found.unwrap().split_whitespace().skip(first.len());
        words.map(str::to_owned).collect()
    }

    #[test]
    fn resources_have_a_line_for_each_process_and_sums() {
        let text = resources("job", &rows(&processes()));
        assert!(text.starts_with("fabric job\n"));
        let own = line(&text, &["41", "ib_write_lat", "softrdma0"]);
        let expected = "2 16 16 0 32 1 31 0/0 2 1 0 0/0 681 KiB";
        assert_eq!(own.join(" "), expected);
        assert_eq!(line(&text, &["all", "softrdma0"])[1], "24");
        assert_eq!(line(&text, &["all", "all"])[1], "32");
    }

    #[test]
    fn one_process_on_one_device_needs_no_sums() {
        let only = &rows(&processes())[..1];
        assert!(!resources("job", only).contains("all"));
        assert_eq!(activity(only).lines().count(), 3);
    }

    #[test]
    fn an_empty_fabric_says_so() {
        assert_eq!(
            resources("job", &[]),
            "fabric job: no process has a device open\n"
        );
        assert_eq!(rates(&[], &[], Duration::from_secs(1)), "");
    }

    #[test]
    fn rates_are_differences_a_second() {
        let before = rows(&processes());
        let mut now = before.clone();
        now[0].figures.posts += 50;
        now[0].figures.send_lock.takes += 20;
        let text = rates(&before, &now, Duration::from_millis(500));
        let busy = line(&text, &["41", "ib_write_lat", "softrdma0"]);
        assert_eq!((busy[0].as_str(), busy[4].as_str()), ("100", "40/0"));
        let new = rates(&[], &now[2..], Duration::from_secs(1));
        assert_eq!(line(&new, &["43", "ib_write_lat", "softrdma0"])[0], "10");
    }
}
