//! What the library's own instructions take, in nanoseconds, which no model of a host has. Found on 16 cores of an Intel
//! Xeon (`machines/xeon-16.host`) by the tables of `docs/results/by-algorithm`, to which `weft-plan`'s test `measured` holds
//! them.

/// A collective call, beside all that it does.
pub const CALL_NS: f64 = 25.0;
/// A message's sender; its receiver.
pub const SEND_NS: f64 = 45.0;
pub const RECEIVE_NS: f64 = 45.0;
/// A rank that waits for messages makes turns of progress: until it has seen what came, and is back in its operation.
pub const TURN_NS: f64 = 300.0;
/// The further messages of the same turns, if they are of other senders.
pub const FURTHER_NS: f64 = 120.0;
/// A post, and the look at one that is there.
pub const POST_NS: f64 = 28.0;
pub const TAKE_NS: f64 = 9.0;
/// A copy by the kernel, beside the kernel's part.
pub const READ_NS: f64 = 900.0;

/// The longest message that goes in a packet, and the longest that lies in one line with its header.
pub const PACKET_BYTES: usize = 16 << 10;
pub const ONE_LINE_BYTES: usize = 40;

/// By how much a byte takes longer than in a plain copy of what another core wrote: in packets; posted; taken while
/// others read too; and read as an operand.
pub const PACKET_FACTOR: f64 = 2.1;
pub const POST_FACTOR: f64 = 3.6;
pub const TAKE_FACTOR: f64 = 3.2;
pub const FOLD_FACTOR: f64 = 0.9;
/// Operands that a combination reads and writes, beside a copy in the core's own cache.
pub const COMBINE_FACTOR: f64 = 2.0;
/// Lines of a post that others hold are taken from them one by one, and so are those of an operand, until the processor
/// fetches ahead.
pub const LINE_BYTES: usize = 64;
pub const POSTED_LINES: usize = 40;
pub const FOLDED_LINES: usize = 5;

/// A turn of a rank that spins, of which the engine counts some before it reads the clock.
pub const SPIN_NS: f64 = 25.0;
/// What a turn of a rank that shares its core takes beside its yield: the switch to its process, and its look at what has
/// come. Forty turns of two ranks on a core took 0.2 ms (`weft_engine::Pace::SHARED`, 2 cores of an EPYC).
pub const SWITCH_NS: f64 = 1700.0;
