//! Hosts that the environment tells: a batch system's allocation, or a host file named by a variable.

use super::file;
use super::host::{Host, merge};
use super::{list, nodelist};
use std::ffi::OsString;
use std::path::Path;

/// Hosts, and who has told them.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub hosts: Vec<Host>,
    pub source: &'static str,
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;
type Reader = fn(Variables) -> Result<Option<Found>, String>;

/// The first of `HYDRA_HOST_FILE`, Slurm, PBS and LSF that says anything. What is there and cannot be used is an error.
pub fn from_environment(variable: Variables) -> Result<Option<Found>, String> {
    for read in [hydra as Reader, slurm, pbs, lsf] {
        if let Some(found) = read(variable)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn found(source: &'static str, hosts: Vec<Host>) -> Result<Option<Found>, String> {
    let hosts = merge(hosts);
    Ok(Some(Found { hosts, source }))
}

fn named_file(variable: Variables, source: &'static str) -> Result<Option<Found>, String> {
    let Some(path) = variable(source) else {
        return Ok(None);
    };
    let hosts = file::read(Path::new(&path)).map_err(|problem| format!("{source}: {problem}"))?;
    found(source, hosts)
}

/// A variable that holds names and numbers; what else it holds makes it unusable, and is shown as far as it can be.
fn text_of(variable: Variables, name: &str) -> Option<String> {
    variable(name).map(|text| text.to_string_lossy().into_owned())
}

fn hydra(variable: Variables) -> Result<Option<Found>, String> {
    named_file(variable, "HYDRA_HOST_FILE")
}

/// A name a line, as often as the host has slots.
fn pbs(variable: Variables) -> Result<Option<Found>, String> {
    named_file(variable, "PBS_NODEFILE")
}

fn slurm(variable: Variables) -> Result<Option<Found>, String> {
    const LIST: &str = "SLURM_JOB_NODELIST";
    let Some(text) = text_of(variable, LIST) else {
        return Ok(None);
    };
    let names =
        nodelist::expand(&text).ok_or_else(|| format!("{LIST}: `{text}` is no list of hosts"))?;
    let mut slots = None;
    // Within a step, the tasks are the step's, which may run on fewer hosts than the job has.
    for name in ["SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"] {
        let Some(text) = text_of(variable, name).filter(|_| slots.is_none()) else {
            continue;
        };
        let counts = nodelist::expand_counts(&text)
            .ok_or_else(|| format!("{name}: `{text}` is no list of numbers"))?;
        slots = Some(counts).filter(|counts| counts.len() == names.len());
    }
    let slots = slots.unwrap_or_else(|| vec![1; names.len()]);
    let hosts = names.iter().zip(slots).map(|(name, slots)| {
        Host::new(name, Some(slots)).ok_or_else(|| format!("{LIST}: `{name}` is no host's name"))
    });
    found(LIST, hosts.collect::<Result<_, _>>()?)
}

fn lsf(variable: Variables) -> Result<Option<Found>, String> {
    if let Some(text) = text_of(variable, "LSB_MCPU_HOSTS") {
        let wrong = || format!("LSB_MCPU_HOSTS: `{text}` is no list of hosts and numbers");
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let hosts = words.chunks(2).map(|pair| match pair {
            [name, slots] => Host::new(name, Some(list::parse_slots(slots)?)),
            _ => None,
        });
        let hosts: Vec<Host> = hosts.collect::<Option<_>>().ok_or_else(wrong)?;
        return if hosts.is_empty() {
            Err(wrong())
        } else {
            found("LSB_MCPU_HOSTS", hosts)
        };
    }
    let Some(text) = text_of(variable, "LSB_HOSTS") else {
        return Ok(None);
    };
    let wrong = || format!("LSB_HOSTS: `{text}` is no list of hosts");
    let hosts = text
        .split_ascii_whitespace()
        .map(|name| Host::new(name, Some(1)));
    let hosts: Vec<Host> = hosts.collect::<Option<_>>().ok_or_else(wrong)?;
    if hosts.is_empty() {
        Err(wrong())
    } else {
        found("LSB_HOSTS", hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Option<Found>, String> {
        from_environment(&|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn shown(set: &[(&str, &str)]) -> String {
        let found = read(set).unwrap().unwrap();
        let hosts = found
            .hosts
            .iter()
            .map(|host| format!("{}:{}", host.name, host.slots()));
        format!("{} {}", found.source, hosts.collect::<Vec<_>>().join(","))
    }

    #[test]
    fn reads_what_batch_systems_set() {
        let slurm = ("SLURM_JOB_NODELIST", "n[1-3]");
        let cpus = ("SLURM_JOB_CPUS_PER_NODE", "8(x3)");
        assert_eq!(
            shown(&[slurm, ("SLURM_TASKS_PER_NODE", "2(x2),1")]),
            "SLURM_JOB_NODELIST n1:2,n2:2,n3:1"
        );
        assert_eq!(
            shown(&[slurm, ("SLURM_TASKS_PER_NODE", "1"), cpus]),
            "SLURM_JOB_NODELIST n1:8,n2:8,n3:8"
        );
        assert_eq!(shown(&[slurm]), "SLURM_JOB_NODELIST n1:1,n2:1,n3:1");
        assert_eq!(
            shown(&[("LSB_MCPU_HOSTS", "a 2 b 4 "), ("LSB_HOSTS", "x")]),
            "LSB_MCPU_HOSTS a:2,b:4"
        );
        assert_eq!(shown(&[("LSB_HOSTS", "a a b")]), "LSB_HOSTS a:2,b:1");
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn what_is_there_and_cannot_be_used_is_an_error() {
        for (name, value) in [
            ("SLURM_JOB_NODELIST", "n[1-"),
            ("SLURM_JOB_NODELIST", ""),
            ("SLURM_JOB_NODELIST", "-n"),
            ("LSB_MCPU_HOSTS", "a 2 b"),
            ("LSB_MCPU_HOSTS", "a 0"),
            ("LSB_HOSTS", " "),
            ("PBS_NODEFILE", "/nonexistent"),
            ("HYDRA_HOST_FILE", "/nonexistent"),
        ] {
            let problem = read(&[(name, value)]).unwrap_err();
            assert!(problem.starts_with(&format!("{name}: ")), "{problem}");
        }
        let tasks = [("SLURM_JOB_NODELIST", "a"), ("SLURM_TASKS_PER_NODE", "x")];
        assert!(
            read(&tasks)
                .unwrap_err()
                .starts_with("SLURM_TASKS_PER_NODE: ")
        );
    }
}
