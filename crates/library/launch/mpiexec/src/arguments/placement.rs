//! Options about placement: their values, as users of MPICH, Intel MPI and Open MPI write them.

use super::job::Job;
use super::usage::{Usage, usage};
use super::values::number_of_ranks;
use super::words::Words;
use crate::binding::{Object, RankBy, To, parse_cpus};
use crate::hosts::Order;

const BIND_TO: &str = "`none`, `core`, `hwthread`, `l1cache`, `l2cache`, `l3cache`, `numa`, `socket` or `machine`, \
                       perhaps with `:N`, or `user:LIST`";
const MAP_BY: &str = "`slot`, `node`, `core`, `hwthread`, `l1cache`, `l2cache`, `l3cache`, `numa`, `socket`, \
                      `ppr:N:node` or `ppr:N:` one of these, perhaps with `:PE=N` behind it";
const RANK_BY: &str = "`slot`, `node`, `fill`, `span`, `core`, `numa`, `socket` or the like";

pub fn bind_to(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    job.options.binding.to =
        words.parsed(BIND_TO, |text| parse_target(&text.to_ascii_lowercase()))?;
    Ok(())
}

fn parse_target(text: &str) -> Option<To> {
    let (name, qualifiers) = text.split_once(':').unwrap_or((text, ""));
    match name {
        "user" => return parse_lists(qualifiers).map(To::Lists),
        "none" => return qualifiers.is_empty().then_some(To::None),
        "rr" => return qualifiers.is_empty().then_some(To::Each),
        _ => {}
    }
    let object = Object::parse(name)?;
    let mut count = 1;
    for qualifier in qualifiers.split(':').filter(|_| !qualifiers.is_empty()) {
        match qualifier {
            // Objects may have more ranks than CPUs in any case, and what cannot be bound says so.
            "overload-allowed" | "overload" | "if-supported" => {}
            number => count = number_of_ranks(number)?,
        }
    }
    Some(To::Objects(object, count))
}

/// `0+2,1+3`: CPUs of the first rank, of the second.
fn parse_lists(text: &str) -> Option<Vec<Vec<u32>>> {
    text.split(',')
        .map(|list| parse_cpus(&list.replace('+', ",")))
        .collect()
}

pub fn map_by(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    let text = words.text(MAP_BY)?;
    map_as(job, words, &text)
}

/// `--ppr 2:socket`
pub fn per_resource(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    let text = words.text("a number and an object, as 2:socket")?;
    map_as(job, words, &format!("ppr:{text}"))
}

pub fn per_socket(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    let count = words.parsed("a number of ranks, at least 1", number_of_ranks)?;
    map_as(job, words, &format!("ppr:{count}:socket"))
}

fn map_as(job: &mut Job, words: &Words, text: &str) -> Result<(), Usage> {
    let lower = text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(':').collect();
    let wrong = || Usage(format!("{} needs {MAP_BY}, not `{text}`", words.option));
    let modifiers = match parts[..] {
        ["slot" | "", ref rest @ ..] => rest,
        ["node", ref rest @ ..] => {
            job.hosts.order = Order::Nodes;
            rest
        }
        ["ppr", count, "node", ref rest @ ..] => {
            job.hosts.per_host = Some(number_of_ranks(count).ok_or_else(wrong)?);
            rest
        }
        ["ppr", count, object, ref rest @ ..] => {
            job.options.binding.per_object = Some(number_of_ranks(count).ok_or_else(wrong)?);
            job.options.binding.map = Some(Object::parse(object).ok_or_else(wrong)?);
            rest
        }
        [list, ref rest @ ..] if list.starts_with("pe-list=") => {
            let cpus = list
                .strip_prefix("pe-list=")
                .and_then(parse_cpus)
                .ok_or_else(wrong)?;
            job.options.binding.to = match rest.contains(&"ordered") {
                true => To::Lists(cpus.into_iter().map(|cpu| vec![cpu]).collect()),
                false => To::Lists(vec![cpus]),
            };
            rest
        }
        ["seq" | "rankfile" | "dist", ..] => {
            return usage(format!(
                "{}: `{text}` has no like here: -hosts a:2,b and -bind-to user:0,1 say where each rank goes",
                words.option
            ));
        }
        [object, ref rest @ ..] => {
            job.options.binding.map = Some(Object::parse(object).ok_or_else(wrong)?);
            rest
        }
        [] => return Err(wrong()),
    };
    modifiers
        .iter()
        .try_for_each(|modifier| modify(job, modifier).ok_or_else(wrong))
}

/// What stands behind a mapping.
fn modify(job: &mut Job, modifier: &str) -> Option<()> {
    match modifier {
        "oversubscribe" => job.hosts.slots_are_limits = false,
        "nooversubscribe" => job.hosts.slots_are_limits = true,
        "hwtcpus" => job.options.binding.counts_threads = true,
        "span" => job.options.binding.spans_hosts = true,
        // So here in any case.
        "corecpus" | "inherit" | "noinherit" | "ordered" => {}
        _ => {
            let count = modifier.strip_prefix("pe=").unwrap_or(modifier);
            job.options.binding.cpus_per_rank = Some(number_of_ranks(count)?);
        }
    }
    Some(())
}

pub fn rank_by(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    job.options.binding.rank_by = words.parsed(RANK_BY, |text| {
        Some(Some(match text.to_ascii_lowercase().as_str() {
            "slot" | "fill" | "core" | "hwthread" => RankBy::Fill,
            "node" => RankBy::Node,
            "span" => return Some(None),
            object => RankBy::Objects(Object::parse(object)?),
        }))
    })?;
    Ok(())
}

pub fn cpus_per_rank(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    job.options.binding.cpus_per_rank =
        Some(words.parsed("a number of CPUs, at least 1", number_of_ranks)?);
    Ok(())
}

pub fn cpu_set(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    job.options.binding.within = Some(words.parsed("CPUs, as 0-3,8", parse_cpus)?);
    Ok(())
}

/// A list of what is to be printed before the job starts.
pub fn display(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    const WHAT: &str = "`map`, `allocation`, `bindings` or `topo`, separated by commas";
    let text = words.text(WHAT)?.to_ascii_lowercase();
    for item in text.split(',') {
        match item.split_once('=').map_or(item, |(name, _)| name) {
            "map" | "map-devel" => job.show.map = true,
            "allocation" | "alloc" | "allocation-devel" => job.show.allocation = true,
            "bind" | "bindings" => job.options.report_bindings = true,
            "topo" | "topology" => job.show.topology = true,
            _ => return usage(format!("{} needs {WHAT}, not `{text}`", words.option)),
        }
    }
    Ok(())
}

/// Open MPI's list of what becomes of output.
pub fn output(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    const WHAT: &str = "`tag`, `merge` or `dir=DIR`, separated by commas";
    let text = words.text(WHAT)?;
    for item in text.split(',') {
        match item.split_once('=').unwrap_or((item, "")) {
            ("tag" | "rank", "") => job.options.prefix_output = true,
            ("merge" | "merge-stderr-to-stdout", "") => job.options.merge_output = true,
            ("dir" | "directory", directory) if !directory.is_empty() => {
                job.output_directory = Some(directory.into());
            }
            _ => return usage(format!("{} needs {WHAT}, not `{text}`", words.option)),
        }
    }
    Ok(())
}

/// mpiexec passes these on to every rank.
const FORWARDED: [&str; 7] = ["INT", "TERM", "HUP", "QUIT", "USR1", "TSTP", "CONT"];

/// Names or numbers of signals, of those that are passed on in any case.
pub fn forward_signals(words: &mut Words) -> Result<(), Usage> {
    let text = words.text("names of signals")?;
    let upper = text.to_ascii_uppercase();
    let numbers = [2, 15, 1, 3, 10, 20, 18];
    let is_forwarded = |signal: &str| {
        let name = signal.strip_prefix("SIG").unwrap_or(signal);
        let number = signal
            .parse::<i32>()
            .is_ok_and(|number| numbers.contains(&number));
        number || FORWARDED.contains(&name)
    };
    match upper.split(',').find(|signal| !is_forwarded(signal)) {
        Some(signal) => usage(format!(
            "{}: {signal} cannot be passed on; {} go to every rank in any case",
            words.option,
            FORWARDED.join(", ")
        )),
        None => Ok(()),
    }
}
