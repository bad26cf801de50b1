//! What a process has once, whatever it opens: its place in the fabric, its objects by number, its agent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use weft_verbs_abi::*;

use super::agent::Agent;
use super::between_hosts::SharedPort;
use super::clock;
use super::table::Table;
use crate::config::Config;
use crate::fabric::numbers::{QUEUES, REGIONS, UAR_PAGES};
use crate::fabric::{Cq as Queue, FABRIC_SLOT, Fabric, Home, Number};
use crate::uar::{DevicePages, Ledger, PagePool, SegmentChunks};
use crate::verbs::call::{Errno, Result};
use crate::verbs::{Context, Cq, Device, Element, Mw, Qp, Srq};

pub struct Process {
    pub fabric: &'static Fabric,
    pub config: &'static Config,
    pub ledger: Arc<Ledger>,
    pub contexts: Contexts,
    pub cqs: Table<Cq>,
    pub srqs: Table<Srq>,
    pub windows: Table<Mw>,
    queue_pairs: Table<Qp>,
    /// XRC receive queue pairs, which several handles of this process may stand for.
    shared_queue_pairs: Mutex<HashMap<Number, Vec<&'static Qp>>>,
    link_down: AtomicBool,
    pub port: SharedPort,
    agent: OnceLock<Agent>,
}

/// The contexts that are open.
#[derive(Default)]
pub struct Contexts(Mutex<Vec<&'static Context>>);

impl Contexts {
    fn list(&self) -> MutexGuard<'_, Vec<&'static Context>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, context: &'static Context) {
        self.list().push(context);
    }

    pub fn leave(&self, context: &Context) {
        self.list().retain(|open| !std::ptr::eq(*open, context));
    }
}

impl Process {
    /// The one of this process. A child after fork(2) that opens a device has one of its own.
    pub fn current(config: &'static Config) -> Result<&'static Process> {
        static CURRENT: Mutex<Option<(u32, &'static Process)>> = Mutex::new(None);
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = std::process::id();
        if let Some((_, process)) = current.filter(|(of, _)| *of == pid) {
            return Ok(process);
        }
        let fabric = Fabric::join(&config.fabric).map_err(|error| {
            eprintln!("softrdma: fabric \"{}\": {error}", config.fabric);
            Errno::ENODEV
        })?;
        let process: &Process = Box::leak(Box::new(Process::new(fabric, config)));
        *current = Some((pid, process));
        Ok(process)
    }

    fn new(fabric: &'static Fabric, config: &'static Config) -> Process {
        Process {
            fabric,
            config,
            ledger: Arc::new(Ledger::new(Box::new(SegmentChunks(fabric.home())))),
            contexts: Contexts::default(),
            cqs: Table::new(QUEUES as usize),
            srqs: Table::new(QUEUES as usize),
            windows: Table::new(REGIONS as usize),
            queue_pairs: Table::new(QUEUES as usize),
            shared_queue_pairs: Mutex::default(),
            link_down: AtomicBool::new(config.faults.link_down),
            port: SharedPort::default(),
            agent: OnceLock::new(),
        }
    }

    #[inline]
    pub fn home(&self) -> &'static Home {
        self.fabric.home()
    }

    /// The pages of a device that this process may take: all but the reserve, or what the fault injector left.
    pub fn uar_pages(&self, device: &Device, reserve: u32) -> Arc<dyn PagePool> {
        let usable = (UAR_PAGES as u32).saturating_sub(reserve);
        let limit = self.config.faults.uars.unwrap_or(usable).min(usable);
        let pages = self.fabric.pages(device.index);
        Arc::new(DevicePages { pages, limit })
    }

    /// The agent, which begins with the first who needs it.
    pub fn agent(&'static self) -> &'static Agent {
        self.agent.get_or_init(|| Agent::start(self))
    }

    /// The agent, if anything has needed it yet.
    pub fn agent_if_started(&self) -> Option<&Agent> {
        self.agent.get()
    }

    /// Waits until the agent, if there is one, is done with what it is at.
    pub fn settle(&self) {
        if let Some(agent) = self.agent_if_started() {
            agent.settle();
        }
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

    #[inline]
    pub fn link_is_up(&self) -> bool {
        !self.link_down.load(Ordering::Relaxed)
    }

    /// Kills the link of all ports, or brings it back, and tells the applications.
    pub fn set_link(&'static self, up: bool) {
        if self.link_down.swap(!up, Ordering::Relaxed) != up {
            return;
        }
        let event = if up {
            IBV_EVENT_PORT_ACTIVE
        } else {
            IBV_EVENT_PORT_ERR
        };
        for context in self.contexts.list().iter() {
            context.events.raise(event, Element::Port(1));
        }
        self.agent().set_link(up);
    }

    pub fn enter_queue_pair(&self, qp: &'static Qp) {
        match qp.number.slot() {
            FABRIC_SLOT => self.shared().entry(qp.number).or_default().push(qp),
            _ => self.queue_pairs.enter(qp.number.index(), qp),
        }
    }

    pub fn leave_queue_pair(&self, qp: &Qp) {
        match qp.number.slot() {
            FABRIC_SLOT => {
                let mut shared = self.shared();
                if let Some(handles) = shared.get_mut(&qp.number) {
                    handles.retain(|handle| !std::ptr::eq(*handle, qp));
                }
                shared.retain(|_, handles| !handles.is_empty());
            }
            _ => self.queue_pairs.leave(qp.number.index()),
        }
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<Number, Vec<&'static Qp>>> {
        self.shared_queue_pairs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The handles of a queue pair.
    pub fn handles(&self, number: Number) -> Vec<&'static Qp> {
        match number.slot() {
            FABRIC_SLOT => self.shared().get(&number).cloned().unwrap_or_default(),
            _ => self.queue_pair(number.index()).into_iter().collect(),
        }
    }

    /// A queue pair of this process's own.
    #[inline]
    pub fn queue_pair(&self, index: u16) -> Option<&'static Qp> {
        self.queue_pairs.at(index)
    }

    /// A completion of queue pair `qpn` was polled: its send queue is free up to and with `index`.
    #[inline]
    pub fn release_send_queue(&self, qpn: u32, index: u32) {
        if let Some(qp) = self.queue_pairs.at(Number::from_bits(qpn).index()) {
            qp.release_send_places(index);
        }
    }
}
