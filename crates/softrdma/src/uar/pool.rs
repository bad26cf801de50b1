//! Where UAR pages come from.

use std::sync::atomic::{AtomicU32, Ordering};

/// The UAR pages of one device, from which all processes of the host take. Who owns which is written down beside the
/// pages, so that those of a process that died come back.
pub trait PagePool: Send + Sync {
    /// A page that was free, now this process's; `None` when the device has no more.
    fn take(&self) -> Option<u32>;

    /// Gives back a page that [`PagePool::take`] gave.
    fn give_back(&self, page: u32);
}

/// A pool that lends at most so many pages of another: the fault injector's exhausted adapter.
pub struct Limited<P> {
    inner: P,
    /// Pages that may still be taken. Any thread counts down before it takes and up after it gives back.
    left: AtomicU32,
}

impl<P: PagePool> Limited<P> {
    pub fn new(inner: P, pages: u32) -> Limited<P> {
        Limited {
            inner,
            left: AtomicU32::new(pages),
        }
    }
}

impl<P: PagePool> PagePool for Limited<P> {
    fn take(&self) -> Option<u32> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .ok()?;
        let page = self.inner.take();
        if page.is_none() {
            self.left.fetch_add(1, Ordering::Relaxed);
        }
        page
    }

    fn give_back(&self, page: u32) {
        self.inner.give_back(page);
        self.left.fetch_add(1, Ordering::Relaxed);
    }
}
