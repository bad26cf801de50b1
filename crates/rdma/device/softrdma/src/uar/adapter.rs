//! What an mlx5 adapter has: the numbers of its user access region and the sizes of its objects.
//!
//! From Zambre 2018 §II-A, Table I and appendices A and B, checked against the driver's behaviour.

/// uUARs of a UAR page that a program may use. A page has four; the last two are the adapter's own.
pub const UUARS_PER_PAGE: u32 = 2;

/// uUARs that a context gets when it is opened, unless `MLX5_TOTAL_UUARS` says otherwise.
pub const DEFAULT_TOTAL_UUARS: u32 = 16;

/// The most that `MLX5_TOTAL_UUARS` can ask for: 256 pages.
pub const MAX_TOTAL_UUARS: u32 = 512;

/// Low-latency uUARs of a context, unless `MLX5_NUM_LOW_LAT_UUARS` says otherwise.
pub const DEFAULT_LOW_LATENCY_UUARS: u32 = 4;

/// All but this many of a context's uUARs are always low-latency ones.
pub const MAX_SHARED_UUARS: u32 = 12;

/// uUARs that the thread domains of one context can take under the static policy: 512 pages.
pub const MAX_DYNAMIC_UUARS: u32 = 1024;

/// UAR pages of one device.
pub const DEVICE_PAGES: u32 = 8192;

/// Pages of a device that the kernel keeps for itself. The paper's 907 contexts of 9 pages fit in any reserve from 21 to
/// 29; this is the largest of them.
pub const DEFAULT_RESERVE_PAGES: u32 = 29;

/// One of the two buffers of a uUAR, and so the largest work request that BlueFlame can write.
pub const BUFFER_BYTES: usize = 256;

/// BlueFlame writes whole units of write-combining memory.
pub const BLUEFLAME_UNIT_BYTES: usize = 64;

/// A doorbell: the first eight bytes of a buffer.
pub const DOORBELL_BYTES: usize = 8;

/// Bytes by Table I of the paper. K is 1024; the queue depths behind the last two are not known.
pub const CONTEXT_BYTES: u64 = 256 * 1024;
pub const PD_BYTES: u64 = 144;
pub const MR_BYTES: u64 = 144;
pub const QP_BYTES: u64 = 80 * 1024;
pub const CQ_BYTES: u64 = 9 * 1024;

/// How long the work request of one operation is in a send queue of mlx5. BlueFlame is for those that fit in a buffer.
///
/// All segments are multiples of 16 bytes: control; remote address for RDMA and atomics; operands for atomics; address
/// vector for datagrams; shared receive queue for XRC; then one data segment for each piece of memory, or the data
/// themselves behind a length of four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkRequest {
    /// The operation names remote memory.
    pub remote_address: bool,
    pub atomic: bool,
    pub datagram: bool,
    pub xrc: bool,
    pub payload: Payload,
}

/// What a work request carries or points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// So many scatter/gather elements.
    Elements(u32),
    /// So many bytes, copied into the work request.
    Inline(u32),
}

impl Default for Payload {
    fn default() -> Payload {
        Payload::Elements(0)
    }
}

impl WorkRequest {
    #[inline]
    pub fn bytes(&self) -> usize {
        let segment = |present: bool, bytes: usize| if present { bytes } else { 0 };
        let payload = match self.payload {
            Payload::Elements(count) => 16 * count as usize,
            Payload::Inline(0) => 0,
            Payload::Inline(bytes) => (4 + bytes as usize).next_multiple_of(16),
        };
        16 + segment(self.xrc, 16)
            + segment(self.datagram, 48)
            + segment(self.remote_address, 16)
            + segment(self.atomic, 16)
            + payload
    }

    #[inline]
    pub fn is_inline(&self) -> bool {
        matches!(self.payload, Payload::Inline(_))
    }
}
