//! What the library takes messages to cost: what they cost on the network of the plan.

use weft_collective::set_prices;
use weft_goal::Machine;
use weft_prices::{Group, Lists, Named};

/// The library counts a message of more than 16 KiB as long, and here one of more than `S` bytes asks first. Where `S` is less than this,
/// long messages are taken to ask.
const ASKING_BYTES: u64 = 64 << 10;

/// Has the library choose as on a machine of which it knows the network's prices. Once in a process, before any plan.
pub fn choose_by(machine: &Machine, combine_byte_ns: f64) {
    let network = &machine.between;
    let end = network.overhead_ns.max(network.gap_ns);
    let byte = network.gap_byte_ns + network.overhead_byte_ns;
    // A byte is counted at both ends, but where the receiver alone copies it.
    let prices = Named {
        round: network.latency_ns + 2.0 * network.overhead_ns,
        step: 0.0,
        message: end,
        packet_byte: byte / 2.0,
        exchanged_packet_byte: byte / 2.0,
        passed_packet_byte: byte / 2.0,
        // The sender asks first.
        long: match network.eager_bytes < ASKING_BYTES {
            true => 2.0 * network.latency_ns,
            false => 0.0,
        },
        long_byte: byte,
        exchanged_long_byte: byte / 2.0,
        passed_long_byte: byte / 2.0,
        call: 0.0,
        call_byte: 0.0,
        contended_byte: byte,
        post: 0.0,
        posted_byte: 0.0,
        look: 0.0,
        looked_byte: 0.0,
        folded_byte: 0.0,
        combined_byte: combine_byte_ns,
        packed_byte: 0.0,
        round_turn: 0.0,
        step_turn: 0.0,
    };
    set_prices(Lists::BUILT_IN.with(Group::Network, prices.prices()));
}
