//! Which way a long message goes: through a ring, or copied by its receiver. A pure function of a few facts, which a
//! trace tells, so that each choice can be made again from its line.
//!
//! Each way says what the message costs that way, or that it cannot go so; the cheaper one is taken. Through a ring a
//! byte is copied twice, at the same time by two cores; otherwise once, but by the kernel, which has to find the other
//! process's pages. Where the two cores are near each other the ring costs less, but for its memory, which takes longer
//! to have than to send: it is worth that once several such messages have gone the other way.

use std::fmt;

use super::facts::Facts;
use super::ways::LongWay;
use super::ways::copy::CopyWay;
use super::ways::ring::RingWay;

/// The ways of a long message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Ring,
    Copy,
}

const WAYS: [Way; 2] = [Way::Ring, Way::Copy];

/// A way, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub way: Way,
    pub facts: Facts,
}

impl Way {
    fn cost_ns(self, facts: &Facts) -> Option<u64> {
        match self {
            Way::Ring => RingWay::cost_ns(facts),
            Way::Copy => CopyWay::cost_ns(facts),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Way::Ring => "ring",
            Way::Copy => "copy",
        })
    }
}

/// The way that costs least, the first of those that cost the same.
pub fn choose(facts: Facts) -> Choice {
    let possible = WAYS
        .into_iter()
        .filter_map(|way| Some((way.cost_ns(&facts)?, way)));
    let cheapest = possible.min_by_key(|&(cost_ns, _)| cost_ns);
    let (_, way) = cheapest.expect("a ring takes everything");
    Choice { way, facts }
}

/// As a trace has it: the way, what each would cost, and the facts.
impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Choice { way, facts } = self;
        write!(out, "way={way}")?;
        for way in WAYS {
            if let Some(cost_ns) = way.cost_ns(facts) {
                write!(out, " {way}-ns={cost_ns}")?;
            }
        }
        write!(out, " {facts}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::RING_BYTES;
    use crate::pair::Pair;
    use crate::shared::Options;
    use crate::world::{memory, pair};
    use Way::{Copy, Ring};
    use weft_transport::tracer::{Recent, Trace};
    use weft_transport::{Endpoint, Fabric, Refused};

    const KIB: u64 = 1 << 10;
    const NEAR: Pair = Pair {
        is_near: true,
        copies: true,
    };
    const FAR: Pair = Pair {
        is_near: false,
        ..NEAR
    };
    const UNREADABLE: Pair = Pair {
        copies: false,
        ..FAR
    };

    fn facts(pair: Pair, bytes: u64, earlier: u32, lacking: u64) -> Facts {
        Facts {
            bytes,
            pair,
            is_contiguous: true,
            earlier,
            lacking,
            shares_cores: false,
        }
    }

    #[test]
    fn the_table() {
        let ring = RING_BYTES as u64;
        for (pair, bytes, earlier, lacking, expected) in [
            // Near: the ring, once it has memory or is worth it.
            (NEAR, 20 * KIB, 100, 0, Ring),
            (NEAR, ring, 0, 0, Ring),
            // What is longer than a ring is copied, if it can be.
            (NEAR, ring + 1, 100, 0, Copy),
            (NEAR, 4 * ring, 100, 0, Copy),
            (NEAR, 256 * KIB, 0, 512 * KIB, Copy),
            (NEAR, 256 * KIB, 8, 512 * KIB, Copy),
            (NEAR, 256 * KIB, 16, 512 * KIB, Ring),
            (NEAR, ring, 16, ring, Ring),
            // Far, or not known to be near: a copy.
            (FAR, 20 * KIB, 100, 0, Copy),
            (FAR, 4 * ring, 100, 0, Copy),
            // What the kernel does not copy.
            (UNREADABLE, 20 * KIB, 0, 64 * KIB, Ring),
            (UNREADABLE, 4 * ring, 0, ring, Ring),
        ] {
            let facts = facts(pair, bytes, earlier, lacking);
            assert_eq!(choose(facts).way, expected, "{facts:?}");
        }
    }

    #[test]
    fn what_has_gaps_goes_through_a_ring() {
        let gaps = Facts {
            is_contiguous: false,
            ..facts(FAR, 64 * KIB, 0, 128 * KIB)
        };
        assert_eq!(choose(gaps).way, Ring);
    }

    /// The sender of what is copied goes on only after its receiver has had a core.
    #[test]
    fn where_cores_are_shared_less_is_copied() {
        let alone = facts(NEAR, 20 * KIB, 4, 64 * KIB);
        let shared = Facts {
            shares_cores: true,
            ..alone
        };
        assert_eq!([alone, shared].map(|facts| choose(facts).way), [Copy, Ring]);
    }

    /// The facts and the way that a line of a trace tells.
    fn told(line: &str) -> (Facts, String) {
        let value = |name: &str| {
            let words = line.split(' ').filter_map(|word| word.split_once('='));
            let mut values = words
                .filter(|&(other, _)| other == name)
                .map(|(_, value)| value);
            values.next().unwrap_or_else(|| panic!("{name} in {line}"))
        };
        let flag = |name| value(name).parse::<bool>().unwrap();
        let facts = Facts {
            bytes: value("bytes").parse().unwrap(),
            pair: Pair {
                is_near: flag("near"),
                copies: flag("copies"),
            },
            is_contiguous: flag("contiguous"),
            earlier: value("earlier").parse().unwrap(),
            lacking: value("lacking").parse().unwrap(),
            shares_cores: flag("shares-cores"),
        };
        (facts, value("way").to_owned())
    }

    /// What a trace tells of a message is all that its way was chosen by.
    #[test]
    fn a_choice_is_made_again_from_its_line() {
        let recent = Recent::new(1 << 10);
        let trace = Trace::new(0, |_, _| Vec::new(), recent.clone());
        let (a, _b) = pair(Options::default());
        let (fabric, mut log) = (a.fabric, a.log);
        let mut endpoint = trace.endpoint(a.endpoint, 0);
        let mut source = vec![1u8; 2 << 20];
        fabric.connect(1);
        for (cookie, bytes) in [20_000, 300_000, 2 << 20]
            .repeat(20)
            .into_iter()
            .enumerate()
        {
            let mut send = || endpoint.bulk_send(1, memory(&mut source[..bytes]), cookie as u64);
            if send() == Err(Refused::Connecting) {
                fabric.connect(1);
                endpoint.poll(&mut log);
                endpoint
                    .bulk_send(1, memory(&mut source[..bytes]), cookie as u64)
                    .unwrap();
            }
            endpoint.bulk_cancel(1, cookie as u64);
        }
        let lines = recent.lines();
        let told: Vec<_> = lines
            .iter()
            .filter(|line| line.contains("bulk-open"))
            .map(|line| told(line))
            .collect();
        assert_eq!(told.len(), 60);
        for (facts, way) in told {
            assert!(
                choose(facts)
                    .to_string()
                    .starts_with(&format!("way={way} ")),
                "{facts:?}"
            );
        }
    }
}
