//! Whether a name in a list means this machine: by its own name, its own addresses and `/etc/hosts`; DNS is not asked.

use std::net::IpAddr;

/// What this machine is called and reached at.
pub struct Here {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
    /// The text of `/etc/hosts`.
    table: String,
}

impl Here {
    /// `addresses` are those of this machine's interfaces.
    pub fn new(addresses: Vec<IpAddr>) -> Here {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let slurm = std::env::var("SLURMD_NODENAME").ok();
        let own = [name.trim().to_owned(), "localhost".to_owned()];
        Here {
            names: own
                .into_iter()
                .chain(slurm)
                .filter(|name| !name.is_empty())
                .collect(),
            addresses,
            table: std::fs::read_to_string("/etc/hosts").unwrap_or_default(),
        }
    }

    /// This machine's own name, for messages and as its place in a list.
    pub fn name(&self) -> &str {
        &self.names[0]
    }

    /// A name with `user@` in front is another user's, and reached by ssh even here.
    pub fn is(&self, name: &str) -> bool {
        match name.parse::<IpAddr>() {
            Ok(address) => self.has(address),
            Err(_) => {
                self.names.iter().any(|own| own.eq_ignore_ascii_case(name)) || self.table_has(name)
            }
        }
    }

    fn has(&self, address: IpAddr) -> bool {
        address.is_loopback() || self.addresses.contains(&address)
    }

    /// Some distributions give a machine's own name an address of 127.0.0.0/8.
    fn table_has(&self, name: &str) -> bool {
        self.table.lines().any(|line| {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_ascii_whitespace();
            let address = words.next().and_then(|word| word.parse::<IpAddr>().ok());
            address.is_some_and(|address| self.has(address))
                && words.any(|word| word.eq_ignore_ascii_case(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_its_names_and_addresses_and_no_others() {
        let here = Here {
            names: vec!["node7".into(), "localhost".into()],
            addresses: vec!["10.0.0.7".parse().unwrap(), "fd00::7".parse().unwrap()],
            table: "127.0.0.1 localhost loop # other\n10.0.0.7\tnode7.site alias\n10.0.0.8 node8\nbad line\n".into(),
        };
        for name in [
            "node7",
            "NODE7",
            "localhost",
            "loop",
            "127.0.0.1",
            "::1",
            "10.0.0.7",
            "fd00::7",
            "node7.site",
            "alias",
        ] {
            assert!(here.is(name), "{name}");
        }
        for name in [
            "node8",
            "10.0.0.8",
            "other",
            "node7.elsewhere",
            "me@node7",
            "bad",
            "line",
            "",
        ] {
            assert!(!here.is(name), "{name}");
        }
        assert_eq!(here.name(), "node7");
    }
}
