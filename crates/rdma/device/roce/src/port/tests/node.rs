//! A host in miniature: one connection on a port, driven by polling.

use std::net::Ipv4Addr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::packet::{Service, View};
use crate::port::{Port, PortConfig};
use crate::tests::side::Side;
use crate::{Batch, Connection, Inbox, Injection, Path, RequesterConfig, ResponderConfig, Work};

pub struct Node {
    port: Port,
    pub side: Side,
    pub connection: Connection,
    start: Instant,
    inbox: Inbox,
    batch: Batch,
    qpn: u32,
}

/// Where the two ends of a test are.
#[derive(Clone, Copy)]
pub struct Ends {
    pub local: Ipv4Addr,
    pub remote: Ipv4Addr,
    pub local_slot: u8,
    pub remote_slot: u8,
}

impl Node {
    pub fn open(ends: Ends, injection: Injection) -> Node {
        let port = Port::open(&PortConfig {
            address: ends.local,
            slot: ends.local_slot,
            port: crate::UDP_PORT,
            injection,
        })
        .expect("a port");
        let path = Path {
            local: ends.local,
            remote: ends.remote,
            port: crate::UDP_PORT,
            remote_qpn: u32::from(ends.remote_slot) << 16 | 5,
            mtu: 1024,
        };
        let responder = ResponderConfig {
            psn: 77,
            max_dest_rd_atomic: 8,
            min_rnr_timer: 12,
            window: 256,
            write: true,
            read: true,
            atomic: true,
        };
        let mut connection = Connection::new(Service::Reliable, path, Some(responder));
        connection.start_requester(RequesterConfig {
            psn: 77,
            timeout: 14,
            retry_count: 7,
            rnr_retry: 7,
            max_rd_atomic: 8,
            window: port.window(path.mtu),
            selective: true,
        });
        Node {
            port,
            side: Side::new(0),
            connection,
            start: Instant::now(),
            inbox: Inbox::new(),
            batch: Batch::new(),
            qpn: u32::from(ends.local_slot) << 16 | 5,
        }
    }

    pub fn post(&mut self, work: Work) {
        self.connection.post(work, &mut self.side);
        self.pump();
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn pump(&mut self) {
        let now = self.now();
        while self
            .connection
            .transmit(now, &mut self.batch, &mut self.side)
        {
            self.port.send(now, &mut self.batch);
        }
    }

    /// Drives the node until this many send requests are done; false if that takes too long.
    pub fn run(&mut self, sends_done: usize, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.side.sends_done.len() < sends_done {
            if Instant::now() > end {
                return false;
            }
            self.turn();
        }
        true
    }

    pub fn turn(&mut self) {
        self.port.receive(&mut self.inbox);
        let now = self.now();
        for (arrival, bytes) in self.inbox.iter() {
            let view = View::parse(bytes).expect("the port lets only packets through");
            if view.header().destination_qpn == self.qpn {
                let source = arrival.route.source;
                self.connection.receive(now, source, &view, &mut self.side);
            }
        }
        if self.connection.deadline().is_some_and(|at| at <= now) {
            self.connection.expire(now, &mut self.side);
        }
        if self.port.deadline().is_some_and(|at| at <= now) || self.port.wants_writable() {
            self.port.flush(now);
        }
        self.pump();
        if self.inbox.is_empty() {
            sleep(Duration::from_micros(50));
        }
    }
}
