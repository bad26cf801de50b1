//! The line by which a process is found.

use std::fmt;

use crate::pipe::PipeName;

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
    /// By what it is found and opened ([`view`](crate::view)).
    pub view: u64,
    /// Of the pipe on which it sleeps, if it does.
    pub pipe: Option<PipeName>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [high, low] = self.key;
        write!(
            f,
            "shm1:{}:{}:{}:{high:016x}{low:016x}:{:016x}",
            self.pid, self.start, self.memfd, self.view
        )?;
        match self.pipe {
            Some(PipeName { number, inode }) => write!(f, ":{number}:{inode}"),
            None => Ok(()),
        }
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
        let memfd = descriptor(fields.next()?)?;
        let key = fields.next()?;
        if key.len() != 32 || !key.is_ascii() {
            return None;
        }
        let half = |hex: &str| u64::from_str_radix(hex, 16).ok();
        let view = fields.next().filter(|view| view.len() == 16)?;
        let pipe = match fields.next() {
            None => None,
            Some(number) => Some(PipeName {
                number: descriptor(number)?,
                inode: fields.next()?.parse().ok()?,
            }),
        };
        if fields.next().is_some() {
            return None;
        }
        Some(Card {
            pid,
            start,
            memfd,
            key: [half(&key[..16])?, half(&key[16..])?],
            view: half(view)?,
            pipe,
        })
    }
}

fn descriptor(number: &str) -> Option<u32> {
    let number = number.parse().ok()?;
    (number <= i32::MAX as u32).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Card = Card {
        pid: 7,
        start: 123_456,
        memfd: 3,
        key: [1, u64::MAX],
        view: 5,
        pipe: None,
    };
    const WITH_PIPE: Card = Card {
        pipe: Some(PipeName {
            number: 4,
            inode: u64::MAX,
        }),
        ..CARD
    };

    #[test]
    fn round_trip() {
        for card in [CARD, WITH_PIPE] {
            assert_eq!(Card::parse(&card.to_string()), Some(card));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let good = CARD.to_string();
        for end in 0..good.len() {
            assert_eq!(Card::parse(&good[..end]), None);
        }
        let more = format!("{good}:");
        let number_only = format!("{good}:4");
        let no_number = format!("{good}:-1:5");
        let too_much = format!("{WITH_PIPE}:");
        let long = good.replace(":7:", ":4294967295:");
        let foreign = good.replace("0001", "ü01");
        let made = [&more, &number_only, &no_number, &too_much, &long, &foreign];
        let fixed = ["", "shm1", "tcp:1", "shm1:0:1:3:0"];
        for bad in made.into_iter().map(String::as_str).chain(fixed) {
            assert_eq!(Card::parse(bad), None, "{bad}");
        }
    }
}
