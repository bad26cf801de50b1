//! Messages of a start, and whom they concern.

use crate::agent::{Frame, encode_frame, frame};
use serde::Serialize;
use std::collections::HashMap;

/// Messages in both directions, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub messages: u64,
    pub bytes: u64,
}

impl Traffic {
    fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

#[derive(Debug, Default)]
pub struct Counts {
    /// PMI lines that a rank says and is told.
    lines: HashMap<u32, u64>,
    /// By agents, the same lines.
    served: HashMap<u32, u64>,
    /// Frames of agents with mpiexec and each other.
    agents: HashMap<u32, Traffic>,
    head: Traffic,
    /// The node that has started an agent: none for mpiexec.
    parents: HashMap<u32, Option<u32>>,
}

impl Counts {
    /// PMI lines between a rank and its agent.
    pub fn lines(&self, rank: u32) -> u64 {
        self.lines.get(&rank).copied().unwrap_or(0)
    }

    /// The most lines that an agent exchanges with its ranks.
    pub fn lines_of_host(&self) -> u64 {
        self.served.values().copied().max().unwrap_or(0)
    }

    /// mpiexec's frames.
    pub fn head(&self) -> Traffic {
        self.head
    }

    /// The frames of the agent that has most.
    pub fn busiest_agent(&self) -> Traffic {
        let agents = self.agents.values();
        agents
            .copied()
            .max_by_key(|a| a.messages)
            .unwrap_or_default()
    }

    pub(super) fn said(&mut self, rank: u32, host: u32) {
        *self.lines.entry(rank).or_default() += 1;
        *self.served.entry(host).or_default() += 1;
    }

    pub(super) fn told(&mut self, rank: u32, host: u32) {
        self.said(rank, host);
    }

    pub(super) fn grow(&mut self, parent: Option<u32>, host: u32) {
        self.parents.insert(host, parent);
    }

    /// One step of a message between an agent and who has started it.
    pub(super) fn hop(&mut self, parent: Option<u32>, host: u32, message: &impl Serialize) {
        self.step(parent, host, bytes(host, message));
    }

    /// From an agent to mpiexec, through those between.
    pub(super) fn up(&mut self, host: u32, message: &impl Serialize) {
        let bytes = bytes(host, message);
        let mut at = host;
        while let Some(&parent) = self.parents.get(&at) {
            self.step(parent, at, bytes);
            let Some(next) = parent else { return };
            at = next;
        }
    }

    /// From mpiexec to an agent: the same way.
    pub(super) fn down(&mut self, host: u32, message: &impl Serialize) {
        self.up(host, message);
    }

    /// From mpiexec to all agents: once over each way.
    pub(super) fn broadcast(&mut self, hosts: u32, message: &impl Serialize) {
        let bytes = bytes(crate::agent::ALL_HOSTS, message);
        for host in 0..hosts {
            if let Some(&parent) = self.parents.get(&host) {
                self.step(parent, host, bytes);
            }
        }
    }

    fn step(&mut self, parent: Option<u32>, host: u32, bytes: usize) {
        self.agents.entry(host).or_default().add(bytes);
        match parent {
            None => self.head.add(bytes),
            Some(parent) => self.agents.entry(parent).or_default().add(bytes),
        }
    }
}

fn bytes(host: u32, message: &impl Serialize) -> usize {
    let frame: Frame = frame(host, message);
    let mut encoded = Vec::new();
    encode_frame(&frame, &mut encoded);
    encoded.len()
}
