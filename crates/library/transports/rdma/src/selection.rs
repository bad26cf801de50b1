//! Which ports of adapters a process uses: those that the user names, else the fastest that are up.

use std::fmt;
use std::str::FromStr;

use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, ibv_link_layer};

/// Ports that a process uses at a time.
pub const MOST_RAILS: usize = 4;

/// Adapters, or ports of them, by name: `mlx5_0,mlx5_1:2`. Without any the choice is the library's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection(Vec<Named>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    device: String,
    /// All that are up, if there is none.
    port: Option<u8>,
}

impl Named {
    fn is(&self, found: &Found) -> bool {
        self.device == found.device && self.port.is_none_or(|port| port == found.port)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            None => f.write_str(&self.device),
            Some(port) => write!(f, "{}:{port}", self.device),
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Selection, String> {
        let mut all = Vec::new();
        for item in text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            let (device, port) = match item.split_once(':') {
                None => (item, None),
                Some((device, port)) => {
                    let number = port.parse().ok().filter(|&port: &u8| port > 0);
                    let number = number
                        .ok_or_else(|| format!("`{item}`: `{port}` is no port from 1 to 255"))?;
                    (device, Some(number))
                }
            };
            let named = Named {
                device: device.to_owned(),
                port,
            };
            if all.contains(&named) {
                return Err(format!("`{item}` stands twice"));
            }
            all.push(named);
        }
        Ok(Selection(all))
    }
}

impl Selection {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A port that there is on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub device: String,
    pub port: u8,
    pub is_up: bool,
    pub link_layer: ibv_link_layer,
    pub speed_mbit: u32,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.port)
    }
}

/// What becomes of a port, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Used,
    NotNamed,
    Down,
    /// Others are of a faster class.
    Slower,
    /// Those that are used are on another kind of network.
    OtherNetwork,
    /// There are as many as are used already.
    TooMany,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Use::Used => "used",
            Use::NotNamed => "not used: others are named",
            Use::Down => "not used: it is down",
            Use::Slower => "not used: others are faster",
            Use::OtherNetwork => "not used: others are on another kind of network",
            Use::TooMany => "not used: four others are",
        })
    }
}

/// What becomes of each port. A name that none of them has is an error that tells those that there are, and so is one of a port that
/// is down.
pub fn judge(found: &[Found], named: &Selection) -> Result<Vec<Use>, String> {
    for name in &named.0 {
        let mut its = found.iter().filter(|found| name.is(found)).peekable();
        if its.peek().is_none() {
            let all: Vec<String> = found.iter().map(Found::to_string).collect();
            let all = match all.is_empty() {
                true => "this host has none".to_owned(),
                false => format!("there are {}", all.join(", ")),
            };
            return Err(format!("there is no adapter or port `{name}`: {all}"));
        }
        if its.all(|found| !found.is_up) {
            return Err(format!("`{name}` is down"));
        }
    }
    let mut all: Vec<Use> = found.iter().map(|one| of_itself(one, named)).collect();
    let candidates = || {
        found
            .iter()
            .zip(&all)
            .filter(|(_, use_)| **use_ == Use::Used)
    };
    let Some(fastest) = candidates().map(|(found, _)| found.speed_mbit).max() else {
        return Ok(all);
    };
    let is_named = !named.is_empty();
    let first = candidates().find(|(found, _)| is_named || found.speed_mbit == fastest);
    let network = first.map(|(found, _)| found.link_layer == IBV_LINK_LAYER_ETHERNET);
    let mut used = 0;
    for (found, use_) in found.iter().zip(&mut all) {
        if *use_ != Use::Used {
            continue;
        }
        *use_ = match () {
            () if !is_named && found.speed_mbit < fastest => Use::Slower,
            () if Some(found.link_layer == IBV_LINK_LAYER_ETHERNET) != network => Use::OtherNetwork,
            () if used == MOST_RAILS => Use::TooMany,
            () => Use::Used,
        };
        used += usize::from(*use_ == Use::Used);
    }
    Ok(all)
}

fn of_itself(found: &Found, named: &Selection) -> Use {
    match () {
        () if !named.is_empty() && !named.0.iter().any(|name| name.is(found)) => Use::NotNamed,
        () if !found.is_up => Use::Down,
        () => Use::Used,
    }
}

#[cfg(test)]
mod tests {
    use weft_verbs::abi::IBV_LINK_LAYER_INFINIBAND;

    use super::*;

    fn port(device: &str, port: u8, speed_mbit: u32) -> Found {
        Found {
            device: device.to_owned(),
            port,
            is_up: true,
            link_layer: IBV_LINK_LAYER_INFINIBAND,
            speed_mbit,
        }
    }

    fn judged(found: &[Found], named: &str) -> Result<Vec<Use>, String> {
        judge(found, &named.parse().unwrap())
    }

    #[test]
    fn the_fastest_that_are_up_are_used() {
        let down = Found {
            is_up: false,
            ..port("a", 2, 200_000)
        };
        let ethernet = Found {
            link_layer: IBV_LINK_LAYER_ETHERNET,
            ..port("c", 1, 100_000)
        };
        let found = [
            port("a", 1, 100_000),
            down,
            port("b", 1, 25_000),
            ethernet,
            port("d", 1, 100_000),
        ];
        let all = [
            Use::Used,
            Use::Down,
            Use::Slower,
            Use::OtherNetwork,
            Use::Used,
        ];
        assert_eq!(judged(&found, "").unwrap(), all);
        let named = judged(&found, "b, d:1").unwrap();
        assert_eq!(
            (named[2], named[4], named[0]),
            (Use::Used, Use::Used, Use::NotNamed)
        );
        let why = judged(&found, "a:2").unwrap_err();
        assert_eq!(why, "`a:2` is down");
        // One of its ports is up.
        assert_eq!(judged(&found, "a").unwrap()[..2], [Use::Used, Use::Down]);
        let why = judged(&found, "mlx5_0").unwrap_err();
        assert!(
            why.contains("`mlx5_0`: there are a:1, a:2, b:1, c:1, d:1"),
            "{why}"
        );
        assert!(
            judged(&[], "a")
                .unwrap_err()
                .ends_with("this host has none")
        );
        assert_eq!(judged(&[], "").unwrap(), []);
    }

    #[test]
    fn more_than_four_are_not_used() {
        let found: Vec<Found> = (1..=6).map(|number| port("a", number, 1)).collect();
        let all = judged(&found, "").unwrap();
        assert!(all[..4].iter().all(|&one| one == Use::Used));
        assert_eq!(all[4..], [Use::TooMany; 2]);
    }

    #[test]
    fn what_is_no_name_is_an_error() {
        for text in ["a:0", "a:x", "a:256", "a,a", "b:1, b:1"] {
            assert!(text.parse::<Selection>().is_err(), "{text}");
        }
        assert!(" , ".parse::<Selection>().unwrap().is_empty());
    }
}
