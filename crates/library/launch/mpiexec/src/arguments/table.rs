//! The options, one table for all but those that stand for other words or in place of a job.

use super::foreign::{self, Foreign};
use super::hosts::Launcher;
use super::job::{Inherit, Job, Section};
use super::placement;
use super::usage::Usage;
use super::values::{
    assigned, check_architecture, exported, launcher, listed, number_of_ranks, seconds, soft_list,
    stdin, tell, trace, variable,
};
use super::words::Words;
use crate::binding::{Object, To};
use crate::hosts::{self, Order};
use std::ffi::OsString;
use weft_pools::Pools;

/// Names the network interfaces that ranks on different hosts are to use, separated by commas.
pub const INTERFACE_VARIABLE: &str = "WEFT_INTERFACE";

/// Has the library write a line for each packet: to this file, or to standard error.
const TRACE: &str = "WEFT_TRACE";

/// Names the file of prices by which ranks choose algorithms of collective operations, or says `built-in`.
const PRICES: &str = "WEFT_PRICES";
const BUILT_IN: &str = "built-in";

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

pub enum Meaning {
    Does(Action),
    /// It is another launcher's.
    Foreign(&'static Foreign),
}

/// What an option of this name means, if there is one.
pub fn find(name: &str) -> Option<Meaning> {
    let mut all = OPTIONS.iter();
    let found = all.find(|(names, _)| names.contains(&name));
    let does = found.map(|(_, action)| Meaning::Does(*action));
    does.or_else(|| foreign::find(name).map(Meaning::Foreign))
}

/// Each option's names, without dashes: ours first.
const OPTIONS: &[(&[&str], Action)] = &[
    (&["n", "np", "c", "ntasks"], |_, section, words| {
        number_section(section, words)
    }),
    (&["wdir", "wd", "chdir"], |_, section, words| {
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
    (&["set-env"], |_, section, words| {
        add(&mut section.environment, [assigned(words)?])
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
        let (text, hosts) = listed(words)?;
        tell(&mut section.info, "host", text.as_ref());
        add(section.hosts.get_or_insert_default(), hosts)
    }),
    (&["hosts"], |job, _, words| {
        add(job.hosts.listed.get_or_insert_default(), listed(words)?.1)
    }),
    (
        &[
            "f",
            "hostfile",
            "machinefile",
            "machine-file",
            "machine",
            "default-hostfile",
        ],
        |job, _, words| {
            add(
                job.hosts.listed.get_or_insert_default(),
                hosts_in_file(words)?,
            )
        },
    ),
    (
        &["ppn", "perhost", "N", "npernode", "grr", "ntasks-per-node"],
        |job, _, words| set(&mut job.hosts.per_host, ranks(words)),
    ),
    (&["pernode"], |job, _, _| {
        put(&mut job.hosts.per_host, Some(1))
    }),
    (&["rr", "bynode"], |job, _, _| {
        put(&mut job.hosts.order, Order::Nodes)
    }),
    (&["map-by"], |job, _, words| placement::map_by(job, words)),
    (&["npersocket", "ntasks-per-socket"], |job, _, words| {
        placement::per_socket(job, words)
    }),
    (&["ppr"], |job, _, words| {
        placement::per_resource(job, words)
    }),
    (&["bycore"], |job, _, _| {
        put(&mut job.options.binding.map, Some(Object::Core))
    }),
    (&["bysocket"], |job, _, _| {
        put(&mut job.options.binding.map, Some(Object::Package))
    }),
    (&["rank-by"], |job, _, words| placement::rank_by(job, words)),
    (
        &["cpus-per-rank", "cpus-per-proc", "cpus-per-task", "depth"],
        |job, _, words| placement::cpus_per_rank(job, words),
    ),
    (
        &["use-hwthread-cpus", "use-hwthreads-as-cpus"],
        |job, _, _| put(&mut job.options.binding.counts_threads, true),
    ),
    (&["cpu-set", "cpu-list"], |job, _, words| {
        placement::cpu_set(job, words)
    }),
    (&["nooversubscribe"], |job, _, _| {
        put(&mut job.hosts.slots_are_limits, true)
    }),
    (&["ssh"], |job, _, _| {
        put(&mut job.hosts.launcher, Some(Launcher::Ssh))
    }),
    (&["launcher", "bootstrap"], |job, _, words| {
        set(&mut job.hosts.launcher, chosen_launcher(words))
    }),
    (&["launcher-exec", "bootstrap-exec"], |job, _, words| {
        set(&mut job.hosts.launcher_program, words.value("a program"))
    }),
    (&["launch-timeout", "spawn-timeout"], |job, _, words| {
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
    (&["prices"], |job, _, words| {
        add(&mut job.environment, [(PRICES.into(), prices(words)?)])
    }),
    (&["trace"], |job, _, words| {
        add(&mut job.environment, [(TRACE.into(), trace(words)?)])
    }),
    (&["bind-to"], |job, _, words| placement::bind_to(job, words)),
    (&["bind-to-core"], |job, _, _| {
        put(&mut job.options.binding.to, To::Objects(Object::Core, 1))
    }),
    (&["bind-to-socket"], |job, _, _| {
        put(&mut job.options.binding.to, To::Objects(Object::Package, 1))
    }),
    (&["bind-to-none"], |job, _, _| {
        put(&mut job.options.binding.to, To::None)
    }),
    (&["report-bindings"], |job, _, _| {
        put(&mut job.options.report_bindings, true)
    }),
    (&["enable-recovery", "disable-auto-cleanup"], |job, _, _| {
        put(&mut job.options.recovery, true)
    }),
    (&["disable-recovery"], |job, _, _| {
        put(&mut job.options.recovery, false)
    }),
    (&["with-ft"], |job, _, words| {
        let kind = words.parsed("ulfm or none", |text| {
            ["ulfm", "mpi", "none", "no", "0", "false"]
                .contains(&text)
                .then(|| text.to_owned())
        })?;
        put(&mut job.options.recovery, kind == "ulfm" || kind == "mpi")
    }),
    (
        &["display-map", "display-devel-map", "display-diffable-map"],
        |job, _, _| put(&mut job.show.map, true),
    ),
    (
        &[
            "display-allocation",
            "display-devel-allocation",
            "print-rank-map",
        ],
        |job, _, _| put(&mut job.show.allocation, true),
    ),
    (&["display-topo"], |job, _, _| {
        put(&mut job.show.topology, true)
    }),
    (&["display"], |job, _, words| placement::display(job, words)),
    (&["stdin", "s"], |job, _, words| {
        put(
            &mut job.options.stdin,
            words.parsed("a rank, `all` or `none`", stdin)?,
        )
    }),
    (
        &["l", "prefix-output", "tag-output", "prepend-rank", "label"],
        |job, _, _| put(&mut job.options.prefix_output, true),
    ),
    (&["merge-stderr-to-stdout"], |job, _, _| {
        put(&mut job.options.merge_output, true)
    }),
    (&["output"], |job, _, words| placement::output(job, words)),
    (&["forward-signals"], |_, _, words| {
        placement::forward_signals(words)
    }),
    (&["output-dir", "output-directory"], |job, _, words| {
        set(
            &mut job.output_directory,
            words.value("a directory").map(Into::into),
        )
    }),
    (&["dry-run", "do-not-launch", "show"], |job, _, _| {
        put(&mut job.dry_run, true)
    }),
    (&["v", "verbose"], |job, _, _| {
        put(&mut job.options.verbose, true)
    }),
    // They only have to be right (MPI-5.0 §11.8.1).
    (&["arch"], |_, _, words| {
        check_architecture(&words.text("an architecture")?)
    }),
    (&["soft"], |_, section, words| {
        let text = words.parsed("a list of numbers or ranges, as 1,2:8:2", |text| {
            soft_list(text).then(|| text.to_owned())
        })?;
        tell(&mut section.info, "soft", text.as_ref());
        Ok(())
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

/// Two numbers would leave ranks out without a word: `-c` is the number of ranks with Open MPI, and CPUs for each with srun.
fn number_section(section: &mut Section, words: &mut Words) -> Result<(), Usage> {
    let number = ranks(words)?;
    match section.ranks.replace(number) {
        Some(other) if other != number => Err(Usage(format!(
            "{} {number}: {other} ranks are asked for, too; --cpus-per-rank N says how many CPUs each has",
            words.option
        ))),
        _ => Ok(()),
    }
}

fn names(words: &mut Words) -> Result<Vec<OsString>, Usage> {
    let names = words.text("names separated by commas")?;
    Ok(names.split(',').map(OsString::from).collect())
}

fn one_of(words: &mut Words, what: &str, names: &[&str]) -> Result<OsString, Usage> {
    words.parsed(what, |text| names.contains(&text).then(|| text.into()))
}

/// A file from wherever its reader starts.
fn prices(words: &mut Words) -> Result<OsString, Usage> {
    let file = words.value("a file of prices, or `built-in`")?;
    if file == BUILT_IN {
        return Ok(file);
    }
    let path = std::path::absolute(&file);
    let path = path.map_err(|why| Usage(format!("{}: {why}", words.option)))?;
    Ok(path.into_os_string())
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
                foreign::find(name).is_none(),
                "{name} is also another launcher's"
            );
        }
    }

    #[test]
    fn help_names_every_option() {
        let words = crate::arguments::HELP
            .lines()
            .filter(|line| line.starts_with("  -"))
            .flat_map(|line| line.split([' ', ',']))
            .filter_map(|word| Some(word.strip_prefix('-')?.trim_start_matches('-')))
            .map(|word| word.split(['=', '[']).next().unwrap_or_default());
        let described: BTreeSet<&str> = words.collect();
        let is_described = |names: &&[&str]| names.iter().any(|name| described.contains(name));
        let rows = OPTIONS.iter().map(|(names, _)| *names);
        let others: Vec<&str> = rows
            .filter(|names| !is_described(names))
            .map(|names| names[0])
            .collect();
        // Spellings of other launchers for what has another name here.
        let known = "set-env genvall pernode rr npersocket ppr bycore bysocket ssh bind-to-core bind-to-socket \
                     bind-to-none disable-recovery with-ft display-map display-allocation display-topo output \
                     forward-signals";
        assert_eq!(others, known.split_whitespace().collect::<Vec<_>>());
    }
}
