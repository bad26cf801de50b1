//! What a process's lanes count. Each count is written by the holder of its lane alone, and read by anybody.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::send_queue::{Request, What};

/// What a process has had to do with the adapter until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Ports of adapters in use.
    pub adapters: u64,
    /// Lanes' links to other processes that stand.
    pub links: u64,
    /// Queue pairs (RC) of these.
    pub queue_pairs: u64,
    /// Queue pairs (XRC) to hosts, and those by which other processes' frames come.
    pub send_queue_pairs: u64,
    pub receive_queue_pairs: u64,
    /// Lanes that have a completion queue.
    pub lanes: u64,
    /// Those queues, and that for datagrams.
    pub completion_queues: u64,
    /// UAR pages and uUARs of the process's contexts; 0 if the device fails to tell.
    pub uars: u64,
    pub uuars: u64,
    /// Shared receive queues, and what is posted to them.
    pub shared_receive_queues: u64,
    pub buffers: u64,
    pub buffer_bytes: u64,
    /// Datagrams that were sent to make links, repeated ones too.
    pub datagrams: u64,
    /// Requests that were posted, and the lists in which they were.
    pub requests: u64,
    pub posts: u64,
    /// Packets that were put together with others in one frame.
    pub gathered: u64,
    /// Frames that have come.
    pub frames: u64,
    /// Reads of peers' memory, and their bytes: long messages and accesses.
    pub reads: u64,
    pub read_bytes: u64,
    /// Writes to peers' memory, and their bytes.
    pub writes: u64,
    pub written_bytes: u64,
    /// How often links have changed from a path that had failed to another.
    pub failovers: u64,
}

/// What has gone by one rail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The adapter's and port's name.
    pub adapter: String,
    /// Bytes of frames, of writes, and of reads.
    pub sent_bytes: u64,
    pub read_bytes: u64,
}

/// One lane's.
pub struct Counts {
    pub links: Count,
    pub queue_pairs: Count,
    pub send_queue_pairs: Count,
    pub shared_receive_queues: Count,
    pub buffers: Count,
    pub buffer_bytes: Count,
    pub requests: Count,
    pub posts: Count,
    pub gathered: Count,
    pub frames: Count,
    pub reads: Count,
    pub read_bytes: Count,
    pub writes: Count,
    pub written_bytes: Count,
    pub failovers: Count,
    by_rail: Box<[OfRail]>,
}

#[derive(Default)]
struct OfRail {
    sent_bytes: Count,
    read_bytes: Count,
}

impl Counts {
    pub fn new(rails: usize) -> Counts {
        Counts {
            links: Count::default(),
            queue_pairs: Count::default(),
            send_queue_pairs: Count::default(),
            shared_receive_queues: Count::default(),
            buffers: Count::default(),
            buffer_bytes: Count::default(),
            requests: Count::default(),
            posts: Count::default(),
            gathered: Count::default(),
            frames: Count::default(),
            reads: Count::default(),
            read_bytes: Count::default(),
            writes: Count::default(),
            written_bytes: Count::default(),
            failovers: Count::default(),
            by_rail: (0..rails).map(|_| OfRail::default()).collect(),
        }
    }

    /// A request by a rail is done.
    #[inline]
    pub fn done(&self, request: &Request, rail: usize) {
        match &request.what {
            What::Frame { bytes, .. } => self.has_sent(rail, *bytes),
            What::Copied { bytes } => self.has_sent(rail, *bytes),
            What::Read(read) => self.has_read(rail, read.bytes),
            What::Access(step) if step.is_write() => {
                self.writes.add(1);
                self.written_bytes.add(step.bytes as u64);
                self.has_sent(rail, step.bytes);
            }
            What::Access(step) => self.has_read(rail, step.bytes),
            _ => {}
        }
    }

    #[inline]
    fn has_sent(&self, rail: usize, bytes: usize) {
        self.by_rail[rail].sent_bytes.add(bytes as u64);
    }

    fn has_read(&self, rail: usize, bytes: usize) {
        self.reads.add(1);
        self.read_bytes.add(bytes as u64);
        self.by_rail[rail].read_bytes.add(bytes as u64);
    }

    /// Adds what has gone by a rail.
    pub fn add_traffic(&self, rail: usize, to: &mut Traffic) {
        to.sent_bytes += self.by_rail[rail].sent_bytes.value();
        to.read_bytes += self.by_rail[rail].read_bytes.value();
    }
}

#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    /// By the lane's holder.
    #[inline]
    pub fn add(&self, more: u64) {
        self.set(self.value().wrapping_add(more));
    }

    /// By the lane's holder.
    pub fn take(&self, less: u64) {
        self.set(self.value().saturating_sub(less));
    }

    /// By the lane's holder.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub fn add(&mut self, counts: &Counts) {
        self.links += counts.links.value();
        self.queue_pairs += counts.queue_pairs.value();
        self.send_queue_pairs += counts.send_queue_pairs.value();
        self.shared_receive_queues += counts.shared_receive_queues.value();
        self.buffers += counts.buffers.value();
        self.buffer_bytes += counts.buffer_bytes.value();
        self.requests += counts.requests.value();
        self.posts += counts.posts.value();
        self.gathered += counts.gathered.value();
        self.frames += counts.frames.value();
        self.reads += counts.reads.value();
        self.read_bytes += counts.read_bytes.value();
        self.writes += counts.writes.value();
        self.written_bytes += counts.written_bytes.value();
        self.failovers += counts.failovers.value();
    }
}
