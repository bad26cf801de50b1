//! The line by which a process is found.

use std::fmt;

/// Where a process's segment is, and by what to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub pid: u32,
    /// When the process started, in clock ticks since boot: tells it from a later one of the same number.
    pub start: u64,
    /// Its number for the segment's memfd.
    pub memfd: u32,
    /// Random words that also stand in the segment.
    pub key: [u64; 2],
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [high, low] = self.key;
        write!(
            f,
            "shm1:{}:{}:{}:{high:016x}{low:016x}",
            self.pid, self.start, self.memfd
        )
    }
}

impl Card {
    /// Reads a card; it is what another process wrote, so anything may come.
    pub fn parse(line: &str) -> Option<Card> {
        let mut fields = line.split(':');
        if fields.next()? != "shm1" {
            return None;
        }
        let pid = fields
            .next()?
            .parse()
            .ok()
            .filter(|&pid| pid > 0 && pid <= i32::MAX as u32)?;
        let start = fields.next()?.parse().ok()?;
        let memfd = fields
            .next()?
            .parse()
            .ok()
            .filter(|&memfd| memfd <= i32::MAX as u32)?;
        let key = fields.next()?;
        if fields.next().is_some() || key.len() != 32 || !key.is_ascii() {
            return None;
        }
        let half = |hex: &str| u64::from_str_radix(hex, 16).ok();
        Some(Card {
            pid,
            start,
            memfd,
            key: [half(&key[..16])?, half(&key[16..])?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let card = Card {
            pid: 7,
            start: 123_456,
            memfd: 3,
            key: [1, u64::MAX],
        };
        assert_eq!(Card::parse(&card.to_string()), Some(card));
    }

    #[test]
    fn anything_else_is_refused() {
        let good = Card {
            pid: 7,
            start: 1,
            memfd: 3,
            key: [1, 2],
        }
        .to_string();
        for end in 0..good.len() {
            assert_eq!(Card::parse(&good[..end]), None);
        }
        let more = format!("{good}:");
        let long = good.replace(":7:", ":4294967295:");
        let foreign = good.replace("0001", "ü01");
        for bad in ["", "shm1", "tcp:1", "shm1:0:1:3:0", &more, &long, &foreign] {
            assert_eq!(Card::parse(bad), None, "{bad}");
        }
    }
}
