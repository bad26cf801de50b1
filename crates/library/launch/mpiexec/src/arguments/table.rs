//! The options, one table for all but those that stand for other words or in place of a job.

use super::hosts::Launcher;
use super::job::{Inherit, Job, Section};
use super::usage::Usage;
use super::values::{
    bind, check_architecture, exported, launcher, listed, number_of_ranks, seconds, soft_list,
    stdin, trace, variable,
};
use super::words::Words;
use crate::hosts::{self, Order};
use std::ffi::OsString;
use weft_pools::Pools;

/// Names the network interfaces that ranks on different hosts are to use, separated by commas.
pub const INTERFACE_VARIABLE: &str = "WEFT_INTERFACE";

/// Has the library write a line for each packet: to this file, or to standard error.
const TRACE: &str = "WEFT_TRACE";

/// Names what carries messages between ranks.
const TRANSPORT: &str = "WEFT_TRANSPORT";
const TRANSPORTS: [&str; 4] = ["auto", "shm", "tcp", "rdma"];

/// Names the endpoint category by which a rank's lanes share an RDMA adapter.
const ENDPOINTS: &str = "WEFT_ENDPOINTS";
/// The library has one more, mpi-threads, whose queue pairs several threads use at a time.
const CATEGORIES: [&str; 5] = [
    "mpi-everywhere",
    "2xdynamic",
    "dynamic",
    "shared-dynamic",
    "static",
];

/// Specifies the pools of buffers into which a rank's lanes receive from an RDMA adapter.
const ADAPTERS: &str = "WEFT_ADAPTERS";
const RECEIVE_POOLS: &str = "WEFT_RECEIVE_POOLS";

/// What an option does: to the job, or to what stands before the program at hand. Its value is the next of the words.
pub type Action = fn(&mut Job, &mut Section, &mut Words) -> Result<(), Usage>;

/// The action of an option of this name, if there is one.
pub fn find(name: &str) -> Option<Action> {
    let mut all = OPTIONS.iter();
    let found = all.find(|(names, _)| names.contains(&name));
    found.map(|(_, action)| *action)
}

/// Each option's names, without dashes.
const OPTIONS: &[(&[&str], Action)] = &[
    (&["n", "np"], |_, section, words| {
        set(&mut section.ranks, ranks(words))
    }),
    (&["wdir", "wd"], |_, section, words| {
        set(&mut section.directory, words.value("a directory"))
    }),
    (&["path"], |_, section, words| {
        set(
            &mut section.path,
            words.value("directories separated by `:`"),
        )
    }),
    (&["env"], |_, section, words| {
        add(&mut section.environment, [variable(words)?])
    }),
    (&["genv"], |job, _, words| {
        add(&mut job.environment, [variable(words)?])
    }),
    (&["x"], |_, section, words| {
        add(&mut section.environment, exported(words)?)
    }),
    (&["genvall", "envall"], |job, _, _| {
        put(&mut job.inherit, Inherit::All)
    }),
    (&["genvnone", "envnone"], |job, _, _| {
        put(&mut job.inherit, Inherit::None)
    }),
    (&["genvlist", "envlist"], |job, _, words| {
        put(&mut job.inherit, Inherit::Listed(names(words)?))
    }),
    (&["host", "H"], |_, section, words| {
        add(section.hosts.get_or_insert_default(), listed(words)?)
    }),
    (&["hosts"], |job, _, words| {
        add(job.hosts.listed.get_or_insert_default(), listed(words)?)
    }),
    (
        &["f", "hostfile", "machinefile", "machine-file"],
        |job, _, words| {
            add(
                job.hosts.listed.get_or_insert_default(),
                hosts_in_file(words)?,
            )
        },
    ),
    (&["ppn", "perhost", "N", "npernode"], |job, _, words| {
        set(&mut job.hosts.per_host, ranks(words))
    }),
    (&["rr"], |job, _, _| put(&mut job.hosts.order, Order::Nodes)),
    (&["map-by"], |job, _, words| map_by(job, words)),
    (&["nooversubscribe"], |job, _, _| {
        put(&mut job.hosts.slots_are_limits, true)
    }),
    (&["launcher", "bootstrap"], |job, _, words| {
        set(&mut job.hosts.launcher, chosen_launcher(words))
    }),
    (&["launcher-exec", "bootstrap-exec"], |job, _, words| {
        set(&mut job.hosts.launcher_program, words.value("a program"))
    }),
    (&["launch-timeout"], |job, _, words| {
        put(
            &mut job.hosts.launch_timeout,
            words.parsed(SECONDS, seconds)?,
        )
    }),
    (&["host-timeout"], |job, _, words| {
        put(&mut job.hosts.host_timeout, words.parsed(SECONDS, seconds)?)
    }),
    (&["timeout"], |job, _, words| {
        set(&mut job.timeout, words.parsed(SECONDS, seconds))
    }),
    (&["interface", "iface"], |job, _, words| {
        let names = words.value("names of network interfaces")?;
        add(&mut job.environment, [(INTERFACE_VARIABLE.into(), names)])
    }),
    (&["transport"], |job, _, words| {
        let name = one_of(words, "`auto`, `shm`, `tcp` or `rdma`", &TRANSPORTS)?;
        add(&mut job.environment, [(TRANSPORT.into(), name)])
    }),
    (&["adapters"], |job, _, words| {
        let names = words.value("names of RDMA adapters, perhaps with `:port`")?;
        add(&mut job.environment, [(ADAPTERS.into(), names)])
    }),
    (&["endpoints"], |job, _, words| {
        let what = format!("one of {}", CATEGORIES.join(", "));
        let name = one_of(words, &what, &CATEGORIES)?;
        add(&mut job.environment, [(ENDPOINTS.into(), name)])
    }),
    (&["receive-pools"], |job, _, words| {
        let pools = receive_pools(words)?;
        add(&mut job.environment, [(RECEIVE_POOLS.into(), pools)])
    }),
    (&["trace"], |job, _, words| {
        add(&mut job.environment, [(TRACE.into(), trace(words)?)])
    }),
    (&["bind-to"], |job, _, words| {
        put(&mut job.bind, words.parsed("`core` or `none`", bind)?)
    }),
    (&["report-bindings"], |job, _, _| {
        put(&mut job.report_bindings, true)
    }),
    (&["stdin"], |job, _, words| {
        put(
            &mut job.stdin,
            words.parsed("a rank, `all` or `none`", stdin)?,
        )
    }),
    (
        &["l", "prefix-output", "tag-output", "prepend-rank"],
        |job, _, _| put(&mut job.prefix_output, true),
    ),
    (&["output-dir"], |job, _, words| {
        set(
            &mut job.output_directory,
            words.value("a directory").map(Into::into),
        )
    }),
    (&["dry-run"], |job, _, _| put(&mut job.dry_run, true)),
    (&["v", "verbose"], |job, _, _| put(&mut job.verbose, true)),
    // They only have to be right (MPI-5.0 §11.8.1).
    (&["arch"], |_, _, words| {
        check_architecture(&words.text("an architecture")?)
    }),
    (&["soft"], |_, _, words| {
        words.parsed("a list of numbers or ranges, as 1,2:8:2", |text| {
            soft_list(text).then_some(())
        })
    }),
];

const SECONDS: &str = "a number of seconds";

fn put<T>(place: &mut T, value: T) -> Result<(), Usage> {
    *place = value;
    Ok(())
}

fn set<T>(place: &mut Option<T>, value: Result<T, Usage>) -> Result<(), Usage> {
    put(place, Some(value?))
}

fn add<T>(place: &mut Vec<T>, values: impl IntoIterator<Item = T>) -> Result<(), Usage> {
    place.extend(values);
    Ok(())
}

fn ranks(words: &mut Words) -> Result<u32, Usage> {
    words.parsed("a number of ranks, at least 1", number_of_ranks)
}

fn names(words: &mut Words) -> Result<Vec<OsString>, Usage> {
    let names = words.text("names separated by commas")?;
    Ok(names.split(',').map(OsString::from).collect())
}

fn one_of(words: &mut Words, what: &str, names: &[&str]) -> Result<OsString, Usage> {
    words.parsed(what, |text| names.contains(&text).then(|| text.into()))
}

/// A specification that the library will take, as it is written.
fn receive_pools(words: &mut Words) -> Result<OsString, Usage> {
    let text = words.text("TYPE,bytes,count[,low[,credits]]:...")?;
    match text.trim().parse::<Pools>() {
        Ok(_) => Ok(text.into()),
        Err(why) => Err(Usage(format!("{}: {why}", words.option))),
    }
}

fn chosen_launcher(words: &mut Words) -> Result<Launcher, Usage> {
    words.parsed("`ssh`, `slurm` or `fork`", launcher)
}

fn hosts_in_file(words: &mut Words) -> Result<Vec<hosts::Host>, Usage> {
    let file = words.value("a file")?;
    let read = hosts::read_file(file.as_ref());
    read.map_err(|problem| Usage(format!("{}: {problem}", words.option)))
}

/// `slot`, `core`, `node` or `ppr:N:node`, each perhaps with `:oversubscribe` or `:nooversubscribe` behind it.
fn map_by(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    let text = words.text("`node`, `slot`, `core` or `ppr:N:node`")?;
    let lower = text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(':').collect();
    let modifiers = match parts[..] {
        ["slot" | "core" | "", ref rest @ ..] => rest,
        ["node", ref rest @ ..] => {
            job.hosts.order = Order::Nodes;
            rest
        }
        ["ppr", ranks, "node", ref rest @ ..] => {
            let ranks = number_of_ranks(ranks);
            job.hosts.per_host = Some(ranks.ok_or_else(|| unknown_mapping(words, &text))?);
            rest
        }
        _ => return Err(unknown_mapping(words, &text)),
    };
    for modifier in modifiers {
        match *modifier {
            "oversubscribe" => job.hosts.slots_are_limits = false,
            "nooversubscribe" => job.hosts.slots_are_limits = true,
            _ => return Err(unknown_mapping(words, &text)),
        }
    }
    Ok(())
}

fn unknown_mapping(words: &Words, text: &str) -> Usage {
    Usage(format!(
        "{} needs `node`, `slot`, `core` or `ppr:N:node`, not `{text}`",
        words.option
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_means_one_thing() {
        let mut seen = BTreeSet::new();
        for name in OPTIONS.iter().flat_map(|(names, _)| *names) {
            assert!(seen.insert(name), "{name} stands twice");
            assert!(
                super::super::foreign::meaning(name).is_none(),
                "{name} is also passed over"
            );
        }
    }
}
