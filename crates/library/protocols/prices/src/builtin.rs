//! The prices that are built in: fitted to the tables in `docs/results/by-algorithm`. `docs/tuning.md` has the
//! commands that find prices from these tables which choose as well; a test holds both to them
//! (`crates/tools/tune/tests/built_in.rs`).

use crate::{Named, Prices};

/// Cores that share a cache of the third level, or none: a word goes from one to another in 200 ns (16 cores of an
/// Intel Xeon, and 2 of an AMD EPYC while they were as far, Linux 6.18).
pub const FAR: Prices = Named {
    round: 918.0,
    step: 229.0,
    message: 68.7,
    packet_byte: 0.0409,
    exchanged_packet_byte: 0.054,
    passed_packet_byte: 0.07,
    long: 9.83,
    long_byte: 0.0905,
    exchanged_long_byte: 0.0835,
    passed_long_byte: 0.103,
    call: 2170.0,
    call_byte: 0.135,
    contended_byte: 0.0643,
    post: 28.1,
    posted_byte: 0.187,
    look: 35.9,
    looked_byte: 0.116,
    folded_byte: 0.0502,
    combined_byte: 0.0614,
    packed_byte: 0.114,
    round_turn: 0.0,
    step_turn: 0.0,
}
.prices();

/// Cores that are nearer: a word goes from one to the other in 56 ns (2 cores of an AMD EPYC, Linux 6.18).
pub const NEAR: Prices = Named {
    round: 710.0,
    step: 146.0,
    message: 170.0,
    packet_byte: 0.0469,
    exchanged_packet_byte: 0.0202,
    passed_packet_byte: 0.0806,
    long: 34.6,
    long_byte: 0.0426,
    exchanged_long_byte: 0.041,
    passed_long_byte: 0.0267,
    call: 2660.0,
    call_byte: 0.133,
    contended_byte: 0.1,
    post: 5.49,
    posted_byte: 0.0821,
    look: 2.9,
    looked_byte: 0.0207,
    folded_byte: 0.00171,
    combined_byte: 0.0558,
    packed_byte: 0.0683,
    round_turn: 0.0,
    step_turn: 0.0,
}
.prices();

/// Ranks that share cores, whose data leave the caches between their turns (4, 8 and 16 on the 2 cores of `NEAR`).
pub const SHARED_CORES: Prices = Named {
    round: 370.0,
    step: 474.0,
    message: 312.0,
    packet_byte: 0.53,
    exchanged_packet_byte: 0.0886,
    passed_packet_byte: 0.0828,
    long: 439.0,
    long_byte: 0.135,
    exchanged_long_byte: 0.0467,
    passed_long_byte: 0.0776,
    call: 2090.0,
    call_byte: 0.139,
    contended_byte: 0.079,
    post: 45.0,
    posted_byte: 0.177,
    look: 200.0,
    looked_byte: 0.116,
    folded_byte: 0.0337,
    combined_byte: 0.163,
    packed_byte: 0.217,
    round_turn: 2070.0,
    step_turn: 1070.0,
}
.prices();

/// Messages between hosts by TCP: 20 us on their way, 2.5 us of the kernel at each end, 2 GB/s. There is no board.
const TCP: Named = Named {
    round: 20000.0,
    step: 0.0,
    message: 2500.0,
    packet_byte: 0.25,
    exchanged_packet_byte: 0.25,
    passed_packet_byte: 0.25,
    long: 3000.0,
    long_byte: 0.5,
    exchanged_long_byte: 0.25,
    passed_long_byte: 0.25,
    call: 0.0,
    call_byte: 0.0,
    contended_byte: 0.5,
    post: 0.0,
    posted_byte: 0.0,
    look: 0.0,
    looked_byte: 0.0,
    folded_byte: 0.0,
    combined_byte: 0.061,
    packed_byte: 0.11,
    round_turn: 0.0,
    step_turn: 0.0,
};

pub const NETWORK: Prices = TCP.prices();

/// The same of ranks that share cores: a round takes the kernel's time at both ends from the others, and a turn of
/// each.
pub const NETWORK_OF_SHARED_CORES: Prices = Named {
    round: 5000.0,
    round_turn: 10000.0,
    ..TCP
}
.prices();
