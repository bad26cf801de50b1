//! Where UAR pages come from.

/// The UAR pages of one device, from which all processes of the host take. Who owns which is written down beside the
/// pages, so that those of a process that died come back.
pub trait PagePool: Send + Sync {
    /// A page that was free, now this process's; `None` when the device has no more.
    fn take(&self) -> Option<u32>;

    /// Gives back a page that [`PagePool::take`] gave.
    fn give_back(&self, page: u32);
}
