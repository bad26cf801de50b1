//! What an endpoint counts.

/// What an endpoint has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub notifications_sent: u64,
    pub notifications_taken: u64,
    /// Rings that are looked at in each turn.
    pub hot_rings: u64,
    pub ring_transfers: u64,
    /// Those of them that went through a ring borrowed of the receiver.
    pub borrowed_transfers: u64,
    pub copy_transfers: u64,
    /// Calls of the kernel that copied from a peer's memory.
    pub copies: u64,
    /// Links made to peers.
    pub links: u64,
    /// Bytes of this process's segment taken for links, for what makes blocks long, and for bulk data.
    pub link_bytes: u64,
    pub block_bytes: u64,
    pub bulk_bytes: u64,
    /// Bytes of it that lost peers may still use.
    pub quarantined_bytes: u64,
}
