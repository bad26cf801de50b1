//! The line by which a process is found.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use weft_credentials::Key;

/// A card stays short: a launcher may carry no more than 1,024 bytes of it and others'.
pub const MOST_ADDRESSES: usize = 14;

/// Where a process listens, and by what it knows its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub port: u16,
    pub key: Key,
    /// Each interface's, in the order in which their owner would have them tried.
    pub interfaces: Vec<Vec<IpAddr>>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp1:{}:{}:", self.port, self.key)?;
        for (number, addresses) in self.interfaces.iter().enumerate() {
            for (index, address) in addresses.iter().enumerate() {
                let before = match (number, index) {
                    (0, 0) => "",
                    (_, 0) => "/",
                    _ => ",",
                };
                write!(f, "{before}{address}")?;
            }
        }
        Ok(())
    }
}

impl Card {
    /// Reads a card; it is what another process wrote, so anything may come.
    pub fn parse(line: &str) -> Option<Card> {
        let mut fields = line.splitn(4, ':');
        if fields.next()? != "tcp1" {
            return None;
        }
        let port = fields.next()?.parse().ok().filter(|&port| port != 0)?;
        let key = Key::parse(fields.next()?)?;
        let address = |text: &str| text.parse().ok().filter(can_be_reached);
        let list = |texts: &str| {
            texts
                .split(',')
                .map(address)
                .collect::<Option<Vec<IpAddr>>>()
        };
        let interfaces = fields.next()?.split('/').map(list);
        let interfaces = interfaces.collect::<Option<Vec<_>>>()?;
        let count: usize = interfaces.iter().map(Vec::len).sum();
        (count <= MOST_ADDRESSES).then_some(Card {
            port,
            key,
            interfaces,
        })
    }

    /// All addresses, in order.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.interfaces.concat()
    }
}

/// Whether an address names one host at most, wherever it is read.
pub fn can_be_reached(address: &IpAddr) -> bool {
    let link_local = |address: &Ipv6Addr| address.segments()[0] & 0xffc0 == 0xfe80;
    match address {
        IpAddr::V4(v4) => !v4.is_unspecified() && !v4.is_multicast() && !v4.is_broadcast(),
        IpAddr::V6(v6) => !v6.is_unspecified() && !v6.is_multicast() && !link_local(v6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(addresses: usize) -> Card {
        let address = |n: usize| match n % 2 {
            0 => format!("10.77.0.{n}"),
            _ => format!("fd77:aaaa:bbbb:cccc:dddd:eeee:ffff:12{n:02}"),
        };
        Card {
            port: 65535,
            key: Key::new([0xab; 16]),
            interfaces: (1..=addresses)
                .map(|n| address(n).parse().unwrap())
                .collect::<Vec<IpAddr>>()
                .chunks(3)
                .map(<[IpAddr]>::to_vec)
                .collect(),
        }
    }

    #[test]
    fn round_trip_and_length() {
        for addresses in 1..=MOST_ADDRESSES {
            let card = card(addresses);
            let line = card.to_string();
            let read = Card::parse(&line).unwrap();
            assert_eq!((read.addresses().len(), read), (addresses, card));
            assert!(line.len() < 800, "{}", line.len());
            assert!(
                line.bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b';')
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let good = card(1).to_string();
        for end in 0..good.len() - 1 {
            // A shorter address may be one too.
            let part = &good[..end];
            assert!(Card::parse(part).is_none_or(|card| card.to_string() == part));
        }
        let many = card(MOST_ADDRESSES + 1).to_string();
        let key = "ab".repeat(16);
        let signed = format!("tcp1:7:+{}:10.0.0.1", &key[1..]);
        let nobody = format!("tcp1:7:{key}:0.0.0.0");
        let all = format!("tcp1:7:{key}:10.0.0.1,224.0.0.1");
        let closed = format!("tcp1:0:{key}:10.0.0.1");
        let scoped = format!("tcp1:7:{key}:fe80::1");
        let nothing = format!("tcp1:7:{key}:10.0.0.1//10.0.0.2");
        for bad in [
            "",
            "tcp1",
            "shm1:1:2:3:4",
            &many,
            &signed,
            &nobody,
            &all,
            &closed,
            &scoped,
            &nothing,
        ] {
            assert_eq!(Card::parse(bad), None, "{bad}");
        }
    }
}
