//! Hosts with adapters, processes on them, and a network between: everything is counted, and what an adapter must never be asked is a
//! failure of the test.

use std::collections::{BTreeMap, BTreeSet};

use crate::xrc::{
    Adapter, Connections, Event, Host, NoResources, OpenError, Process, SendQueuePair, SharedQueue,
    Timing,
};

const TIMING: Timing = Timing {
    first_ns: 10,
    most_ns: 100,
    tries: 6,
};

pub struct Receive {
    pub sender: Process,
    pub send: u32,
    pub references: BTreeSet<Process>,
}

pub struct Send {
    pub owner: Process,
    pub to: Host,
    pub receive: Option<u32>,
}

/// A host's adapter. Numbers come again at once.
#[derive(Default)]
pub struct HostAdapter {
    pub sends: BTreeMap<u32, Send>,
    pub receives: BTreeMap<u32, Receive>,
    /// How many queue pairs it has at most; 0 is without bound.
    pub most: usize,
}

impl HostAdapter {
    fn number(&self) -> Result<u32, NoResources> {
        if self.most != 0 && self.sends.len() + self.receives.len() >= self.most {
            return Err(NoResources);
        }
        let is_free = |n: &u32| !self.sends.contains_key(n) && !self.receives.contains_key(n);
        (1..).find(is_free).ok_or(NoResources)
    }

    /// What the kernel does for a process that has ended.
    fn clean_up(&mut self, process: Process) {
        self.sends.retain(|_, send| send.owner != process);
        self.receives.retain(|_, receive| {
            receive.references.remove(&process);
            !receive.references.is_empty()
        });
    }
}

/// An adapter as one process sees it.
pub struct View<'a> {
    me: Process,
    adapter: &'a mut HostAdapter,
}

impl Adapter for View<'_> {
    fn create_send(&mut self, host: Host) -> Result<SendQueuePair, NoResources> {
        let mut sends = self.adapter.sends.values();
        let has_one = sends.any(|send| send.owner == self.me && send.to == host);
        assert!(!has_one, "two send queue pairs of a process to a host");
        let number = self.adapter.number()?;
        let send = Send {
            owner: self.me,
            to: host,
            receive: None,
        };
        self.adapter.sends.insert(number, send);
        let first_packet = 0;
        Ok(SendQueuePair {
            number,
            first_packet,
        })
    }

    fn connect_send(&mut self, send: u32, peer: Process, receive: u32) -> Result<(), NoResources> {
        let send = self.adapter.sends.get_mut(&send).expect("it was made");
        assert_eq!((send.owner, send.to), (self.me, host_of(peer)));
        assert!(send.receive.replace(receive).is_none(), "connected twice");
        Ok(())
    }

    fn destroy_send(&mut self, send: u32) {
        let send = self.adapter.sends.remove(&send);
        assert_eq!(send.expect("it was made").owner, self.me);
    }

    fn create_receive(&mut self, sender: Process, send: SendQueuePair) -> Result<u32, NoResources> {
        let number = self.adapter.number()?;
        let receive = Receive {
            sender,
            send: send.number,
            references: BTreeSet::from([self.me]),
        };
        self.adapter.receives.insert(number, receive);
        Ok(number)
    }

    fn open_receive(&mut self, sender: Process, send: u32, number: u32) -> Result<(), OpenError> {
        let receive = self.adapter.receives.get_mut(&number);
        let receive = receive.filter(|receive| (receive.sender, receive.send) == (sender, send));
        let receive = receive.ok_or(OpenError::Gone)?;
        assert!(receive.references.insert(self.me), "opened twice");
        Ok(())
    }

    fn close_receive(&mut self, number: u32) {
        let receive = self.adapter.receives.get_mut(&number).expect("it was made");
        assert!(
            receive.references.remove(&self.me),
            "a reference below zero"
        );
        if receive.references.is_empty() {
            self.adapter.receives.remove(&number);
        }
    }
}

/// Process 1003 is on host 1.
pub fn host_of(process: Process) -> Host {
    Host(process.0 / 1000)
}

pub fn process(host: u64, index: u64) -> Process {
    Process(host * 1000 + index)
}

pub struct World {
    pub hosts: BTreeMap<Host, HostAdapter>,
    pub processes: BTreeMap<Process, Connections>,
    /// Datagrams under way.
    pub network: Vec<(Process, Vec<u8>)>,
    pub datagrams: usize,
    pub events: Vec<(Process, Event)>,
    now_ns: u64,
}

impl World {
    pub fn new(hosts: u64, processes: u64) -> World {
        let all = (0..hosts).flat_map(|host| (0..processes).map(move |i| process(host, i)));
        let connections = |me: Process| {
            let queue = |(bytes, number)| SharedQueue { bytes, number };
            let number = me.0 as u32;
            let queues = [(256, number), (4096, number + 500)].map(queue);
            (me, Connections::new(me, queues.to_vec(), TIMING))
        };
        World {
            hosts: (0..hosts)
                .map(|h| (Host(h), HostAdapter::default()))
                .collect(),
            processes: all.map(connections).collect(),
            network: Vec::new(),
            datagrams: 0,
            events: Vec::new(),
            now_ns: 0,
        }
    }

    /// Does something with a process, if it is alive, and takes what it sends.
    fn with(&mut self, me: Process, action: impl FnOnce(&mut Connections, u64, &mut View<'_>)) {
        let Some(connections) = self.processes.get_mut(&me) else {
            return;
        };
        let adapter = self.hosts.get_mut(&host_of(me)).expect("hosts stay");
        action(connections, self.now_ns, &mut View { me, adapter });
        let sent = connections.take_outbox();
        self.datagrams += sent.len();
        self.network.extend(sent);
        let events = connections.take_events().into_iter();
        self.events.extend(events.map(|event| (me, event)));
        self.check(me);
    }

    /// What a process believes to have is what its adapter has given it.
    fn check(&self, me: Process) {
        let connections = &self.processes[&me];
        let adapter = &self.hosts[&host_of(me)];
        let sends = adapter.sends.values().filter(|send| send.owner == me);
        assert_eq!(connections.send_queue_pairs(), sends.count());
        let mine = |receive: &&Receive| receive.references.contains(&me);
        let held: Vec<Process> = adapter
            .receives
            .values()
            .filter(mine)
            .map(|r| r.sender)
            .collect();
        assert_eq!(connections.references(), held.len());
        let senders: BTreeSet<Process> = held.iter().copied().collect();
        assert_eq!(senders.len(), held.len(), "two references for one sender");
    }

    pub fn connect(&mut self, from: Process, to: Process) {
        self.with(from, |c, now, adapter| {
            c.connect(to, host_of(to), now, adapter)
        });
    }

    pub fn forget(&mut self, from: Process, to: Process) {
        self.with(from, |c, now, adapter| c.forget(to, now, adapter));
    }

    pub fn disconnect(&mut self, from: Process, to: Process) {
        self.with(from, |c, now, adapter| c.disconnect(to, now, adapter));
    }

    pub fn send_failed(&mut self, from: Process, host: Host) {
        self.with(from, |c, now, adapter| c.send_failed(host, now, adapter));
    }

    pub fn leave(&mut self, process: Process) {
        self.with(process, |c, now, adapter| c.leave(now, adapter));
    }

    pub fn lost(&mut self, process: Process, lost: Process) {
        self.with(process, |c, now, adapter| c.lost(lost, now, adapter));
    }

    /// Ends a process without a word.
    pub fn kill(&mut self, process: Process) {
        if self.processes.remove(&process).is_some() {
            let host = self.hosts.get_mut(&host_of(process));
            host.expect("hosts stay").clean_up(process);
        }
    }

    /// One of the datagrams under way arrives.
    pub fn deliver(&mut self, place: usize) {
        let (to, bytes) = self.network.swap_remove(place);
        self.with(to, |c, now, adapter| {
            c.datagram(&bytes, now, adapter).unwrap()
        });
    }

    /// Time passes until somebody has something to do.
    pub fn tick(&mut self) -> bool {
        let deadlines = self.processes.values().filter_map(Connections::deadline_ns);
        let Some(next) = deadlines.min() else {
            return false;
        };
        self.now_ns = self.now_ns.max(next);
        let all: Vec<Process> = self.processes.keys().copied().collect();
        for process in all {
            self.with(process, |c, now, adapter| c.tick(now, adapter));
        }
        true
    }

    /// Everything arrives in the order in which it was sent, until nobody says or waits for anything.
    pub fn settle(&mut self) {
        loop {
            while !self.network.is_empty() {
                let (to, bytes) = self.network.remove(0);
                self.with(to, |c, now, adapter| {
                    c.datagram(&bytes, now, adapter).unwrap()
                });
            }
            if !self.tick() {
                return;
            }
        }
    }

    pub fn is_connected(&self, from: Process, to: Process) -> bool {
        self.processes[&from].is_connected(to)
    }

    /// Whether what is sent arrives: the ends of the queue pair fit, and the receiver refers to its end.
    pub fn reaches(&self, from: Process, to: Process) -> bool {
        let sends = self.hosts[&host_of(from)].sends.iter();
        let mut mine = sends.filter(|(_, send)| (send.owner, send.to) == (from, host_of(to)));
        let Some((number, send)) = mine.next() else {
            return false;
        };
        let receive = send
            .receive
            .and_then(|r| self.hosts[&host_of(to)].receives.get(&r));
        receive.is_some_and(|receive| {
            (receive.sender, receive.send) == (from, *number) && receive.references.contains(&to)
        })
    }

    /// Send and receive queue pairs of a host.
    pub fn queue_pairs(&self, host: u64) -> (usize, usize) {
        let adapter = &self.hosts[&Host(host)];
        (adapter.sends.len(), adapter.receives.len())
    }
}
