//! The tables that stand beside rates: what there is of each resource, and what was done with the device.

use crate::account::{Counters, Lock, Resources};
use crate::pins::Placement;
use crate::report::{Table, digits, millions, percent};
use crate::rounds::Series;

/// Where threads ran, each way once.
pub fn placements<'a>(all: impl Iterator<Item = &'a Placement>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in all.map(Placement::line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// A resource and where it is found.
pub type Column = (&'static str, fn(&Resources) -> u64);

const RESOURCES: [Column; 8] = [
    ("contexts", |r| r.contexts),
    ("UARs", |r| r.uars),
    ("uUARs", |r| r.uuars),
    ("used", |r| r.used_uuars),
    ("QPs", |r| r.qps),
    ("CQs", |r| r.cqs),
    ("PDs", |r| r.pds),
    ("MRs", |r| r.mrs),
];

/// A row for each of `rows`; none where the device does not tell.
pub fn resources(first: &str, rows: &[(String, &Series)]) -> Option<Table> {
    let mut table = Table::new("resources", &[first]);
    table
        .header
        .extend(RESOURCES.iter().map(|r| r.0.to_string()));
    table.header.push("memory KiB".into());
    for (name, series) in rows {
        let found = series.resources()?;
        let mut row = vec![name.clone()];
        row.extend(RESOURCES.iter().map(|r| r.1(&found).to_string()));
        row.push(digits(found.bytes as f64 / 1024.0));
        table.rows.push(row);
    }
    Some(table)
}

/// A kind of lock and where it is found.
type LockCount = (&'static str, fn(&Counters) -> Lock);

const LOCKS: [LockCount; 3] = [
    ("QP", |c| c.send_lock),
    ("uUAR", |c| c.uuar_lock),
    ("CQ", |c| c.cq_lock),
];

/// How the device was told of a message, and the locks that were taken on its way.
pub fn doings(first: &str, rows: &[(String, &Series)]) -> Option<Table> {
    let title = "messages (M) for each second of processor time; for 1000 messages, doorbells and BlueFlame writes, locks taken, and \
                 of these found taken";
    let mut table = Table::new(title, &[first, "M/CPU s", "doorbells", "BlueFlame"]);
    for (name, _) in LOCKS {
        table
            .header
            .extend([format!("{name} lock"), "contended".into()]);
    }
    for (name, series) in rows {
        let counters = series.counters()?;
        let messages = counters.requests as f64;
        let thousand = |count: u64| digits(1000.0 * count as f64 / messages);
        let mut row = vec![
            name.clone(),
            millions(series.per_processor_second()),
            thousand(counters.doorbells),
            thousand(counters.blueflame_writes),
        ];
        for (_, lock) in LOCKS {
            let lock = lock(&counters);
            row.push(thousand(lock.takes));
            row.push(percent(lock.contentions as f64, lock.takes as f64));
        }
        table.rows.push(row);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Sample;

    fn series(counters: Option<Counters>) -> Series {
        Series(vec![Sample {
            operations: 500,
            seconds: 1.0,
            processor_seconds: 0.0005,
            resources: counters.map(|_| Resources::default()),
            counters,
        }])
    }

    #[test]
    fn counts_are_for_a_thousand_messages_and_contention_for_a_hundred_takes() {
        let counters = Counters {
            requests: 500,
            doorbells: 50,
            cq_lock: Lock {
                takes: 1000,
                contentions: 250,
            },
            ..Counters::default()
        };
        let series = series(Some(counters));
        let table = doings("x", &[("a".into(), &series)]).unwrap();
        let expected = [
            "a", "1.00", "100", "0", "0", "-", "0", "-", "2000", "25.0 %",
        ];
        assert_eq!(table.rows, [expected]);
    }

    #[test]
    fn a_device_that_does_not_tell_has_no_such_tables() {
        let silent = series(None);
        assert_eq!(resources("x", &[("a".into(), &silent)]), None);
        assert_eq!(doings("x", &[("a".into(), &silent)]), None);
    }
}
