//! Mixes of message lengths, and what pools make of them: how much of the receive buffers is used and how much is not.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use crate::{Pools, Reach, Selection};

/// Which lengths messages have, headers included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Tokens of 64 to 128 bytes.
    Synchronization,
    /// A cube's halo: 6 faces of 8 KiB, 12 edges of 512 bytes, 8 corners of 96 bytes.
    Halo,
    /// Particles that change places: 64 bytes to 4 KiB, all equally often.
    Particles,
    /// A graph's boundaries: 64 bytes to 16 KiB, each doubling equally often.
    Graph,
    /// A transposition's blocks, 12 to 16 KiB; each tenth message a token.
    Transposition,
}

impl Mix {
    pub const ALL: [Mix; 5] = [
        Mix::Synchronization,
        Mix::Halo,
        Mix::Particles,
        Mix::Graph,
        Mix::Transposition,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Mix::Synchronization => "synchronization",
            Mix::Halo => "halo",
            Mix::Particles => "particles",
            Mix::Graph => "graph",
            Mix::Transposition => "transposition",
        }
    }

    /// Lengths without end, the same ones each time.
    pub fn lengths(self) -> impl Iterator<Item = u32> {
        let mut random = Random(0x5851_f42d_4c95_7f2d);
        std::iter::repeat_with(move || self.length(&mut random))
    }

    fn length(self, random: &mut Random) -> u32 {
        match self {
            Mix::Synchronization => random.between(64, 128),
            Mix::Halo => match random.between(1, 26) {
                1..=6 => 8 << 10,
                7..=18 => 512,
                _ => 96,
            },
            Mix::Particles => random.between(64, 4 << 10),
            Mix::Graph => {
                let doubling = 64 << random.between(0, 7);
                random.between(doubling, 2 * doubling)
            }
            Mix::Transposition => match random.between(1, 10) {
                1 => random.between(64, 128),
                _ => random.between(12 << 10, 16 << 10),
            },
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(name: &str) -> Result<Mix, String> {
        let found = Mix::ALL.into_iter().find(|mix| mix.name() == name);
        let names: Vec<&str> = Mix::ALL.into_iter().map(Mix::name).collect();
        found.ok_or_else(|| format!("no mix `{name}`, of {}", names.join(", ")))
    }
}

/// Steele, Lea, Flood, *Fast splittable pseudorandom number generators* (OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Both ends included.
    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + (self.next() % u64::from(most - least + 1)) as u32
    }
}

/// What the messages of a mix took of one pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Of a buffer.
    pub bytes: u32,
    pub messages: u64,
    /// Bytes of buffers that messages filled, and that they left empty.
    pub used_bytes: u64,
    pub wasted_bytes: u64,
    /// Buffers that held a message at one time.
    pub most_held: u64,
}

/// What the messages of a mix took of all pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixUse {
    pub pools: Vec<PoolUse>,
    /// Longer than all buffers, moved without one.
    pub too_long: u64,
}

impl MixUse {
    /// So many messages arrive, each in the smallest buffer that holds it; the receiver has always `held` of them before it that it has
    /// not taken out.
    pub fn simulate(pools: &Pools, lengths: impl Iterator<Item = u32>, held: usize) -> MixUse {
        let selection = pools.toward(Reach::Xrc);
        let mut mix_use = MixUse::unused(&selection);
        let mut queue: VecDeque<usize> = VecDeque::with_capacity(held);
        let mut in_pool = vec![0u64; mix_use.pools.len()];
        for length in lengths {
            let fits = |pool: &PoolUse| pool.bytes >= length;
            let Some(chosen) = mix_use.pools.iter().position(fits) else {
                mix_use.too_long += 1;
                continue;
            };
            if queue.len() == held
                && let Some(first) = queue.pop_front()
            {
                in_pool[first] -= 1;
            }
            queue.push_back(chosen);
            in_pool[chosen] += 1;
            mix_use.pools[chosen].add(length, in_pool[chosen]);
        }
        mix_use
    }

    fn unused(selection: &Selection) -> MixUse {
        let pool = |bytes| PoolUse {
            bytes,
            ..PoolUse::default()
        };
        MixUse {
            pools: selection.pools().iter().map(|p| pool(p.bytes)).collect(),
            too_long: 0,
        }
    }

    pub fn used_bytes(&self) -> u64 {
        self.pools.iter().map(|pool| pool.used_bytes).sum()
    }

    pub fn wasted_bytes(&self) -> u64 {
        self.pools.iter().map(|pool| pool.wasted_bytes).sum()
    }

    /// Bytes of the buffers that have to be there for none to be missing.
    pub fn needed_bytes(&self) -> u64 {
        let needed = |pool: &PoolUse| pool.most_held * u64::from(pool.bytes);
        self.pools.iter().map(needed).sum()
    }
}

impl PoolUse {
    fn add(&mut self, length: u32, held: u64) {
        self.messages += 1;
        self.used_bytes += u64::from(length);
        self.wasted_bytes += u64::from(self.bytes - length);
        self.most_held = self.most_held.max(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools(text: &str) -> Pools {
        text.parse().unwrap()
    }

    #[test]
    fn lengths_are_those_of_the_mix() {
        let ends = |mix: Mix| {
            let lengths: Vec<u32> = mix.lengths().take(20_000).collect();
            (
                *lengths.iter().min().unwrap(),
                *lengths.iter().max().unwrap(),
            )
        };
        assert_eq!(ends(Mix::Synchronization), (64, 128));
        assert_eq!(ends(Mix::Halo), (96, 8192));
        assert_eq!(ends(Mix::Particles), (64, 4096));
        let (least, most) = ends(Mix::Graph);
        assert!(least < 70 && (16_000..=16_384).contains(&most));
        let (least, most) = ends(Mix::Transposition);
        assert!(least == 64 && most > 16_380);
        let faces = Mix::Halo.lengths().take(26_000);
        let faces = faces.filter(|length| *length == 8192).count();
        assert!((5500..6500).contains(&faces), "{faces}");
    }

    #[test]
    fn names_are_read() {
        for mix in Mix::ALL {
            assert_eq!(mix.name().parse(), Ok(mix));
        }
        assert!("fast".parse::<Mix>().unwrap_err().contains("particles"));
    }

    #[test]
    fn a_message_wastes_what_it_leaves_of_its_buffer() {
        let lengths = [100, 128, 129, 1000, 1025, 64];
        let mix_use = MixUse::simulate(&pools("S,128,8:X,1k,8"), lengths.into_iter(), 2);
        let small = PoolUse {
            bytes: 128,
            messages: 3,
            used_bytes: 292,
            wasted_bytes: 92,
            most_held: 2,
        };
        let large = PoolUse {
            bytes: 1024,
            messages: 2,
            used_bytes: 1129,
            wasted_bytes: 919,
            most_held: 2,
        };
        assert_eq!(mix_use.pools, [small, large]);
        assert_eq!(mix_use.too_long, 1);
        assert_eq!(mix_use.needed_bytes(), 256 + 2048);
    }

    #[test]
    fn more_sizes_never_waste_more() {
        let several = pools("X,256,8:X,2k,8:X,16k,8");
        let one = pools("X,16k,24");
        for mix in Mix::ALL {
            let mix_use = |pools| MixUse::simulate(pools, mix.lengths().take(10_000), 64);
            let (several, one) = (mix_use(&several), mix_use(&one));
            assert_eq!(several.used_bytes(), one.used_bytes(), "{mix}");
            assert!(several.wasted_bytes() <= one.wasted_bytes(), "{mix}");
            let held: u64 = several.pools.iter().map(|pool| pool.most_held).sum();
            assert!(one.pools[0].most_held == 64 && held >= 64, "{mix}");
        }
    }
}
