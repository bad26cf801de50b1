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
mod single;

use std::io::Write;
use std::time::Duration;

use cores::Cores;

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

/// The facts that ranks tell of themselves beside their cards.
const CORES: &str = "cores";
const OVERSUBSCRIBED: &str = "oversubscribed";

/// What is agreed about the cores of a job's hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCores {
    /// How many the ranks of this host share.
    pub here: u32,
    /// Whether any host of the job has more ranks than cores: what an algorithm is chosen by, which all ranks choose alike.
    pub oversubscribed: bool,
}

/// The connection to the launcher. One per process: it takes over the inherited socket.
///
/// Every method may be called from any thread; calls other than [`Bootstrap::abort`] take turns.
pub struct Bootstrap {
    job: Job,
    exchange: Exchange,
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
        return Ok(Bootstrap {
            job,
            exchange: Exchange::Pmi1(client),
        });
    }
    if variable("PMIX_RANK").is_some() {
        let (client, job) = pmix::Client::connect(&variable)?;
        return Ok(Bootstrap {
            job,
            exchange: Exchange::Pmix(Box::new(client)),
        });
    }
    single::refuse_unusable_launcher(&variable)?;
    let (single, job) = single::Single::new();
    Ok(Bootstrap {
        job,
        exchange: Exchange::Single(single),
    })
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

/// The number of cores that the first rank of a host tells.
fn cores_in(first: u32, text: &str) -> Result<u32> {
    let cores = text.parse().ok().filter(|cores| *cores > 0);
    cores.ok_or_else(|| Error::Card(format!("rank {first} tells no number of cores")))
}

impl Bootstrap {
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
            Exchange::Pmi1(client) => client.publish(self.job.rank, &card),
            Exchange::Pmix(client) => client.publish(&card),
            Exchange::Single(single) => single.publish(&card),
        }
    }

    /// What the ranks know of their hosts' cores: the same answer on all of a host, whatever each is bound to, and the same verdict
    /// on all of the job. All ranks of the job call it, once, after the [`fence`](Bootstrap::fence) that follows
    /// [`publish`](Bootstrap::publish).
    ///
    /// Where the launcher does not say it, each card tells what its process may run on, and the host's first rank reads the
    /// cards of its host and publishes what they come to, which the others read after one more fence. So it takes two
    /// questions a rank, where reading all cards everywhere would take as many as the square of a host's ranks, and every
    /// rank has the number from one line: ranks that add up by themselves could differ, and would then choose
    /// unlike algorithms for one operation. The verdict on several hosts is the first rank's, who reads one number a host, many in a line from
    /// our own launcher.
    pub fn agree_on_cores(&self) -> Result<HostCores> {
        let job = &self.job;
        let several = job.hosts.count() > 1;
        let told = job.host_cores.map(|cores| cores.max(1));
        let here = match told {
            Some(cores) if !several => cores,
            None if job.size == 1 => Cores::of_this_process().count(),
            told => self.cores_by_the_first(told)?,
        };
        let oversubscribed = match several {
            true => self.verdict_of_rank_0()?,
            false => job.local_size > here,
        };
        Ok(HostCores {
            here,
            oversubscribed,
        })
    }

    /// The number that the first rank of this host publishes.
    fn cores_by_the_first(&self, told: Option<u32>) -> Result<u32> {
        let first = self.job.local_ranks[0];
        if self.job.rank == first {
            let cores = told.map_or_else(|| self.cores_of_this_host(), Ok)?;
            self.tell(CORES, &cores.to_string())?;
        }
        self.fence()?;
        self.cores_told_by(first)
    }

    fn cores_told_by(&self, first: u32) -> Result<u32> {
        cores_in(first, &self.told(CORES, first)?)
    }

    /// Whether any host has more ranks than cores.
    fn verdict_of_rank_0(&self) -> Result<bool> {
        if self.job.rank == 0 {
            let cores = self.cores_of_all_hosts()?.into_iter();
            let mut hosts = cores.zip(self.job.hosts.sizes());
            let verdict = hosts.any(|(cores, ranks)| ranks > cores);
            self.tell(OVERSUBSCRIBED, &u32::from(verdict).to_string())?;
        }
        self.fence()?;
        match &*self.told(OVERSUBSCRIBED, 0)? {
            "0" => Ok(false),
            "1" => Ok(true),
            other => Err(Error::Card(format!(
                "rank 0 tells `{other}`, which is no verdict on the cores of hosts"
            ))),
        }
    }

    /// The numbers that the first ranks of all hosts publish, many at once where the launcher gives them so.
    fn cores_of_all_hosts(&self) -> Result<Vec<u32>> {
        let firsts = self.job.hosts.firsts();
        let told = match &self.exchange {
            Exchange::Pmi1(client) => client.told_by_all(CORES, &firsts)?,
            _ => {
                let told = firsts.iter().map(|&first| self.told(CORES, first));
                told.collect::<Result<_>>()?
            }
        };
        let told = firsts.iter().zip(told);
        told.map(|(&first, text)| cores_in(first, &text)).collect()
    }

    fn cores_of_this_host(&self) -> Result<u32> {
        let mut cores = Cores::default();
        for &rank in &self.job.local_ranks {
            cores.add(&Cores::read(rank, &self.whole_card(rank)?)?.0);
        }
        Ok(cores.count())
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
            Exchange::Pmi1(client) => client.card(rank),
            Exchange::Pmix(client) => client.card(rank),
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
    use super::announced_size_in;

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
