//! The CPUs that a process may run on, and those that the processes of a host may run on between them.
//!
//! A card begins with those of its process: a bit for each CPU in hexadecimal, the lowest first, a slash, how many the process may keep busy,
//! and a bar, before which there is nothing where the launcher has told how many cores the host has.

use std::fmt::Write;

use crate::error::{Error, Result};
use crate::ffi;

/// More CPUs than any kernel is built for.
const BYTES_MAX: usize = 1 << 14;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// A bit for each CPU.
    mask: Vec<u8>,
    /// How many may be busy at once, where that is less than the bits: a container's share of processor time.
    quota: Option<u32>,
}

impl Cores {
    pub fn of_this_process() -> Cores {
        let allowed = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let mut cores = Cores {
            mask: ffi::affinity(),
            quota: None,
        };
        if allowed < cores.bits() || cores.bits() == 0 {
            cores.quota = Some(allowed);
        }
        cores
    }

    /// A card that begins with this.
    pub fn on(&self, card: &str) -> String {
        let mut text = String::new();
        if *self != Cores::default() {
            for byte in &self.mask {
                let _ = write!(text, "{byte:02x}");
            }
            let _ = write!(text, "/{}", self.quota.unwrap_or(0));
        }
        format!("{text}|{card}")
    }

    /// Splits a published card into the cores that it begins with and the card of the transport.
    pub fn read(rank: u32, card: &str) -> Result<(Cores, String)> {
        let malformed = || Error::Card(format!("the card of rank {rank} is malformed"));
        let (cores, card) = card.split_once('|').ok_or_else(malformed)?;
        let cores = match cores {
            "" => Cores::default(),
            cores => Cores::parse(cores).ok_or_else(malformed)?,
        };
        Ok((cores, card.to_owned()))
    }

    fn parse(text: &str) -> Option<Cores> {
        let (mask, quota) = text.split_once('/')?;
        let quota: u32 = quota.parse().ok()?;
        let is_hexadecimal = mask.bytes().all(|byte| byte.is_ascii_hexdigit());
        if mask.len() % 2 != 0 || mask.len() / 2 > BYTES_MAX || !is_hexadecimal {
            return None;
        }
        let bytes = (0..mask.len()).step_by(2);
        let bytes = bytes.map(|at| u8::from_str_radix(&mask[at..at + 2], 16).ok());
        Some(Cores {
            mask: bytes.collect::<Option<_>>()?,
            quota: (quota > 0).then_some(quota),
        })
    }

    /// Adds the CPUs that another process of the host may run on.
    pub fn add(&mut self, other: &Cores) {
        if self.mask.len() < other.mask.len() {
            self.mask.resize(other.mask.len(), 0);
        }
        for (own, other) in self.mask.iter_mut().zip(&other.mask) {
            *own |= other;
        }
        self.quota = match (self.quota, other.quota) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
    }

    fn bits(&self) -> u32 {
        self.mask.iter().map(|byte| byte.count_ones()).sum()
    }

    /// How many can be busy at once; at least one.
    pub fn count(&self) -> u32 {
        let bits = match self.bits() {
            0 => u32::MAX,
            bits => bits,
        };
        bits.min(self.quota.unwrap_or(bits)).clamp(1, 1 << 17)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cores(cpus: &[usize], quota: Option<u32>) -> Cores {
        let mut mask = vec![0; cpus.iter().max().map_or(0, |last| last / 8 + 1)];
        for cpu in cpus {
            mask[cpu / 8] |= 1 << (cpu % 8);
        }
        Cores { mask, quota }
    }

    fn together(all: &[Cores]) -> u32 {
        let mut sum = Cores::default();
        all.iter().for_each(|one| sum.add(one));
        sum.count()
    }

    #[test]
    fn a_host_has_what_its_ranks_have_between_them() {
        assert_eq!(
            together(&[cores(&[0], None), cores(&[1], None), cores(&[9], None)]),
            3
        );
        assert_eq!(together(&[cores(&[0, 1], None), cores(&[1], None)]), 2);
        assert_eq!(
            together(&[cores(&[0, 1, 2, 3], Some(2)), cores(&[3, 4], None)]),
            2
        );
        assert_eq!(together(&[cores(&[], Some(3))]), 3);
        assert_eq!(together(&[]), 1 << 17, "no mask at all");
    }

    #[test]
    fn this_process_may_run_somewhere() {
        let here = Cores::of_this_process();
        assert!(here.count() >= 1);
        let count = std::thread::available_parallelism().unwrap().get();
        assert_eq!(here.count() as usize, count);
    }

    #[test]
    fn nonsense_is_refused() {
        for card in [
            "",
            "card",
            "ff|card",
            "f/0|card",
            "zz/0|card",
            "ff/x|card",
            "+1/0|card",
            "\u{e9}/0|card",
        ] {
            assert!(Cores::read(3, card).is_err(), "{card}");
        }
    }

    proptest! {
        #[test]
        fn a_card_keeps_what_it_begins_with(mask in prop::collection::vec(any::<u8>(), 0..40), quota in 0u32..9, card in "[!-~]{0,40}") {
            let cores = Cores { mask, quota: (quota > 0).then_some(quota) };
            prop_assert_eq!(Cores::read(0, &cores.on(&card)).unwrap(), (cores, card));
        }

        #[test]
        fn any_card_is_read_or_refused(card in "[0-9a-f/|]{0,30}") {
            let _ = Cores::read(0, &card);
        }
    }
}
