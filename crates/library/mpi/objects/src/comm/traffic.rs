//! What a message of a communicator is for, and the context that says so.

/// What a message of a communicator is for: part of its context, so that they do not mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Traffic {
    PointToPoint = 0,
    Collective = 1,
    /// Agreement among a part of the group (`MPI_Comm_create_group`).
    Internal = 2,
    /// What a partitioned send tells its receive once, under the program's tag.
    PartitionedSetup = 3,
    /// Partitions, under tags of the sender's choice.
    Partitioned = 4,
    /// What a process asks of another's part of a window that spans hosts.
    OneSidedCommands = 5,
    /// Answers to that, and data of long puts.
    OneSided = 6,
}

/// Bits of a context that say what traffic it is.
pub(super) const TRAFFIC_BITS: u32 = 3;

/// Whether a context is of that traffic.
pub fn is_of(context: u32, traffic: Traffic) -> bool {
    context % (1 << TRAFFIC_BITS) == traffic as u32
}

/// The context of a communicator's messages that are for this, by its number, beside which marks may stand: they fall off.
#[inline(always)]
pub fn context_of(number: u32, traffic: Traffic) -> u32 {
    number << TRAFFIC_BITS | traffic as u32
}

/// The number of the communicator that a context belongs to.
pub fn number_of(context: u32) -> u32 {
    context >> TRAFFIC_BITS
}
