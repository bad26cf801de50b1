//! What connections ask of the adapter, and the names of what they are about.

/// A process. The names of two processes differ, also if the first has ended before the second began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process(pub u64);

/// The processes that can share a receive queue pair: those of one adapter in one XRC domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(pub u64);

/// A shared receive queue that a peer may name in its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedQueue {
    /// Of its buffers.
    pub bytes: u32,
    /// The adapter's (`ibv_get_srq_num`).
    pub number: u32,
}

/// A send queue pair that is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendQueuePair {
    /// 24 bits.
    pub number: u32,
    /// The number of its first packet, 24 bits.
    pub first_packet: u32,
}

/// The adapter, or the system, could not give what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoResources;

/// Why a receive queue pair could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// There is none of that number that receives from that send queue pair.
    Gone,
    NoResources,
}

/// Queue pairs for XRC. Every call does what it says before it returns.
pub trait Adapter {
    /// Makes a send queue pair to a host.
    fn create_send(&mut self, host: Host) -> Result<SendQueuePair, NoResources>;

    /// Connects a send queue pair to a receive queue pair that a peer has made for it.
    fn connect_send(&mut self, send: u32, peer: Process, receive: u32) -> Result<(), NoResources>;

    fn destroy_send(&mut self, send: u32);

    /// Makes a receive queue pair, connects it to a sender's queue pair, and refers to it.
    fn create_receive(&mut self, sender: Process, send: SendQueuePair) -> Result<u32, NoResources>;

    /// Refers to a receive queue pair of this host. Numbers of queue pairs come again, so the implementation looks at whose packets it
    /// takes (`ibv_query_qp`: the destination's number and address), and says that it is gone if these are not that sender's.
    fn open_receive(&mut self, sender: Process, send: u32, receive: u32) -> Result<(), OpenError>;

    /// Drops a reference that this process has.
    fn close_receive(&mut self, receive: u32);
}
