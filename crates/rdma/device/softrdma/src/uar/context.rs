//! A context: a slice of the adapter, and how its objects are given parts of it.

use std::sync::Arc;

use super::error::Error;
use super::ledger::Ledger;
use super::object::{CompletionQueue, Counted, Object, QueuePair, SharedReceiveQueue};
use super::pool::PagePool;
use super::settings::{Settings, Sharing};
use super::share::{Share, ThreadDomain};

/// A context's part of the adapter. Clones are the same context.
#[derive(Clone)]
pub struct Context {
    share: Arc<Share>,
}

impl Context {
    /// Takes the pages that a context has from the start: one for two uUARs under the static policy, one in all under the
    /// dynamic policy. `device` is the device's number, for the figures.
    pub fn open(
        settings: Settings,
        device: u8,
        pool: Arc<dyn PagePool>,
        ledger: Arc<Ledger>,
    ) -> Result<Context, Error> {
        Ok(Context {
            share: Arc::new(Share::new(settings, device, pool, ledger)?),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.share.settings
    }

    /// Counts the contexts of its process from 1.
    pub fn number(&self) -> u32 {
        self.share.number()
    }

    /// A thread domain of the level `sharing`, or of the default one.
    pub fn alloc_td(&self, sharing: Option<Sharing>) -> Result<ThreadDomain, Error> {
        let sharing = sharing.unwrap_or(self.share.settings.default_sharing);
        ThreadDomain::new(&self.share, sharing)
    }

    /// A queue pair with a send queue: on `domain`'s uUAR, or on the one that the policy chooses.
    pub fn create_qp(&self, domain: Option<&ThreadDomain>) -> Result<QueuePair, Error> {
        QueuePair::new(&self.share, domain)
    }

    /// A completion queue; without a lock if the program promised to poll it with one thread at a time.
    pub fn create_cq(&self, single_threaded: bool) -> Result<CompletionQueue, Error> {
        CompletionQueue::new(&self.share, single_threaded)
    }

    /// A shared receive queue; without a lock if its protection domain has a thread domain.
    pub fn create_srq(&self, domain: Option<&ThreadDomain>) -> Result<SharedReceiveQueue, Error> {
        SharedReceiveQueue::new(&self.share, domain)
    }

    /// Counts an object that has neither uUAR nor lock, until what is answered is dropped.
    pub fn count(&self, object: Object) -> Counted {
        Counted::new(&self.share, object)
    }
}
