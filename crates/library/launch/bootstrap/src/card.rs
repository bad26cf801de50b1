//! Cards as key-value pairs. A launcher bounds the length of a value, so a long card goes in several.
//!
//! Part 0 of the card of rank R stands under `weft-card-R`, or another name in place of `card`, and begins with the number of parts
//! and a colon; part I stands under `weft-card-R-I`.

use crate::{Error, Result};

/// A card may take this many values; more means a broken or hostile peer.
const PARTS_MAX: usize = 1 << 16;

/// Room for the number of parts and the colon in part 0.
const PREFIX_MAX: usize = "65536:".len();

pub fn check(card: &str) -> Result<()> {
    match card.chars().find(|c| !c.is_ascii_graphic()) {
        Some(c) => Err(Error::Card(format!(
            "a card is printable ASCII without spaces, but this one holds {c:?}"
        ))),
        None => Ok(()),
    }
}

pub fn key(name: &str, rank: u32, part: usize) -> String {
    match part {
        0 => format!("weft-{name}-{rank}"),
        _ => format!("weft-{name}-{rank}-{part}"),
    }
}

/// The values of a card, each at most `value_max` bytes.
pub fn split(card: &str, value_max: usize) -> Result<Vec<String>> {
    let room = value_max.saturating_sub(PREFIX_MAX);
    if room == 0 {
        return Err(Error::launcher(format!(
            "it takes values of at most {value_max} bytes, too few for an address"
        )));
    }
    let mut parts: Vec<String> = card
        .as_bytes()
        .chunks(room)
        .map(|part| part.iter().map(|&byte| byte as char).collect())
        .collect();
    if parts.is_empty() {
        parts.push(String::new());
    }
    if parts.len() > PARTS_MAX {
        return Err(Error::Card(format!(
            "a card of {} bytes is too long for values of {value_max}",
            card.len()
        )));
    }
    parts[0] = format!("{}:{}", parts.len(), parts[0]);
    Ok(parts)
}

/// Reads a card through `get`, which answers the value under a key.
pub fn join(name: &str, rank: u32, mut get: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let first = get(&key(name, rank, 0))?;
    let broken = || Error::Card(format!("the card of rank {rank} is malformed"));
    let (count, rest) = first.split_once(':').ok_or_else(broken)?;
    let count: usize = count
        .parse()
        .ok()
        .filter(|count| (1..=PARTS_MAX).contains(count))
        .ok_or_else(broken)?;
    let mut card = rest.to_owned();
    for part in 1..count {
        card.push_str(&get(&key(name, rank, part))?);
    }
    Ok(card)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn a_split_card_joins_to_itself(card in "[!-~]{0,300}", value_max in PREFIX_MAX + 1..64, rank in 0u32..99) {
            let parts = split(&card, value_max).unwrap();
            prop_assert!(parts.iter().all(|part| part.len() <= value_max));
            let store: HashMap<String, String> =
                parts.into_iter().enumerate().map(|(part, value)| (key("card", rank, part), value)).collect();
            let joined = join("card", rank, |key| Ok(store[key].clone())).unwrap();
            prop_assert_eq!(joined, card);
        }

        #[test]
        fn any_stored_text_is_read_or_refused(value in ".{0,40}") {
            let mut gets = 0;
            let _ = join("card", 0, |_| { gets += 1; Ok(value.clone()) });
            prop_assert!(gets <= PARTS_MAX);
        }
    }

    #[test]
    fn refuses_what_a_launcher_cannot_carry() {
        assert!(check("tcp://10.0.0.1:99;x=1").is_ok());
        for bad in ["two words", "line\n", "\u{e9}", "tab\t"] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        assert!(split("x", PREFIX_MAX).is_err());
    }
}
