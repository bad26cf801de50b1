//! `a:2,b`: hosts on the command line.

use super::host::Host;

/// Reads hosts separated by commas, each with `:SLOTS` or without. The error is the item that is wrong.
pub fn parse(text: &str) -> Result<Vec<Host>, String> {
    text.split(',')
        .map(|item| parse_item(item.trim()).ok_or_else(|| item.to_owned()))
        .collect()
}

/// `NAME`, `NAME:SLOTS`, `[IPV6]:SLOTS`; a word with several colons and no brackets is an IPv6 address.
pub fn parse_item(item: &str) -> Option<Host> {
    let is_address = item.matches(':').count() > 1 && !item.contains(']');
    let counted = item
        .rsplit_once(':')
        .filter(|(name, _)| !is_address && (!name.starts_with('[') || name.ends_with(']')));
    match counted {
        Some((name, slots)) => Host::new(name, Some(parse_slots(slots)?)),
        None => Host::new(item, None),
    }
}

/// A number of ranks, at least 1.
pub fn parse_slots(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&slots| slots > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_addresses_and_slots() {
        let hosts = parse("a:2,b,10.0.0.1:3,::1,[fe80::1]:4,[::1]").unwrap();
        let read: Vec<(&str, Option<u32>)> = hosts
            .iter()
            .map(|host| (host.name.as_str(), host.slots))
            .collect();
        assert_eq!(
            read,
            [
                ("a", Some(2)),
                ("b", None),
                ("10.0.0.1", Some(3)),
                ("::1", None),
                ("fe80::1", Some(4)),
                ("::1", None)
            ]
        );
    }

    #[test]
    fn names_the_item_that_is_wrong() {
        for (text, wrong) in [
            ("", ""),
            ("a,,b", ""),
            ("a:0", "a:0"),
            ("a,b:x", "b:x"),
            ("-a", "-a"),
            ("a,b c", "b c"),
            ("a:99999999999", "a:99999999999"),
        ] {
            assert_eq!(parse(text), Err(wrong.to_owned()), "{text}");
        }
    }
}
