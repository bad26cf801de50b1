//! How a process learns its place in a job and exchanges addresses with its peers.
//!
//! Three ways, tried in this order by [`connect`]:
//! 1. **PMI-1** when `PMI_FD` or `PMI_PORT` is set: our own mpiexec, Hydra (MPICH, Intel MPI), Slurm with `--mpi=pmi2`;
//! 2. **PMIx** when `PMIX_RANK` is set: PRRTE and Open MPI's mpiexec, Slurm with `--mpi=pmix`;
//! 3. otherwise a **single process**.
//!
//! Variables that are present but cannot be used are an error, never a silent rank 0 of 1.
//!
//! Each process publishes one *card*, a short text that says how to reach it, and joins one fence; after that any thread
//! may read any peer's card, at the moment the peer is first needed: start-up exchanges nothing between all pairs.

#![deny(unsafe_code)]

mod card;
mod cores;
mod error;
mod fence;
#[allow(unsafe_code)]
mod ffi;
mod host;
mod hosts;
mod job;
mod mapping;
pub mod pmi1;
mod pmix;
mod sharing;
mod single;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cores::Cores;
use sharing::{HostFacts, Sharing};

pub use error::{Error, Result};
pub use ffi::at_exit;
pub use hosts::Hosts;
pub use job::{Job, Launcher};
pub use mapping::Mapping;

/// How long an abort waits until the launcher has read what this process has written. Reading takes microseconds; a
/// launcher that does not read must not keep the job alive.
const ABORT_DRAIN: Duration = Duration::from_millis(500);
/// How long a process that has called for the end of its job waits for its own.
const ABORT_LINGER: Duration = Duration::from_secs(1);

/// The facts that ranks tell beside their cards: the first of a host of it, and the first of the job of all hosts.
const HOST: &str = "facts";
const VERDICT: &str = "verdict";
/// The name under which stands what the first process of a job announces, if it does. That may be as long as a card.
const ANNOUNCEMENT: &str = "announcement";

/// The names under which a rank's first card stands, and the one in its place.
const CARDS: [&str; 2] = ["card", "newcard"];

/// What is agreed about the cores of a job's hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCores {
    /// How many the ranks of this host share.
    pub here: u32,
    /// Whether any host of the job has more ranks than cores: what an algorithm is chosen by, which all ranks choose alike.
    pub oversubscribed: bool,
}

/// What the ranks of a job have found out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    pub cores: HostCores,
    /// Where not all ranks of a host share memory: the job with those that do as hosts of their own.
    pub apart: Option<Job>,
    /// The text that the first process has announced.
    pub announcement: Option<String>,
}

/// The facts of all hosts.
#[derive(Clone, Copy)]
struct Verdict {
    oversubscribed: bool,
    is_apart: bool,
    is_announced: bool,
}

impl Verdict {
    fn number(self) -> u32 {
        u32::from(self.oversubscribed)
            + 2 * u32::from(self.is_apart)
            + 4 * u32::from(self.is_announced)
    }

    /// Reads what was told.
    fn parse(text: &str) -> Option<Verdict> {
        let number = text.parse::<u32>().ok().filter(|number| *number < 8)?;
        Some(Verdict {
            oversubscribed: number & 1 != 0,
            is_apart: number & 2 != 0,
            is_announced: number & 4 != 0,
        })
    }
}

/// The connection to the launcher. One per process: it takes over the inherited socket.
///
/// Every method may be called from any thread; calls other than [`Bootstrap::abort`] take turns.
pub struct Bootstrap {
    job: Job,
    exchange: Exchange,
    /// Which of [`CARDS`] counts: the second once this process, as all others, has published that. Written between two fences; no
    /// other memory depends on it.
    edition: AtomicUsize,
}

enum Exchange {
    Pmi1(pmi1::Client),
    Pmix(Box<pmix::Client>),
    Single(single::Single),
}

/// Finds the launcher and learns this process's place. Call once per process.
pub fn connect() -> Result<Bootstrap> {
    let variable = |name: &str| std::env::var(name).ok();
    if variable("PMI_FD").is_some() || variable("PMI_PORT").is_some() {
        let (client, job) = pmi1::Client::connect(&variable)?;
        return Ok(Bootstrap::new(job, Exchange::Pmi1(client)));
    }
    if variable("PMIX_RANK").is_some() {
        let (client, job) = pmix::Client::connect(&variable)?;
        return Ok(Bootstrap::new(job, Exchange::Pmix(Box::new(client))));
    }
    single::refuse_unusable_launcher(&variable)?;
    let (single, job) = single::Single::new();
    Ok(Bootstrap::new(job, Exchange::Single(single)))
}

/// How many ranks there are, where the launcher says so in a variable, before [`connect`] asks it.
pub fn announced_size() -> Option<u32> {
    announced_size_in(&|name: &str| std::env::var(name).ok())
}

fn announced_size_in(variable: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    if variable("PMI_FD").is_some() {
        return variable("PMI_SIZE")?.parse().ok();
    }
    let asked = ["PMI_PORT", "PMIX_RANK"]
        .into_iter()
        .any(|name| variable(name).is_some());
    (!asked).then_some(1)
}

/// What `mpiexec` tells of the options that this process's program was started with, by the keys of MPI-5.0 §11.2.1: `maxprocs`, `soft`,
/// `host` and `file`, where they were given. Known before [`connect`], too; empty under another launcher.
pub fn program_options() -> Vec<(String, Vec<u8>)> {
    program_options_in(&|name: &str| std::env::var_os(name))
}

fn program_options_in(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, Vec<u8>)> {
    // A launcher of PMIx or `PMI_PORT` that mpiexec has started hands the variable on, where it is not true.
    let told = variable("PMI_FD").and_then(|_| variable("WEFT_PROGRAM"));
    let told = told.unwrap_or_default();
    let items = told.as_bytes().split(|&byte| byte == b';');
    let pair = |item: &[u8]| {
        let end = item.iter().position(|&byte| byte == b'=')?;
        let key = std::str::from_utf8(&item[..end]).ok()?;
        let is_known = ["maxprocs", "soft", "host", "file"].contains(&key);
        is_known.then(|| (key.to_owned(), item[end + 1..].to_vec()))
    };
    items.filter_map(pair).collect()
}

impl Bootstrap {
    fn new(job: Job, exchange: Exchange) -> Bootstrap {
        Bootstrap {
            job,
            exchange,
            edition: AtomicUsize::new(0),
        }
    }

    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The ranks on this host in ascending order, this one included.
    pub fn peers_on_this_host(&self) -> &[u32] {
        &self.job.local_ranks
    }

    /// Makes this process's card readable by its peers once all have joined a [`fence`](Bootstrap::fence). The card is
    /// printable ASCII without spaces, of any length.
    pub fn publish(&self, card: &str) -> Result<()> {
        card::check(card)?;
        let cores = match self.job.host_cores {
            Some(_) => Cores::default(),
            None => Cores::of_this_process(),
        };
        let card = cores.on(card);
        match &self.exchange {
            Exchange::Pmi1(client) => client.publish(self.card_name(), self.job.rank, &card),
            Exchange::Pmix(client) => client.tell(self.card_name(), &card),
            Exchange::Single(single) => single.publish(&card),
        }
    }

    /// The same, in place of the card that was published: all ranks of the job do so, once, and join a fence.
    pub fn publish_anew(&self, card: &str) -> Result<()> {
        self.edition.store(1, Ordering::Relaxed);
        self.publish(card)
    }

    fn card_name(&self) -> &'static str {
        CARDS[self.edition.load(Ordering::Relaxed)]
    }

    /// What the ranks find out together: how many cores each host has, which ranks of it share memory, and what the
    /// first rank of the job announces; it is that rank alone that is given something here, printable as a card is.
    /// The same answer on all of a host, whatever each is bound to, and the same verdict on all of the job. All ranks
    /// of the job call it, once, after the [`fence`](Bootstrap::fence) that follows [`publish`](Bootstrap::publish).
    ///
    /// The first rank of each host reads the cards of its host, has `groups` find out from them who shares memory with whom (a number
    /// for each, alike for those that do), and publishes what they come to, which the others read after one more fence. So it takes
    /// two questions a rank, where reading all cards everywhere would take as many as the square of a host's ranks, and every
    /// rank has the answer from one line: ranks that found out by themselves could differ, and would then choose
    /// unlike algorithms for one operation. The verdict on several hosts is the first rank's, who reads one line a host, many in a line from
    /// our own launcher.
    pub fn agree(
        &self,
        groups: &dyn Fn(&[String]) -> Vec<u32>,
        announcement: Option<String>,
    ) -> Result<Agreed> {
        let job = &self.job;
        if job.size == 1 {
            let cores = job.host_cores.map(|cores| cores.max(1));
            let here = cores.unwrap_or_else(|| Cores::of_this_process().count());
            let cores = HostCores {
                here,
                oversubscribed: false,
            };
            return Ok(Agreed {
                cores,
                apart: None,
                announcement,
            });
        }
        let first = job.local_ranks[0];
        if job.rank == first {
            let facts = HostFacts {
                announces: announcement.is_some(),
                ..self.facts_of_this_host(groups)?
            };
            self.tell(HOST, &facts.to_string())?;
        }
        if let Some(announcement) = &announcement {
            self.announce(announcement)?;
        }
        self.fence()?;
        let here = self.facts_in(&self.told(HOST, first)?, first)?;
        let verdict = match job.hosts.count() > 1 {
            true => self.verdict_of_rank_0()?,
            false => self.verdict(std::slice::from_ref(&here)),
        };
        let announcement = match (verdict.is_announced, announcement) {
            (true, None) => Some(self.announced()?),
            (_, own) => own,
        };
        let apart = match verdict.is_apart {
            true => Some(sharing::apart(job, &self.facts_of_all_hosts()?)),
            false => None,
        };
        let cores = HostCores {
            here: here.cores,
            oversubscribed: verdict.oversubscribed,
        };
        Ok(Agreed {
            cores,
            apart,
            announcement,
        })
    }

    /// What this rank finds out for all of its host.
    fn facts_of_this_host(&self, groups: &dyn Fn(&[String]) -> Vec<u32>) -> Result<HostFacts> {
        let (mut cores, mut cards) = (Cores::default(), Vec::new());
        for &rank in &self.job.local_ranks {
            let (its_cores, card) = Cores::read(rank, &self.whole_card(rank)?)?;
            cores.add(&its_cores);
            cards.push(card);
        }
        let told = self.job.host_cores.map(|cores| cores.max(1));
        Ok(HostFacts {
            cores: told.unwrap_or_else(|| cores.count()),
            announces: false,
            sharing: Sharing::of(groups(&cards)),
        })
    }

    /// What `first`, the first rank of its host, tells.
    fn facts_in(&self, text: &str, first: u32) -> Result<HostFacts> {
        let hosts = &self.job.hosts;
        let ranks = hosts.ranks(hosts.of(first)).count();
        let facts = HostFacts::parse(text, ranks);
        facts.ok_or_else(|| Error::Card(format!("rank {first} tells nothing of its host")))
    }

    /// Whether any host has more ranks than cores, whether there is one whose ranks do not all share memory, and
    /// whether the first rank of the first, which is that of the job, announces something.
    fn verdict(&self, hosts: &[HostFacts]) -> Verdict {
        let sizes = self.job.hosts.sizes();
        let mut sized = hosts.iter().zip(sizes);
        let oversubscribed = sized.any(|(host, ranks)| ranks > host.cores);
        let is_together = |host: &HostFacts| host.sharing == Sharing::Together;
        Verdict {
            oversubscribed,
            is_apart: !hosts.iter().all(is_together),
            is_announced: hosts.first().is_some_and(|first| first.announces),
        }
    }

    /// The same, as rank 0 finds it.
    fn verdict_of_rank_0(&self) -> Result<Verdict> {
        if self.job.rank == 0 {
            let verdict = self.verdict(&self.facts_of_all_hosts()?);
            self.tell(VERDICT, &verdict.number().to_string())?;
        }
        self.fence()?;
        let told = self.told(VERDICT, 0)?;
        Verdict::parse(&told).ok_or_else(|| {
            let what = format!("rank 0 tells `{told}`, which is no verdict on the hosts");
            Error::Card(what)
        })
    }

    /// All can read what the first rank announces once the next fence is over.
    fn announce(&self, text: &str) -> Result<()> {
        card::check(text)?;
        match &self.exchange {
            Exchange::Pmi1(client) => client.publish(ANNOUNCEMENT, self.job.rank, text),
            Exchange::Pmix(client) => client.tell(ANNOUNCEMENT, text),
            Exchange::Single(_) => unreachable!("one process agrees with itself"),
        }
    }

    fn announced(&self) -> Result<String> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.card(ANNOUNCEMENT, 0),
            Exchange::Pmix(client) => client.told(ANNOUNCEMENT, 0),
            Exchange::Single(_) => unreachable!("one process agrees with itself"),
        }
    }

    /// What the first ranks of all hosts tell, many at once where the launcher gives them so.
    fn facts_of_all_hosts(&self) -> Result<Vec<HostFacts>> {
        let firsts = self.job.hosts.firsts();
        let told = match &self.exchange {
            Exchange::Pmi1(client) => client.told_by_all(HOST, &firsts)?,
            _ => {
                let told = firsts.iter().map(|&first| self.told(HOST, first));
                told.collect::<Result<_>>()?
            }
        };
        let told = firsts.iter().zip(told);
        told.map(|(&first, text)| self.facts_in(&text, first))
            .collect()
    }

    /// Has a fact about this rank known to all from the next fence on.
    fn tell(&self, fact: &str, value: &str) -> Result<()> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.tell(fact, self.job.rank, value),
            Exchange::Pmix(client) => client.tell(fact, value),
            Exchange::Single(_) => unreachable!("one process agrees with itself"),
        }
    }

    /// What `rank` told.
    fn told(&self, fact: &str, rank: u32) -> Result<String> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.told(fact, rank),
            Exchange::Pmix(client) => client.told(fact, rank),
            Exchange::Single(_) => unreachable!("one process agrees with itself"),
        }
    }

    /// Waits until every rank of the job has joined.
    pub fn fence(&self) -> Result<()> {
        self.fence_with(&mut || ())
    }

    /// The same, and calls `turn` four times a second meanwhile, in which the launcher may be asked for cards.
    pub fn fence_with(&self, turn: &mut dyn FnMut()) -> Result<()> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.fence(turn),
            Exchange::Pmix(client) => client.fence(turn),
            Exchange::Single(_) => Ok(()),
        }
    }

    /// The card of `rank`, asked of the launcher at each call: the caller keeps it.
    pub fn card(&self, rank: u32) -> Result<String> {
        if rank >= self.job.size {
            return Err(Error::Card(format!(
                "rank {rank} is not in this job of {} ranks",
                self.job.size
            )));
        }
        Ok(Cores::read(rank, &self.whole_card(rank)?)?.1)
    }

    /// A card with what its process may run on.
    fn whole_card(&self, rank: u32) -> Result<String> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.card(self.card_name(), rank),
            Exchange::Pmix(client) => client.told(self.card_name(), rank),
            Exchange::Single(single) => single.card(),
        }
    }

    /// Ends the whole job: prints `message` (unless empty) on standard error, asks the launcher to end every rank, and ends
    /// this process with `code`. Does not wait for a thread that is inside another call.
    pub fn abort(&self, code: i32, message: &str) -> ! {
        if !message.is_empty() {
            let line = format!("rank {} of {}: {message}\n", self.job.rank, self.job.size);
            // In one write, whole among the lines of other ranks; the job ends even if nobody reads it.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        ffi::flush_stdout();
        let has_launcher = !matches!(self.exchange, Exchange::Single(_));
        if has_launcher {
            // A launcher may end its helpers at once, and with them what they have not read yet (Hydra does): the user
            // would learn that the job was killed, and not why.
            ffi::wait_until_read(&[1, 2], ABORT_DRAIN);
        }
        match &self.exchange {
            Exchange::Pmi1(client) => client.abort(code),
            Exchange::Pmix(client) => client.abort(code),
            Exchange::Single(_) => {}
        }
        if has_launcher {
            // The launcher ends this process with the others. If it ended first, ranks that learn of that sooner would take it for a peer that has died.
            std::thread::sleep(ABORT_LINGER);
        }
        ffi::exit_now(code)
    }

    /// Takes a process that has left back into its job. Launchers may refuse; ours does not.
    pub fn rejoin(&self) -> Result<()> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.rejoin(),
            Exchange::Pmix(_) => Err(Error::launcher(
                "PMIx takes no process back that has left the job",
            )),
            Exchange::Single(_) => Ok(()),
        }
    }

    /// Tells the launcher that this process leaves the job in good order. Nothing but `job`, `abort` and `rejoin` may follow.
    pub fn finalize(&self) -> Result<()> {
        match &self.exchange {
            Exchange::Pmi1(client) => client.finalize(),
            Exchange::Pmix(client) => client.finalize(),
            Exchange::Single(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{announced_size_in, program_options_in};

    #[test]
    fn options_of_the_program_are_a_list() {
        let told = |set: &'static [(&str, &str)]| {
            let options = program_options_in(&|name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| value.into())
            });
            let text = |(key, value): (String, Vec<u8>)| {
                format!("{key}:{}", String::from_utf8_lossy(&value))
            };
            options
                .into_iter()
                .map(text)
                .collect::<Vec<String>>()
                .join(" ")
        };
        const LINES: (&str, &str) = (
            "WEFT_PROGRAM",
            "maxprocs=3;soft=1:3;host=a:2,b;other=1;nothing;file=f=g",
        );
        assert_eq!(
            told(&[("PMI_FD", "3"), LINES]),
            "maxprocs:3 soft:1:3 host:a:2,b file:f=g"
        );
        assert_eq!(told(&[LINES]), "");
        assert_eq!(told(&[("PMI_FD", "3")]), "");
    }

    #[test]
    fn the_size_is_announced_by_pmi_variables_alone() {
        let size = |set: &'static [(&str, &str)]| {
            announced_size_in(&|name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| value.to_string())
            })
        };
        assert_eq!(size(&[("PMI_FD", "3"), ("PMI_SIZE", "12")]), Some(12));
        assert_eq!(size(&[("PMI_FD", "3")]), None);
        assert_eq!(size(&[("PMI_PORT", "h:1")]), None);
        assert_eq!(size(&[("PMIX_RANK", "0"), ("PMI_SIZE", "2")]), None);
        assert_eq!(size(&[]), Some(1));
    }
}
