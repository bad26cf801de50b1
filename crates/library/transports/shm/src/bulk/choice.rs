//! Which way a long message goes: through a ring, or copied by its receiver. A pure function of a few facts, which a
//! trace tells, so that each choice can be made again from its line.
//!
//! Each way says what the message costs that way, or that it cannot go so; the cheaper one is taken. Through a ring a
//! byte is copied twice, at the same time by two cores; otherwise once, but by the kernel, which has to find the other
//! process's pages. Where the two cores are near each other the ring costs less, but for its memory, which takes longer
//! to have than to send: it is worth that once several such messages have gone the other way.

use std::fmt;

use crate::pair::Pair;

/// All that a choice goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub bytes: u64,
    pub pair: Pair,
    /// The bytes lie together at the sender.
    pub is_contiguous: bool,
    /// Long messages from this process to that one before this one.
    pub earlier: u32,
    /// Bytes of memory that a ring would have to have for it.
    pub lacking: u64,
    /// The host has more processes than cores.
    pub shares_cores: bool,
}

impl Facts {
    pub fn can_be_copied(&self) -> bool {
        self.is_contiguous && self.pair.copies
    }
}

/// The ways of a long message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Ring,
    Copy,
}

/// A way, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub way: Way,
    pub facts: Facts,
}

/// What a byte takes through a ring and copied by the kernel, in picoseconds, between near cores and others. Measured
/// with 256 KiB to 2 MiB on two cores of an AMD EPYC (Zen 4, Linux 6.18) that share a cache: 54 and 95 to 142; on a Xeon of
/// 16 cores 58 to 61 and 60 to 96. Far ones are cores of such an EPYC that share no cache: there a line that the other
/// core has read is dear to write.
const RING_PS: [u64; 2] = [55, 450];
const COPY_PS: [u64; 2] = [95, 150];
/// What a byte of new memory takes, in picoseconds: more than 1 us a page, on the same EPYC.
const MEMORY_PS: u64 = 250;
/// What a copy costs its sender where processes share cores, in nanoseconds: it goes on only when its receiver has had a
/// core, and then it itself; two switches and yields of the same EPYC.
const IN_TURNS_NS: u64 = 4000;

/// What a message takes through a ring, in nanoseconds. The ring's memory is shared out to this message and to as many as
/// came before it: as many are expected to follow.
fn ring_ns(facts: &Facts) -> u64 {
    let memory_ps = facts.lacking * MEMORY_PS / (u64::from(facts.earlier) + 1);
    let moved_ps = facts.bytes * RING_PS[usize::from(!facts.pair.is_near)];
    (moved_ps + memory_ps) / 1000
}

/// What it takes to be copied; None if it cannot be.
fn copy_ns(facts: &Facts) -> Option<u64> {
    let in_turns_ns = match facts.shares_cores {
        true => IN_TURNS_NS,
        false => 0,
    };
    let moved_ps = facts.bytes * COPY_PS[usize::from(!facts.pair.is_near)];
    facts
        .can_be_copied()
        .then_some(moved_ps / 1000 + in_turns_ns)
}

/// The way that costs less.
pub fn choose(facts: Facts) -> Choice {
    let way = match copy_ns(&facts) {
        Some(copy) if copy < ring_ns(&facts) => Way::Copy,
        _ => Way::Ring,
    };
    Choice { way, facts }
}

impl Choice {
    /// A way that was asked for.
    pub fn asked(way: Way, facts: Facts) -> Choice {
        Choice { way, facts }
    }
}

/// As a trace has it.
impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.way {
            Way::Ring => "ring",
            Way::Copy => "copy",
        };
        write!(out, "way={way} ring-ns={}", ring_ns(&self.facts))?;
        if let Some(copy) = copy_ns(&self.facts) {
            write!(out, " copy-ns={copy}")?;
        }
        let Facts {
            bytes: _,
            pair: Pair { is_near, copies },
            is_contiguous,
            earlier,
            lacking,
            shares_cores,
        } = self.facts;
        write!(
            out,
            " near={is_near} copies={copies} contiguous={is_contiguous} earlier={earlier} \
             lacking={lacking} shares-cores={shares_cores}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::RING_BYTES;
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
            (NEAR, 4 * ring, 0, 0, Ring),
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
