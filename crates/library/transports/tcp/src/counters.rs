//! What a process's lanes count. Each count is written by the holder of its lane alone, and read by anybody.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a process has had to do with the network until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that stand.
    pub links: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// System calls that have sent something.
    pub sends: u64,
    /// System calls that have received something.
    pub receives: u64,
    /// System calls that have looked for something in vain.
    pub idle_calls: u64,
    /// Connections that carry parts of long messages by further interfaces.
    pub stripes: u64,
    /// Those that failed, and whose parts went by others.
    pub stripes_lost: u64,
    /// Bytes of long messages that were copied between the network and the user's memory.
    pub copied_bytes: u64,
}

/// What has gone by one interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub interface: String,
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

/// One lane's.
pub struct Counts {
    pub links: Count,
    pub sent_bytes: Count,
    pub received_bytes: Count,
    pub sends: Count,
    pub receives: Count,
    pub idle_calls: Count,
    pub stripes: Count,
    pub stripes_lost: Count,
    pub copied_bytes: Count,
    /// Bytes sent and received by each interface, and those of which the interface is not known.
    by_interface: Box<[(Count, Count)]>,
}

impl Counts {
    pub fn new(interfaces: usize) -> Counts {
        Counts {
            links: Count::default(),
            sent_bytes: Count::default(),
            received_bytes: Count::default(),
            sends: Count::default(),
            receives: Count::default(),
            idle_calls: Count::default(),
            stripes: Count::default(),
            stripes_lost: Count::default(),
            copied_bytes: Count::default(),
            by_interface: (0..=interfaces).map(|_| Default::default()).collect(),
        }
    }

    /// A system call has sent so much by an interface.
    #[inline]
    pub fn sent(&self, interface: usize, bytes: usize) {
        self.sends.add(1);
        self.sent_bytes.add(bytes as u64);
        self.by_interface[interface].0.add(bytes as u64);
    }

    /// A system call has received so much.
    #[inline]
    pub fn received(&self, interface: usize, bytes: usize) {
        self.receives.add(1);
        self.received_bytes.add(bytes as u64);
        self.by_interface[interface].1.add(bytes as u64);
    }

    /// Bytes sent and received by an interface.
    pub fn traffic(&self, interface: usize) -> (u64, u64) {
        let (sent, received) = &self.by_interface[interface];
        (sent.value(), received.value())
    }
}

#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    /// By the lane's holder.
    #[inline]
    pub fn add(&self, more: u64) {
        let value = self.0.load(Ordering::Relaxed).wrapping_add(more);
        self.0.store(value, Ordering::Relaxed);
    }

    /// By the lane's holder.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub fn add(&mut self, counts: &Counts) {
        self.links += counts.links.value();
        self.sent_bytes += counts.sent_bytes.value();
        self.received_bytes += counts.received_bytes.value();
        self.sends += counts.sends.value();
        self.receives += counts.receives.value();
        self.idle_calls += counts.idle_calls.value();
        self.stripes += counts.stripes.value();
        self.stripes_lost += counts.stripes_lost.value();
        self.copied_bytes += counts.copied_bytes.value();
    }
}
