//! What the protocol asks of the queue pair it serves: memory, receive queue, completions.

/// Status of a completion; the numbers are `enum ibv_wc_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    Success = 0,
    LocalLength = 1,
    LocalQpOperation = 2,
    LocalProtection = 4,
    Flushed = 5,
    BadResponse = 7,
    RemoteInvalidRequest = 9,
    RemoteAccess = 10,
    RemoteOperation = 11,
    RetryExceeded = 12,
    RnrRetryExceeded = 13,
}

/// A scatter/gather element as the application gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sge {
    pub address: u64,
    pub length: u32,
    pub lkey: u32,
}

/// Memory of this process that a peer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub rkey: u32,
    pub address: u64,
    pub length: u64,
    /// The XRC SRQ number that came with the request; its protection domain is the one that counts.
    pub srq: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Write,
    Read,
    Atomic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    CompareSwap { compare: u64, swap: u64 },
    FetchAdd { add: u64 },
}

/// Why local memory could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalError {
    /// The local key is not valid for these bytes.
    Protection,
}

/// Why what a peer asked for could not be done; each is a NAK of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// Key, range or permission: remote access error.
    Access,
    /// No such shared receive queue in the target's domain: remote invalid request.
    Request,
    /// Anything wrong on this side: remote operational error.
    Operation,
}

/// A receive request taken off the receive queue and not yet completed.
#[derive(Debug, PartialEq, Eq)]
pub struct Receive {
    /// Whatever lets the host find it again.
    pub token: u64,
    /// The sum of the lengths of its segments, in bytes.
    pub capacity: u64,
}

/// What arrived beside the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    None,
    /// In network byte order, as the application gave it.
    Data(u32),
    /// The key that the sender invalidated here.
    Invalidated(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveKind {
    Send,
    WriteWithImmediate,
}

/// How a receive request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveDone {
    pub status: Status,
    pub kind: ReceiveKind,
    /// For UD this includes the 40 bytes of the global routing header.
    pub bytes: u32,
    pub immediate: Immediate,
    pub solicited: bool,
    /// UD: the sender; otherwise the queue pair connected to.
    pub source_qpn: u32,
}

impl ReceiveDone {
    /// The end of a receive request in error.
    pub(crate) fn failed(status: Status, source_qpn: u32) -> ReceiveDone {
        ReceiveDone {
            status,
            kind: ReceiveKind::Send,
            bytes: 0,
            immediate: Immediate::None,
            solicited: false,
            source_qpn,
        }
    }
}

/// How a send request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendDone {
    /// [`Work::token`](super::Work::token).
    pub token: u64,
    pub status: Status,
    /// Bytes read, for READ and atomics; bytes sent for the others.
    pub bytes: u32,
}

/// An error that ends the queue pair (it goes to ERR), by the event that tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A send request failed; its completion tells. Also what UC and UD take to SQE.
    Requester,
    /// A receive request failed; its completion tells.
    Receive,
    /// `IBV_EVENT_QP_ACCESS_ERR`: the peer broke a protection.
    Access,
    /// `IBV_EVENT_QP_REQ_ERR`: the peer's request was not valid.
    Request,
}

/// The queue pair as the protocol sees it. All calls come from inside calls of the protocol, so under the
/// queue pair's lock; none may block.
pub trait Host {
    /// Copies `out.len()` bytes from the `offset`th byte of the list on; local keys are checked for reading.
    fn gather(&mut self, segments: &[Sge], offset: u64, out: &mut [u8]) -> Result<(), LocalError>;

    /// Copies `data` to the `offset`th byte of the list on; local keys are checked for local writing.
    fn scatter(&mut self, segments: &[Sge], offset: u64, data: &[u8]) -> Result<(), LocalError>;

    /// Send requests end in the order of their posting, each exactly once, signalled or not.
    fn send_done(&mut self, done: SendDone);

    /// May the peer do this to all of the region?
    fn check(&mut self, region: &Region, access: Access) -> Result<(), RemoteError>;

    /// Is there the XRC shared receive queue that a request names which touches no memory?
    fn check_queue(&mut self, srq: u32) -> Result<(), RemoteError>;

    /// Reads the whole region; checked anew, because a region may go away between two packets.
    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError>;

    /// Writes the whole region; checked anew.
    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError>;

    /// Changes the 8 bytes of the region and returns what they were, both in the host's byte order; checked.
    fn atomic(&mut self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError>;

    /// SEND with invalidate (`srq`: to that XRC shared receive queue).
    fn invalidate(&mut self, srq: Option<u32>, rkey: u32) -> Result<(), RemoteError>;

    /// The next receive request of the queue (`srq`: of that XRC shared receive queue); `None` if it is empty,
    /// which the peer hears of as receiver not ready.
    fn take_receive(&mut self, srq: Option<u32>) -> Result<Option<Receive>, RemoteError>;

    /// Copies `data` to the `offset`th byte of a taken receive request on; it fits.
    fn fill_receive(
        &mut self,
        receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError>;

    /// Each receive request taken comes back once.
    fn receive_done(&mut self, receive: Receive, done: ReceiveDone);

    /// The queue pair is in error. The connection takes no more work; the host changes the state, raises the
    /// event and flushes its receive queue.
    fn fail(&mut self, fault: Fault);
}
