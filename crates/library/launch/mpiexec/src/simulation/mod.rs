//! The start of a job of any size, of which a few ranks are processes: the tables of mpiexec and its agents, filled, and the messages
//! between them, encoded and counted. For `weft plan job`.
//!
//! The first and the last host have a real PMI server each. Their first and last ranks are the caller's processes, which say and
//! are told what they would be in the whole job. Every other rank does as one of those does: a host's first rank as the last
//! host's first one, any other as the first host's last one, after which its keys are named. It is the start that is
//! simulated, up to the end of `MPI_Init`: a card that a process asks for later is given and not counted.

mod counts;
mod keys;
mod node;

pub use counts::{Counts, Traffic};

use crate::agent::{AgentCommand, Down, Part, Start, Up, share};
use crate::arguments::{self, Command};
use crate::assignment::{Orders, Runs};
use crate::head::Store;
use crate::hosts::Here;
use crate::layout::Layout;
use crate::pmi::Event;
use crate::supervise;
use node::Node;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

/// What is put between two fences.
type Puts = Vec<(String, String)>;

pub struct Simulation {
    layout: Layout,
    /// Of each host.
    runs: Vec<Runs>,
    orders: Orders,
    store: Store,
    /// The first host and the last one, by number.
    nodes: BTreeMap<u32, Node>,
    /// Of the fence that is being entered, by host.
    fences: BTreeMap<u32, Puts>,
    counts: Counts,
}

/// A line for one of the caller's processes.
pub struct Reply {
    pub rank: u32,
    pub line: String,
}

impl Simulation {
    /// A job of `ranks`, at most `per_host` on each host: host after host, or `dealt` out to them in turn.
    pub fn new(ranks: u32, per_host: u32, dealt: bool) -> Result<Simulation, String> {
        if ranks == 0 || per_host == 0 {
            return Err("a job has a rank at least, and so has a host".to_owned());
        }
        let (layout, orders) = assign(ranks, per_host, dealt)?;
        let runs = layout.runs_of();
        let last = runs.len() as u32 - 1;
        let node = |host: u32| Node::new(&orders, ranks_of(&runs[host as usize]));
        let nodes = [0, last].map(|host| (host, node(host)));
        let mut simulation = Simulation {
            store: Store::new(layout.hosts.len()),
            nodes: BTreeMap::from(nodes),
            fences: BTreeMap::new(),
            counts: Counts::default(),
            layout,
            runs,
            orders,
        };
        if last > 0 {
            simulation.start_agents();
        }
        Ok(simulation)
    }

    pub fn hosts(&self) -> u32 {
        self.layout.hosts.len() as u32
    }

    /// The ranks that the caller starts, ascending.
    pub fn processes(&self) -> Vec<u32> {
        self.nodes.values().flat_map(Node::processes).collect()
    }

    /// What such a process finds in its environment, but for `PMI_FD`.
    pub fn environment(&self, rank: u32) -> Vec<(&'static str, String)> {
        let cores = self.nodes[&self.host_of(rank)].ranks.len();
        vec![
            ("PMI_RANK", rank.to_string()),
            ("PMI_SIZE", self.orders.size.to_string()),
            (crate::environment::CORES_VARIABLE, cores.to_string()),
        ]
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Takes a line that one of the caller's processes has said, without its newline.
    pub fn line(&mut self, rank: u32, line: &str) -> Vec<Reply> {
        let host = self.host_of(rank);
        let is_of_start = !keys::asks_for_card(line);
        let node = self.nodes.get_mut(&host).expect("processes are on them");
        let mut events = Vec::new();
        let speakers = match is_of_start {
            true => node.alike(rank),
            false => vec![rank],
        };
        for speaker in speakers {
            node.line(speaker, &keys::renamed(line, rank, speaker), &mut events);
            if is_of_start {
                self.counts.said(speaker, host);
            }
        }
        let mut replies = Vec::new();
        self.handle(host, events, is_of_start, &mut replies);
        replies
    }

    fn host_of(&self, rank: u32) -> u32 {
        self.layout.host_of[rank as usize]
    }

    /// What the server of a host wants done.
    fn handle(&mut self, host: u32, events: Vec<Event>, counted: bool, replies: &mut Vec<Reply>) {
        for event in events {
            match event {
                Event::Reply(index, line) => {
                    let node = &self.nodes[&host];
                    let rank = node.ranks[index as usize];
                    if counted {
                        self.counts.told(rank, host);
                    }
                    if node.processes().any(|process| process == rank) {
                        replies.push(Reply { rank, line });
                    }
                }
                Event::Ask(key) => self.ask(host, key, counted, replies),
                Event::Fence(puts) => self.fence(host, puts, replies),
                Event::Started(_) | Event::Abort(..) | Event::Broken(..) | Event::Note(..) => {}
            }
        }
    }

    fn ask(&mut self, host: u32, key: String, counted: bool, replies: &mut Vec<Reply>) {
        let value = self.store.get(&key);
        if counted {
            let answer = Down::Answer {
                key: key.clone(),
                value: value.clone(),
            };
            let asking = match host == self.last() {
                true => 1..self.hosts(),
                false => 0..1,
            };
            for host in asking {
                self.counts.up(host, &Up::Ask(key.clone()));
                self.counts.down(host, &answer);
            }
        }
        let mut events = Vec::new();
        let node = self.nodes.get_mut(&host).expect("it has asked");
        node.server.answer(&key, value.as_deref(), &mut events);
        self.handle(host, events, counted, replies);
    }

    /// A host is in the fence. Once the first and the last one are, all others are too.
    fn fence(&mut self, host: u32, puts: Puts, replies: &mut Vec<Reply>) {
        self.fences.insert(host, puts);
        if self.fences.len() < self.nodes.len() {
            return;
        }
        let fences = std::mem::take(&mut self.fences);
        let mut changed = None;
        for host in 0..self.hosts() {
            let puts = match fences.get(&host) {
                Some(puts) => puts.clone(),
                None => self.puts_alike(host, &fences),
            };
            for up in supervise::fence(puts) {
                self.counts.up(host, &up);
                if let Up::Puts(puts) = up {
                    let put = puts.into_iter();
                    put.for_each(|(key, value)| self.store.put(key, value));
                }
            }
            changed = self.store.join(host);
        }
        let changed = changed.expect("every host has joined");
        self.counts
            .broadcast(self.hosts(), &Down::Release { changed });
        for host in [0, self.last()] {
            let node = self.nodes.get_mut(&host).expect("it is one of the two");
            let mut events = Vec::new();
            node.server.release(changed, &mut events);
            self.handle(host, events, true, replies);
        }
    }

    /// What the ranks of a host have put that has no process.
    fn puts_alike(&self, host: u32, fences: &BTreeMap<u32, Puts>) -> Puts {
        let first = self.nodes[&self.last()].ranks[0];
        let first_puts = keys::of_rank(&fences[&self.last()], first);
        let other = *self.nodes[&0].ranks.last().expect("a host has ranks");
        let other_puts = keys::of_rank(&fences[&0], other);
        let ranks = ranks_of(&self.runs[host as usize]);
        let each = ranks.into_iter().enumerate().flat_map(|(index, rank)| {
            let (puts, from) = match index {
                0 => (&first_puts, first),
                _ => (&other_puts, other),
            };
            puts.iter()
                .map(move |(key, value)| (keys::of_other(key, from, rank), (*value).clone()))
        });
        each.collect()
    }

    fn last(&self) -> u32 {
        self.hosts() - 1
    }

    /// Every node of the tree is told what it is to start, and says that it has.
    fn start_agents(&mut self) {
        let places = self.layout.hosts.iter().zip(self.runs.clone());
        let parts = (0..).zip(places).map(|(host, (place, runs))| Part {
            host,
            name: place.name.clone(),
            runs,
        });
        let parts: Vec<Part> = parts.collect();
        for range in share(parts.len()) {
            self.start_below(None, &parts[range]);
        }
        for host in 0..self.hosts() {
            self.counts.up(host, &Up::Started);
        }
    }

    /// `parent` starts an agent on the first of these hosts, which starts those of the others.
    fn start_below(&mut self, parent: Option<u32>, parts: &[Part]) {
        let (part, below) = parts.split_first().expect("a child has a host");
        let start = Down::Start(Box::new(Start {
            orders: self.orders.clone(),
            part: part.clone(),
            below: below.to_vec(),
            way: AgentCommand {
                launcher: self.layout.launcher,
                program: None,
                extra: Vec::new(),
                mpiexec: "/usr/local/bin/mpiexec".into(),
            },
            launch_timeout: Duration::from_secs(60),
            host_timeout: Duration::from_secs(20),
        }));
        self.counts.grow(parent, part.host);
        self.counts.hop(parent, part.host, &start);
        for range in share(below.len()) {
            self.start_below(Some(part.host), &below[range]);
        }
    }
}

/// The job as mpiexec decides on it from a command line.
fn assign(ranks: u32, per_host: u32, dealt: bool) -> Result<(Layout, Orders), String> {
    let hosts = ranks.div_ceil(per_host);
    let hosts: Vec<String> = (0..hosts).map(|host| format!("node{host:06}")).collect();
    let order: &[&str] = if dealt { &["--map-by", "node"] } else { &[] };
    let (ranks, per_host, hosts) = (ranks.to_string(), per_host.to_string(), hosts.join(","));
    let words = ["-n", &ranks, "-ppn", &per_host, "-hosts", &hosts];
    let words = words.iter().chain(order).chain(&["program"]);
    let job = match arguments::parse(words.map(OsString::from)) {
        Ok(Command::Run(job)) => job,
        Ok(_) => return Err("the command line asks for no job".to_owned()),
        Err(usage) => return Err(usage.to_string()),
    };
    let layout = Layout::new(&job, &Here::new(Vec::new()), &|_| None);
    let layout = layout.map_err(|usage| usage.to_string())?;
    let orders = Orders::new(&job, &layout, "/home/user".into());
    Ok((layout, orders))
}

fn ranks_of(runs: &Runs) -> Vec<u32> {
    let runs = runs.iter();
    runs.flat_map(|&(first, count)| first..first + count)
        .collect()
}

#[cfg(test)]
mod tests;
