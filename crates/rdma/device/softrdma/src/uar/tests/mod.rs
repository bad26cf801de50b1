//! The resource model against the paper, the driver's rules, and plain counting.

mod accounting;
mod paper;
mod policies;
mod posting;
mod settings;
mod shared;
mod threads;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

/// A device of so many pages, each given at most once at a time.
pub(super) struct Device {
    free: Mutex<BTreeSet<u32>>,
}

impl Device {
    pub(super) fn new(pages: u32) -> Arc<Device> {
        Arc::new(Device {
            free: Mutex::new((0..pages).collect()),
        })
    }

    pub(super) fn free(&self) -> usize {
        self.free.lock().unwrap().len()
    }
}

impl PagePool for Device {
    fn take(&self) -> Option<u32> {
        self.free.lock().unwrap().pop_first()
    }

    fn give_back(&self, page: u32) {
        assert!(
            self.free.lock().unwrap().insert(page),
            "page {page} given back twice"
        );
    }
}

/// Chunks on the heap, never freed.
#[derive(Default)]
struct Heap {
    chunks: AtomicU64,
}

impl ChunkSource for Heap {
    fn allocate(&self) -> Option<(&'static Chunk, u64)> {
        let chunk = Box::leak(Box::new(Chunk::default()));
        Some((
            chunk,
            (self.chunks.fetch_add(1, Ordering::Relaxed) + 1) * 4096,
        ))
    }

    fn publish(&self, _offset: u64) {}
}

/// A device and the contexts that a process has of it.
pub(super) struct Host {
    pub(super) device: Arc<Device>,
    pub(super) ledger: Arc<Ledger>,
}

impl Host {
    pub(super) fn new() -> Host {
        Host::with_pages(adapter::DEVICE_PAGES - adapter::DEFAULT_RESERVE_PAGES)
    }

    pub(super) fn with_pages(pages: u32) -> Host {
        Host {
            device: Device::new(pages),
            ledger: Arc::new(Ledger::new(Box::new(Heap::default()))),
        }
    }

    pub(super) fn try_open(&self, settings: Settings) -> Result<Context, Error> {
        Context::open(settings, 0, self.device.clone(), self.ledger.clone())
    }

    pub(super) fn open(&self, settings: Settings) -> Context {
        self.try_open(settings).unwrap()
    }

    /// The sum of all contexts.
    pub(super) fn figures(&self) -> Figures {
        let mut sum = Figures::default();
        for context in self.ledger.contexts() {
            sum += context.figures;
        }
        sum
    }
}

pub(super) fn dynamic() -> Settings {
    Settings {
        policy: Policy::Dynamic,
        ..Settings::default()
    }
}

/// The settings of a context with so many uUARs and low-latency ones.
pub(super) fn uuars(total: u32, low_latency: u32) -> Settings {
    Settings {
        total_uuars: total,
        low_latency_uuars: low_latency,
        ..Settings::default()
    }
}

/// The uUARs that `count` queue pairs outside of thread domains get, one after the other.
pub(super) fn sequence(context: &Context, count: usize) -> Vec<u32> {
    let queue_pairs: Vec<QueuePair> = (0..count)
        .map(|_| context.create_qp(None).unwrap())
        .collect();
    queue_pairs.iter().map(QueuePair::uuar).collect()
}
