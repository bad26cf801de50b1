//! The adapter of this process: what all its contexts share.

use std::sync::{Mutex, PoisonError};

use super::agent::Agent;
use super::process::Process;
use super::tables::Tables;
use crate::call::{Errno, Result};
use crate::config::Config;
use crate::fabric::Fabric;

pub struct Adapter {
    pub process: &'static Process,
    pub tables: &'static Tables,
    agent: &'static Agent,
}

impl Adapter {
    /// The one of this process. A child after fork(2) that opens a device has one of its own.
    pub fn current(config: &'static Config) -> Result<&'static Adapter> {
        static CURRENT: Mutex<Option<(u32, &'static Adapter)>> = Mutex::new(None);
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = std::process::id();
        if let Some((_, adapter)) = current.filter(|(owner, _)| *owner == pid) {
            return Ok(adapter);
        }
        let fabric = Fabric::join(&config.fabric).map_err(|error| {
            eprintln!("softrdma: fabric \"{}\": {error}", config.fabric);
            Errno::ENODEV
        })?;
        let process: &Process = Box::leak(Box::new(Process::new(fabric, config)));
        let tables: &Tables = Box::leak(Box::default());
        let agent: &Agent = Box::leak(Box::new(Agent::new(process, tables)));
        process.set_agent(|| agent.start());
        let adapter: &Adapter = Box::leak(Box::new(Adapter {
            process,
            tables,
            agent,
        }));
        *current = Some((pid, adapter));
        Ok(adapter)
    }

    /// The agent, started if it was not.
    pub fn agent(&self) -> &'static Agent {
        self.process.agent();
        self.agent
    }

    /// The agent, if anything has needed it yet.
    pub fn agent_if_started(&self) -> Option<&'static Agent> {
        self.process.agent_is_started().then_some(self.agent)
    }

    /// Waits until the agent, if there is one, is done with what it is at.
    pub fn quiesce(&self) {
        if let Some(agent) = self.agent_if_started() {
            agent.quiesce();
        }
    }
}
