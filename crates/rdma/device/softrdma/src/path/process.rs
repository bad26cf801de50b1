//! What a process has once, whatever it opens: its membership of the fabric, its port, what it leaves for its agent.

use std::sync::{Arc, OnceLock};

use super::agent_queue::AgentQueue;
use super::clock;
use super::links::Links;
use super::memory::MemoryWindow;
use super::port::SharedPort;
use super::table::Table;
use crate::config::Config;
use crate::fabric::numbers::{REGIONS, UAR_PAGES};
use crate::fabric::{Cq as Queue, Fabric, Number, OwnSegment, Peer};
use crate::uar::{DevicePages, Ledger, PagePool, SegmentChunks};
use weft_roce::Port;

pub struct Process {
    pub fabric: &'static Fabric,
    pub config: &'static Config,
    pub ledger: Arc<Ledger>,
    pub windows: Table<MemoryWindow>,
    port: SharedPort,
    pub links: Links,
    agent: OnceLock<AgentQueue>,
    /// Starts the agent's thread.
    start_agent: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Process {
    pub fn new(fabric: &'static Fabric, config: &'static Config) -> Process {
        Process {
            fabric,
            config,
            ledger: Arc::new(Ledger::new(Box::new(SegmentChunks(fabric.own_segment())))),
            windows: Table::new(REGIONS as usize),
            port: SharedPort::default(),
            links: Links::default(),
            agent: OnceLock::new(),
            start_agent: OnceLock::new(),
        }
    }

    /// Says how the agent's thread is started, before anything needs it.
    pub(super) fn set_agent(&self, start: impl Fn() + Send + Sync + 'static) {
        let fresh = self.start_agent.set(Box::new(start)).is_ok();
        assert!(fresh, "the agent is set once");
    }

    #[inline]
    pub fn own_segment(&self) -> &'static OwnSegment {
        self.fabric.own_segment()
    }

    /// The time for a completion, if its queue wants one.
    #[inline]
    pub fn stamp(&self, queue: &Queue<'_>) -> u64 {
        if queue.is_stamped() {
            clock::nanoseconds()
        } else {
            0
        }
    }

    /// Whether what is sent by a device's port arrives.
    #[inline]
    pub fn link_is_up(&self, device: u32) -> bool {
        let faults = &self.config.faults;
        !faults.link_down && (faults.down.is_empty() || !self.links.is_down(device))
    }

    /// The process posts to a device.
    #[inline]
    pub fn posts(&self, device: u32) {
        if !self.config.faults.down.is_empty() {
            self.links.posts(device, &self.config.faults.down);
        }
    }

    /// The pages of a device that this process may take: all but the reserve, or what the fault injector left.
    pub fn uar_pages(&self, device: u32, reserve: u32) -> Arc<dyn PagePool> {
        let usable = (UAR_PAGES as u32).saturating_sub(reserve);
        let limit = self.config.faults.uars.unwrap_or(usable).min(usable);
        let pages = self.fabric.pages(device);
        Arc::new(DevicePages { pages, limit })
    }

    /// What is left for the agent, which begins with the first thread that needs it.
    pub fn agent(&self) -> &AgentQueue {
        self.agent.get_or_init(|| {
            let start = self
                .start_agent
                .get()
                .expect("set when the process was made");
            start();
            AgentQueue::new()
        })
    }

    /// The process that has a shared receive queue of this number, if it lives. No queue pair leads to it (XRC), so that the agent is told to
    /// notice its death: what it leaves in shared memory looks as before.
    #[inline]
    pub fn owner_of_queue(&self, srq: Number) -> Option<Arc<Peer>> {
        let owner = self.fabric.peer(srq.slot())?;
        if owner.begin_watch() {
            self.agent().watch(owner.clone());
        }
        Some(owner)
    }

    pub fn agent_is_started(&self) -> bool {
        self.agent.get().is_some()
    }

    /// The port, opened by the first that needs it; none if it could not be opened.
    pub fn open_port(&self) -> Option<&Port> {
        self.port.open(self.config, self.fabric.me().slot())
    }

    /// The port, if it is open.
    #[inline]
    pub fn port(&self) -> Option<&Port> {
        self.port.opened()
    }

    /// Packets from other hosts are received from now on.
    pub fn receive_from_hosts(&self) {
        self.open_port();
        self.agent().wake();
    }
}
