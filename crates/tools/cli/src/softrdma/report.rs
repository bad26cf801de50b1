//! What `weft softrdma stat` tells: a row for each process and device, and everything as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_softrdma::stat::{ContextFigures, Figures, LockFigures, Process};

/// What one process has of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub pid: u32,
    pub program: String,
    pub device: u8,
    pub figures: Figures,
}

/// In the order of processes and devices. A process without contexts has none.
pub fn rows(processes: &[Process]) -> Vec<Row> {
    let row = |process: &Process, (device, figures)| Row {
        pid: process.pid,
        program: process.program.clone(),
        device,
        figures,
    };
    processes
        .iter()
        .flat_map(|process| {
            let devices = by_device(&process.contexts);
            devices.into_iter().map(move |device| row(process, device))
        })
        .collect()
}

fn by_device(contexts: &[ContextFigures]) -> BTreeMap<u8, Figures> {
    let mut devices = BTreeMap::new();
    for context in contexts {
        *devices.entry(context.device).or_default() += context.figures;
    }
    devices
}

pub fn sum<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Figures {
    let mut sum = Figures::default();
    for row in rows {
        sum += row.figures;
    }
    sum
}

/// The sums of the devices over all processes.
pub fn devices(rows: &[Row]) -> BTreeMap<u8, Figures> {
    let numbers: Vec<u8> = rows.iter().map(|row| row.device).collect();
    let of = |device| rows.iter().filter(move |row| row.device == device);
    numbers
        .into_iter()
        .map(|device| (device, sum(of(device))))
        .collect()
}

pub fn device_name(device: u8) -> String {
    format!("softrdma{device}")
}

pub fn json(fabric: &str, processes: &[Process]) -> Value {
    let rows = rows(processes);
    let devices: Vec<Value> = devices(&rows)
        .iter()
        .map(|(device, figures)| json!({"device": device_name(*device), "figures": figures_json(figures)}))
        .collect();
    let processes: Vec<Value> = processes
        .iter()
        .map(|process| {
            let contexts: Vec<Value> = process.contexts.iter().map(context_json).collect();
            json!({"pid": process.pid, "program": process.program, "contexts": contexts})
        })
        .collect();
    json!({"fabric": fabric, "devices": devices, "processes": processes})
}

fn context_json(context: &ContextFigures) -> Value {
    json!({
        "device": device_name(context.device),
        "number": context.number,
        "policy": context.policy.name(),
        "total_uuars": context.total_uuars,
        "low_latency_uuars": context.low_latency_uuars,
        "figures": figures_json(&context.figures),
    })
}

fn figures_json(figures: &Figures) -> Value {
    json!({
        "contexts": figures.contexts,
        "uars": {"static": figures.static_uars, "dynamic": figures.dynamic_uars, "total": figures.uars()},
        "uuars": {
            "static": figures.static_uuars,
            "dynamic": figures.dynamic_uuars,
            "total": figures.uuars(),
            "used": figures.used_uuars,
            "wasted": figures.wasted_uuars(),
        },
        "thread_domains": {"level_1": figures.tds_level_1, "level_2": figures.tds_level_2},
        "pds": figures.pds,
        "mrs": figures.mrs,
        "qps": figures.qps,
        "cqs": figures.cqs,
        "srqs": figures.srqs,
        "bytes": figures.bytes(),
        "posts": figures.posts,
        "requests": figures.requests,
        "doorbells": figures.doorbells,
        "blueflame": {"writes": figures.blueflame_writes, "bytes": figures.blueflame_bytes},
        "locks": {
            "send": lock_json(figures.send_lock),
            "uuar": lock_json(figures.uuar_lock),
            "receive": lock_json(figures.receive_lock),
            "cq": lock_json(figures.cq_lock),
            "srq": lock_json(figures.srq_lock),
        },
    })
}

fn lock_json(lock: LockFigures) -> Value {
    json!({"takes": lock.takes, "contentions": lock.contentions})
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use weft_softrdma::uar::Policy;

    pub fn processes() -> Vec<Process> {
        let context = |device, number, figures| ContextFigures {
            device,
            number,
            policy: Policy::Static,
            total_uuars: 16,
            low_latency_uuars: 4,
            figures: Figures {
                contexts: 1,
                static_uars: 8,
                static_uuars: 16,
                ..figures
            },
        };
        let busy = Figures {
            used_uuars: 1,
            qps: 2,
            cqs: 1,
            posts: 10,
            requests: 40,
            doorbells: 4,
            blueflame_writes: 6,
            send_lock: LockFigures {
                takes: 10,
                contentions: 3,
            },
            ..Figures::default()
        };
        let process = |pid, contexts| Process {
            pid,
            program: "ib_write_lat".into(),
            contexts,
        };
        vec![
            process(
                41,
                vec![
                    context(0, 1, busy),
                    context(0, 2, Figures::default()),
                    context(1, 3, Figures::default()),
                ],
            ),
            process(42, vec![]),
            process(43, vec![context(0, 1, busy)]),
        ]
    }

    #[test]
    fn contexts_of_a_device_are_one_row() {
        let rows = rows(&processes());
        let named: Vec<_> = rows.iter().map(|row| (row.pid, row.device)).collect();
        assert_eq!(named, [(41, 0), (41, 1), (43, 0)]);
        assert_eq!(rows[0].figures.contexts, 2);
        assert_eq!(rows[0].figures.wasted_uuars(), 31);
        let devices = devices(&rows);
        assert_eq!(devices[&0].posts, 20);
        assert_eq!(devices[&0].uars(), 24);
        assert_eq!(devices[&1].uars(), 8);
    }

    #[test]
    fn json_has_processes_contexts_and_sums() {
        let value = json("job", &processes());
        assert_eq!(value["fabric"], "job");
        assert_eq!(value["devices"][0]["device"], "softrdma0");
        assert_eq!(value["devices"][0]["figures"]["uuars"]["wasted"], 46);
        assert_eq!(value["processes"][0]["pid"], 41);
        let context = &value["processes"][0]["contexts"][0];
        assert_eq!(context["policy"], "static");
        assert_eq!(context["figures"]["locks"]["send"]["contentions"], 3);
        assert_eq!(context["figures"]["bytes"], (256 + 160 + 9) * 1024);
        assert_eq!(value["processes"][1]["contexts"], json!([]));
    }
}
