//! What a user sets in the environment. Read once, when the devices are first asked for; a value that cannot be used is an
//! error with a line that names it, never ignored.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::fabric::numbers::MAX_DEVICES;
use crate::fault::Faults;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    Infiniband,
    Ethernet,
}

/// The settings of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Processes of one user that name the same fabric can reach each other.
    pub fabric: String,
    pub devices: u32,
    pub link_layer: LinkLayer,
    /// The host's number: the LID of its first device.
    pub lid: u16,
    /// The address that RoCEv2 uses, and from which GIDs are made.
    pub ip: Ipv4Addr,
    /// The UDP port of the fabric, on all its hosts.
    pub udp_port: u16,
    pub faults: Faults,
}

/// Why a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    fn new(name: &str, value: &str, reason: impl fmt::Display) -> ConfigError {
        ConfigError(format!("{name}={value}: {reason}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Config {
    /// This process's settings.
    pub fn of_process() -> Result<&'static Config, &'static ConfigError> {
        static CONFIG: OnceLock<Result<Config, ConfigError>> = OnceLock::new();
        CONFIG
            .get_or_init(|| Config::from_variables(|name| std::env::var(name).ok(), first_address))
            .as_ref()
    }

    /// Reads the variables by `variable`; the host's address is only looked for when none is set.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        host_address: impl FnOnce() -> Option<Ipv4Addr>,
    ) -> Result<Config, ConfigError> {
        let read = |name: &str| variable(name).filter(|value| !value.is_empty());
        Ok(Config {
            fabric: fabric(read("SOFTRDMA_FABRIC"))?,
            devices: number(&read, "SOFTRDMA_DEVICES", 1, 1..=MAX_DEVICES)?,
            link_layer: link_layer(read("SOFTRDMA_LINK_LAYER"))?,
            // LIDs from 0xc000 on are multicast, and the devices of a host have consecutive ones.
            lid: number(&read, "SOFTRDMA_HOST", 1, 1..=0xbfff - MAX_DEVICES)? as u16,
            ip: match read("SOFTRDMA_IP") {
                Some(text) => Ipv4Addr::from_str(&text)
                    .map_err(|error| ConfigError::new("SOFTRDMA_IP", &text, error))?,
                None => host_address().unwrap_or(Ipv4Addr::LOCALHOST),
            },
            udp_port: number(
                &read,
                "SOFTRDMA_UDP_PORT",
                weft_roce::UDP_PORT.into(),
                1..=65535,
            )? as u16,
            faults: match read("SOFTRDMA_FAULTS") {
                Some(text) => Faults::parse(&text)
                    .map_err(|reason| ConfigError::new("SOFTRDMA_FAULTS", &text, reason))?,
                None => Faults::default(),
            },
        })
    }
}

fn fabric(value: Option<String>) -> Result<String, ConfigError> {
    let name = value.unwrap_or_else(|| "default".to_owned());
    let fits = name.len() <= 32
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if fits {
        Ok(name)
    } else {
        let reason = "at most 32 letters, digits, '-', '_' and '.'";
        Err(ConfigError::new("SOFTRDMA_FABRIC", &name, reason))
    }
}

fn link_layer(value: Option<String>) -> Result<LinkLayer, ConfigError> {
    match value.as_deref() {
        None | Some("infiniband") => Ok(LinkLayer::Infiniband),
        Some("ethernet") => Ok(LinkLayer::Ethernet),
        Some(other) => {
            let reason = "neither infiniband nor ethernet";
            Err(ConfigError::new("SOFTRDMA_LINK_LAYER", other, reason))
        }
    }
}

fn number(
    read: &impl Fn(&str) -> Option<String>,
    name: &str,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, ConfigError> {
    let Some(text) = read(name) else {
        return Ok(default);
    };
    match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => {
            let reason = format!("not a number from {} to {}", range.start(), range.end());
            Err(ConfigError::new(name, &text, reason))
        }
    }
}

/// The first address of an interface that is up and not the loopback.
fn first_address() -> Option<Ipv4Addr> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `list` is writable.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return None;
    }
    let mut found = None;
    let mut at = list;
    while !at.is_null() && found.is_none() {
        // SAFETY: an element of the list, which lives until freeifaddrs; `ifa_addr` is null or an address of the
        // family that it names.
        unsafe {
            let interface = &*at;
            let up = interface.ifa_flags & libc::IFF_UP as u32 != 0
                && interface.ifa_flags & libc::IFF_LOOPBACK as u32 == 0;
            let address = interface.ifa_addr;
            if up && !address.is_null() && i32::from((*address).sa_family) == libc::AF_INET {
                let address = &*address.cast::<libc::sockaddr_in>();
                found = Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
            }
            at = interface.ifa_next;
        }
    }
    // SAFETY: the list came from getifaddrs and nothing of it is kept.
    unsafe { libc::freeifaddrs(list) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Config, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Config::from_variables(variable, || Some(Ipv4Addr::new(10, 1, 2, 3)))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_set() {
        let config = config(&[]).unwrap();
        assert_eq!(config.fabric, "default");
        assert_eq!(config.devices, 1);
        assert_eq!(config.link_layer, LinkLayer::Infiniband);
        assert_eq!(config.lid, 1);
        assert_eq!(config.ip, Ipv4Addr::new(10, 1, 2, 3));
        assert_eq!(config.udp_port, 4791);
        assert_eq!(config.faults, Faults::default());
    }

    #[test]
    fn what_is_set() {
        let config = config(&[
            ("SOFTRDMA_FABRIC", "job-1.a"),
            ("SOFTRDMA_DEVICES", "4"),
            ("SOFTRDMA_LINK_LAYER", "ethernet"),
            ("SOFTRDMA_HOST", "77"),
            ("SOFTRDMA_IP", "192.0.2.9"),
            ("SOFTRDMA_UDP_PORT", "14791"),
            ("SOFTRDMA_FAULTS", "fail=reg_mr:3"),
        ])
        .unwrap();
        assert_eq!(config.fabric, "job-1.a");
        assert_eq!(config.devices, 4);
        assert_eq!(config.link_layer, LinkLayer::Ethernet);
        assert_eq!(config.lid, 77);
        assert_eq!(config.ip, Ipv4Addr::new(192, 0, 2, 9));
        assert_eq!(config.udp_port, 14791);
    }

    #[test]
    fn unusable_values_are_named() {
        for (name, value) in [
            ("SOFTRDMA_FABRIC", "a/b"),
            ("SOFTRDMA_FABRIC", "123456789012345678901234567890123"),
            ("SOFTRDMA_DEVICES", "0"),
            ("SOFTRDMA_DEVICES", "9"),
            ("SOFTRDMA_DEVICES", "two"),
            ("SOFTRDMA_LINK_LAYER", "Ethernet"),
            ("SOFTRDMA_HOST", "0"),
            ("SOFTRDMA_HOST", "49152"),
            ("SOFTRDMA_IP", "localhost"),
            ("SOFTRDMA_UDP_PORT", "0"),
            ("SOFTRDMA_UDP_PORT", "65536"),
            ("SOFTRDMA_FAULTS", "rain=1"),
        ] {
            let error = config(&[(name, value)]).unwrap_err();
            assert!(error.starts_with(&format!("{name}={value}: ")), "{error}");
        }
    }
}
