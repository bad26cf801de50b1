//! The operations of an engine (`operation.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_sync::Ready;

use crate::asking::Asking;
use crate::waiter::Operation;

#[derive(Default)]
pub(crate) struct Operations {
    /// Those that may ask.
    pub asking: Asking,
    /// Those that are to be polled.
    pub ready: Arc<Ready<Arc<Operation>>>,
    /// How many are under way.
    pub count: AtomicUsize,
}

impl Operations {
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}
