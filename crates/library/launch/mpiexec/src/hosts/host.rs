//! A host as a list names it.

/// Longer than any name of DNS, with a user in front.
const NAME_MAX_BYTES: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// As ssh and srun take it: a name or an address, perhaps with `user@` in front.
    pub name: String,
    /// How many ranks it gets before the next host has its turn, where the list says so.
    pub slots: Option<u32>,
    /// How many ranks it never exceeds.
    pub max_slots: Option<u32>,
}

impl Host {
    /// `None` for what cannot be a host's name: it is to become an argument of ssh, which takes a word with a dash in front
    /// for an option.
    pub fn new(name: &str, slots: Option<u32>) -> Option<Host> {
        let bare = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let name = bare.unwrap_or(name);
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@%".contains(&byte);
        let usable = !name.is_empty()
            && name.len() <= NAME_MAX_BYTES
            && !name.starts_with(['-', '@'])
            && !name.ends_with('@')
            && name.bytes().all(in_name);
        usable.then(|| Host {
            name: name.to_owned(),
            slots,
            max_slots: None,
        })
    }

    pub fn slots(&self) -> u32 {
        self.slots.unwrap_or(1)
    }
}

/// Each host once, where it stands first: named again, it has the slots of all its places. One without a number counts 1.
pub fn merge(hosts: Vec<Host>) -> Vec<Host> {
    let mut places = std::collections::HashMap::new();
    let mut merged: Vec<Host> = Vec::new();
    for host in hosts {
        match places.entry(host.name.clone()) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(merged.len());
                merged.push(host);
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                let known = &mut merged[*place.get()];
                known.slots = Some(known.slots().saturating_add(host.slots()));
                known.max_slots = known.max_slots.or(host.max_slots);
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_option_and_holds_nothing_that_a_shell_acts_on() {
        for name in [
            "a",
            "node-7.site",
            "10.0.0.1",
            "fe80::1%eth0",
            "me@b",
            "[::1]",
        ] {
            assert!(Host::new(name, None).is_some(), "{name}");
        }
        for name in [
            "",
            "-oProxyCommand=x",
            "a b",
            "a;b",
            "$(x)",
            "@",
            "@a",
            "a@",
            "é",
            "[]",
        ] {
            assert_eq!(Host::new(name, None), None, "{name}");
        }
        assert_eq!(Host::new("[::1]", None).unwrap().name, "::1");
    }

    #[test]
    fn a_host_named_again_has_the_slots_of_all_its_places() {
        let host = |name: &str, slots| Host::new(name, slots).unwrap();
        let merged = merge(vec![
            host("a", None),
            host("b", Some(3)),
            host("a", Some(2)),
            host("a", None),
        ]);
        assert_eq!(merged, [host("a", Some(4)), host("b", Some(3))]);
    }
}
