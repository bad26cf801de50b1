//! Numbers of the integers that stand for special addresses.

/// The integers, in the order in which the standard ABI's block declares them.
pub const BOTTOM: usize = 0;
pub const IN_PLACE: usize = 1;
pub const BUFFER_AUTOMATIC: usize = 2;
pub const UNWEIGHTED: usize = 3;
pub const WEIGHTS_EMPTY: usize = 4;
pub const ERRCODES_IGNORE: usize = 5;
/// Two statuses of as many integers: of one and of several calls.
pub const STATUSES: usize = 6;
