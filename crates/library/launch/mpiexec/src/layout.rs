//! How many ranks there are and which host each runs on: decided from the command line and the environment before
//! anything starts.

use crate::arguments::{Application, Job, Launcher, Stdin, Usage};
use crate::binding::{self, RankBy};
use crate::hosts::{self, Here, Host, Placer};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write;

const RANKS_MAX: u64 = 1_000_000;

/// Of a job on this machine alone that is not told how many ranks a host gets.
const SLOTS_UNLIMITED: u32 = u32::MAX;

#[derive(Debug)]
pub struct Layout {
    /// Hosts that have ranks, in the order of their first ranks.
    pub hosts: Vec<NamedHost>,
    /// Index of each rank's host.
    pub host_of: Vec<u32>,
    /// Ranks of each application.
    pub ranks: Vec<u32>,
    pub launcher: Launcher,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHost {
    pub name: String,
    /// It is this machine.
    pub is_here: bool,
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The hosts of programs that name none themselves.
struct Base {
    hosts: Vec<Host>,
    /// Somebody has named them; else they are this machine.
    is_told: bool,
}

impl Layout {
    pub fn new(job: &Job, here: &Here, variable: Variables) -> Result<Layout, Usage> {
        let base = base(job, here, variable)?;
        let ranks = count_ranks(job, &base)?;
        check_stdin(
            job.options.stdin,
            ranks.iter().map(|&ranks| u64::from(ranks)).sum(),
        )?;
        let mut layout = Layout {
            hosts: Vec::new(),
            host_of: Vec::new(),
            ranks,
            launcher: launcher(job, variable)?,
        };
        layout.place(job, &base, here)?;
        Ok(layout)
    }

    pub fn size(&self) -> u32 {
        self.host_of.len() as u32
    }

    /// Every rank is on this machine.
    pub fn is_here_alone(&self) -> bool {
        matches!(&self.hosts[..], [only] if only.is_here)
    }

    /// A line for each host with its ranks.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (host, runs) in self.hosts.iter().zip(self.runs_of()) {
            let ranks = runs.iter().flat_map(|&(first, count)| first..first + count);
            let ranks = binding::show_runs(&ranks.collect::<Vec<u32>>());
            let _ = writeln!(text, "host {}: ranks {ranks}", host.name);
        }
        text
    }

    /// The ranks of a host as first rank and count of each unbroken run.
    pub fn runs_of(&self) -> Vec<Vec<(u32, u32)>> {
        let mut runs = vec![Vec::new(); self.hosts.len()];
        let mut first = 0;
        for run in self.host_of.chunk_by(|a, b| a == b) {
            runs[run[0] as usize].push((first, run.len() as u32));
            first += run.len() as u32;
        }
        runs
    }

    fn place(&mut self, job: &Job, base: &Base, here: &Here) -> Result<(), Usage> {
        let mut index_of = HashMap::new();
        let mut shared = Placer::new(&base.hosts, job.hosts.order);
        for (number, application) in job.applications.iter().enumerate() {
            let own = match &application.hosts {
                Some(hosts) => Some(own_hosts(job, hosts, base, here)?),
                None => None,
            };
            let hosts = own.as_ref().unwrap_or(&base.hosts);
            let mut own_placer = Placer::new(hosts, job.hosts.order);
            let first = self.host_of.len();
            for _ in 0..self.ranks[number] {
                let at = match own {
                    Some(_) => own_placer.next(),
                    None => shared.next(),
                };
                let at = at.ok_or_else(|| too_many(hosts))?;
                let name = &hosts[at].name;
                let index = *index_of.entry(name.clone()).or_insert_with(|| {
                    self.hosts.push(NamedHost {
                        name: name.clone(),
                        is_here: here.is(name),
                    });
                    self.hosts.len() as u32 - 1
                });
                self.host_of.push(index);
            }
            if let Some(rank_by) = job.options.binding.rank_by {
                renumber(&mut self.host_of[first..], rank_by);
            }
        }
        Ok(())
    }
}

/// Numbers the places of a program's ranks anew: host after host, or one of each host in turn.
fn renumber(host_of: &mut [u32], rank_by: RankBy) {
    host_of.sort_unstable();
    if rank_by == RankBy::Node {
        let hosts: Vec<&[u32]> = host_of.chunk_by(|a, b| a == b).collect();
        let mut turns: Vec<(usize, u32)> = Vec::with_capacity(host_of.len());
        for host in hosts {
            turns.extend(host.iter().copied().enumerate());
        }
        turns.sort_unstable();
        for (place, (_, host)) in host_of.iter_mut().zip(turns) {
            *place = host;
        }
    }
}

fn base(job: &Job, here: &Here, variable: Variables) -> Result<Base, Usage> {
    let hosts = match &job.hosts.listed {
        Some(listed) => listed.clone(),
        None => match hosts::from_environment(variable).map_err(Usage)? {
            Some(found) => found.hosts,
            None => {
                let slots = job.hosts.per_host.or(Some(SLOTS_UNLIMITED));
                let only = Host::new(here.name(), slots).or_else(|| Host::new("localhost", slots));
                return Ok(Base {
                    hosts: only.into_iter().collect(),
                    is_told: false,
                });
            }
        },
    };
    Ok(Base {
        hosts: settle(job, hosts, here),
        is_told: true,
    })
}

/// Each host once, this machine by its own name, with the slots that hold.
fn settle(job: &Job, mut hosts: Vec<Host>, here: &Here) -> Vec<Host> {
    for host in hosts.iter_mut().filter(|host| here.is(&host.name)) {
        host.name = here.name().to_owned();
    }
    let mut hosts = hosts::merge(hosts);
    for host in &mut hosts {
        host.slots = job.hosts.per_host.or(host.slots);
        if job.hosts.slots_are_limits {
            host.max_slots = Some(host.slots().min(host.max_slots.unwrap_or(u32::MAX)));
        }
    }
    hosts
}

/// The hosts of a program's own `-host`: where a list stands beside it, some of that list's, with its slots.
fn own_hosts(job: &Job, named: &[Host], base: &Base, here: &Here) -> Result<Vec<Host>, Usage> {
    let mut hosts = hosts::merge(named.to_vec());
    for host in hosts.iter_mut().filter(|_| job.hosts.listed.is_some()) {
        let is_here = here.is(&host.name);
        let same =
            |other: &&Host| other.name == host.name || (is_here && other.name == here.name());
        let listed = base.hosts.iter().find(same);
        let listed = listed.ok_or_else(|| {
            Usage(format!(
                "-host {}: the list of hosts given beside it does not have this one",
                host.name
            ))
        })?;
        host.slots = host.slots.or(listed.slots);
        host.max_slots = listed.max_slots;
    }
    Ok(settle(job, hosts, here))
}

/// Where no number is given: one rank, or as many as a lone program's hosts have slots.
fn count_ranks(job: &Job, base: &Base) -> Result<Vec<u32>, Usage> {
    let slots = |application: &Application| -> u64 {
        let hosts = application.hosts.as_ref();
        let each = |host: &Host| u64::from(job.hosts.per_host.unwrap_or(host.slots()));
        match hosts.filter(|_| job.hosts.listed.is_none()) {
            Some(own) => own.iter().map(each).sum(),
            None if base.is_told || job.hosts.per_host.is_some() => {
                base.hosts.iter().map(each).sum()
            }
            None => 1,
        }
    };
    let alone = job.applications.len() == 1;
    let count = |application: &Application| match application.ranks {
        Some(ranks) => u64::from(ranks),
        None if alone => slots(application),
        None => 1,
    };
    let ranks: Vec<u64> = job.applications.iter().map(count).collect();
    let size: u64 = ranks.iter().sum();
    if size > RANKS_MAX {
        return Err(Usage(format!(
            "{size} ranks are more than the {RANKS_MAX} that a job may have"
        )));
    }
    Ok(ranks.into_iter().map(|ranks| ranks as u32).collect())
}

fn check_stdin(stdin: Stdin, size: u64) -> Result<(), Usage> {
    match stdin {
        Stdin::Rank(rank) if u64::from(rank) >= size => Err(Usage(format!(
            "--stdin {rank}: there are only ranks 0 to {}",
            size - 1
        ))),
        _ => Ok(()),
    }
}

fn too_many(hosts: &[Host]) -> Usage {
    let room: u64 = hosts
        .iter()
        .map(|host| u64::from(host.max_slots.unwrap_or_default()))
        .sum();
    Usage(format!(
        "the hosts take {room} ranks at most (max_slots, or --nooversubscribe), and the job has more"
    ))
}

/// Within a Slurm job, srun reaches its hosts.
fn launcher(job: &Job, variable: Variables) -> Result<Launcher, Usage> {
    if let Some(launcher) = job.hosts.launcher {
        return Ok(launcher);
    }
    match variable("HYDRA_LAUNCHER")
        .as_ref()
        .map(|name| name.to_string_lossy())
        .as_deref()
    {
        Some("ssh") => Ok(Launcher::Ssh),
        Some("slurm") => Ok(Launcher::Slurm),
        Some("fork") => Ok(Launcher::Fork),
        Some(other) => Err(Usage(format!(
            "HYDRA_LAUNCHER: `{other}` is none of `ssh`, `slurm` and `fork`"
        ))),
        None if variable("SLURM_JOB_ID").is_some() => Ok(Launcher::Slurm),
        None => Ok(Launcher::Ssh),
    }
}

#[cfg(test)]
mod tests;
