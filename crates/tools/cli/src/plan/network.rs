//! The parameters of the networks that plans are simulated on.

use clap::Args;
use weft_goal::{Machine, Network};

const DEFAULT: Network = Network::LOGGOPSIM;

/// Between two ranks of one host: a message of 8 bytes takes some 0.2 us, a copy 10 GB/s, as `weft bench` finds on
/// machines of today.
const WITHIN: Network = Network {
    latency_ns: 100.0,
    overhead_ns: 60.0,
    gap_ns: 0.0,
    gap_byte_ns: 0.1,
    overhead_byte_ns: 0.0,
    eager_bytes: 65535,
};

#[derive(Args, Debug)]
#[command(next_help_heading = "Network (LogGOPS; what LogGOPSim assumes by default)")]
pub struct Parameters {
    /// Latency between hosts
    #[arg(long = "L", value_name = "NS", value_parser = nanoseconds, default_value_t = DEFAULT.latency_ns)]
    latency: f64,
    /// What a message takes of the processor on either side
    #[arg(long = "o", value_name = "NS", value_parser = nanoseconds, default_value_t = DEFAULT.overhead_ns)]
    overhead: f64,
    /// Between two messages of an adapter
    #[arg(long = "g", value_name = "NS", value_parser = nanoseconds, default_value_t = DEFAULT.gap_ns)]
    gap: f64,
    /// What a byte takes of an adapter
    #[arg(long = "G", value_name = "NS", value_parser = nanoseconds, default_value_t = DEFAULT.gap_byte_ns)]
    gap_byte: f64,
    /// What a byte takes of the processor on either side
    #[arg(long = "O", value_name = "NS", value_parser = nanoseconds, default_value_t = DEFAULT.overhead_byte_ns)]
    overhead_byte: f64,
    /// The longest message that is sent without asking the receiver first
    #[arg(long = "S", value_name = "BYTES", default_value_t = DEFAULT.eager_bytes)]
    eager: u64,
    /// L within a host
    #[arg(long = "host-L", value_name = "NS", value_parser = nanoseconds, default_value_t = WITHIN.latency_ns)]
    host_latency: f64,
    /// o within a host
    #[arg(long = "host-o", value_name = "NS", value_parser = nanoseconds, default_value_t = WITHIN.overhead_ns)]
    host_overhead: f64,
    /// g within a host
    #[arg(long = "host-g", value_name = "NS", value_parser = nanoseconds, default_value_t = WITHIN.gap_ns)]
    host_gap: f64,
    /// G within a host
    #[arg(long = "host-G", value_name = "NS", value_parser = nanoseconds, default_value_t = WITHIN.gap_byte_ns)]
    host_gap_byte: f64,
    /// O within a host
    #[arg(long = "host-O", value_name = "NS", value_parser = nanoseconds, default_value_t = WITHIN.overhead_byte_ns)]
    host_overhead_byte: f64,
    /// S within a host
    #[arg(long = "host-S", value_name = "BYTES", default_value_t = WITHIN.eager_bytes)]
    host_eager: u64,
}

impl Parameters {
    pub fn machine(&self, ranks_a_host: u32) -> Machine {
        Machine {
            ranks_a_host,
            between: Network {
                latency_ns: self.latency,
                overhead_ns: self.overhead,
                gap_ns: self.gap,
                gap_byte_ns: self.gap_byte,
                overhead_byte_ns: self.overhead_byte,
                eager_bytes: self.eager,
            },
            within: Network {
                latency_ns: self.host_latency,
                overhead_ns: self.host_overhead,
                gap_ns: self.host_gap,
                gap_byte_ns: self.host_gap_byte,
                overhead_byte_ns: self.host_overhead_byte,
                eager_bytes: self.host_eager,
            },
        }
    }
}

pub fn nanoseconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ns) if (0.0..=1e12).contains(&ns) => Ok(ns),
        _ => Err("a number of nanoseconds".to_owned()),
    }
}
