//! What machines charge.
//!
//! Found by `weft bench collectives --tune`: the figures of all algorithms at 8 bytes to 4 MiB were fitted, by least squares of the
//! logarithms, and such that what is chosen is the fastest or near it. `figures` holds the choices to these figures.

use crate::cost::{ITEMS, Item, Prices};

/// Prices by their names, in ns.
struct Named {
    round: f64,
    step: f64,
    message: f64,
    packet_byte: f64,
    exchanged_packet_byte: f64,
    passed_packet_byte: f64,
    long: f64,
    long_byte: f64,
    exchanged_long_byte: f64,
    passed_long_byte: f64,
    call: f64,
    call_byte: f64,
    contended_byte: f64,
    post: f64,
    posted_byte: f64,
    look: f64,
    looked_byte: f64,
    folded_byte: f64,
    combined_byte: f64,
    packed_byte: f64,
}

impl Named {
    const fn prices(self, turns: Option<[f64; 2]>) -> Prices {
        let mut items = [0.0; ITEMS];
        items[Item::Round as usize] = self.round;
        items[Item::Step as usize] = self.step;
        items[Item::Message as usize] = self.message;
        items[Item::PacketByte as usize] = self.packet_byte;
        items[Item::ExchangedPacketByte as usize] = self.exchanged_packet_byte;
        items[Item::PassedPacketByte as usize] = self.passed_packet_byte;
        items[Item::Long as usize] = self.long;
        items[Item::LongByte as usize] = self.long_byte;
        items[Item::ExchangedLongByte as usize] = self.exchanged_long_byte;
        items[Item::PassedLongByte as usize] = self.passed_long_byte;
        items[Item::Call as usize] = self.call;
        items[Item::CallByte as usize] = self.call_byte;
        items[Item::ContendedByte as usize] = self.contended_byte;
        items[Item::Post as usize] = self.post;
        items[Item::PostedByte as usize] = self.posted_byte;
        items[Item::Look as usize] = self.look;
        items[Item::LookedByte as usize] = self.looked_byte;
        items[Item::FoldedByte as usize] = self.folded_byte;
        items[Item::CombinedByte as usize] = self.combined_byte;
        items[Item::PackedByte as usize] = self.packed_byte;
        Prices { items, turns }
    }
}

/// Cores that share a cache of the third level, or none: a word goes from one to another in 200 ns (16 cores of an Intel Xeon, and 2 of an
/// AMD EPYC while they were as far, Linux 6.18).
pub(super) const FAR: Prices = Named {
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
}
.prices(None);

/// Cores that are nearer: a word goes from one to the other in 56 ns (2 cores of an AMD EPYC, Linux 6.18).
pub(super) const NEAR: Prices = Named {
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
}
.prices(None);

/// Ranks that share cores, whose data leave the caches between their turns (4, 8 and 16 on the 2 cores of `NEAR`).
pub(super) const SHARED_CORES: Prices = Named {
    round: 0.0,
    step: 0.0,
    message: 671.0,
    packet_byte: 0.0621,
    exchanged_packet_byte: 0.117,
    passed_packet_byte: 0.133,
    long: 78.7,
    long_byte: 0.131,
    exchanged_long_byte: 0.000881,
    passed_long_byte: 0.111,
    call: 2230.0,
    call_byte: 0.22,
    contended_byte: 0.00625,
    post: 37.9,
    posted_byte: 0.194,
    look: 137.0,
    looked_byte: 0.0684,
    folded_byte: 0.00685,
    combined_byte: 0.282,
    packed_byte: 0.213,
}
.prices(Some([1900.0, 1100.0]));

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
};

pub(super) const NETWORK: Prices = TCP.prices(None);

/// The same of ranks that share cores: a round takes the kernel's time at both ends from the others, and a turn of each.
pub(super) const NETWORK_OF_SHARED_CORES: Prices = Named {
    round: 5000.0,
    ..TCP
}
.prices(Some([10000.0, 0.0]));
