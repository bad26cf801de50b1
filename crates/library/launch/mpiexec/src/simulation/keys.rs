//! Whose a key of the key-value space is: `weft-FACT-RANK`, and `weft-FACT-RANK-PART` where a value goes in parts.

/// Whether a line asks where a peer is, which is no part of the start.
pub fn asks_for_card(line: &str) -> bool {
    line.starts_with("cmd=get ") && line.contains(" key=weft-card-")
}

/// The line that another rank says where `rank` says `line`: what it puts is its own.
pub fn renamed(line: &str, rank: u32, other: u32) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    if words.first().is_some_and(|command| command == "cmd=put") {
        for word in &mut words {
            if let Some(key) = word.strip_prefix("key=") {
                *word = format!("key={}", of_other(key, rank, other));
            }
        }
    }
    words.join(" ")
}

/// The key by which another rank tells what `rank` tells under `key`.
pub fn of_other(key: &str, rank: u32, other: u32) -> String {
    match place(key) {
        Some((start, end)) if key[start..end] == *rank.to_string() => {
            format!("{}{other}{}", &key[..start], &key[end..])
        }
        _ => key.to_owned(),
    }
}

/// What `rank` has put.
pub fn of_rank(puts: &[(String, String)], rank: u32) -> Vec<&(String, String)> {
    let name = rank.to_string();
    let is_its = |key: &str| place(key).is_some_and(|(start, end)| key[start..end] == *name);
    puts.iter().filter(|(key, _)| is_its(key)).collect()
}

/// Where the rank stands in a key.
fn place(key: &str) -> Option<(usize, usize)> {
    let fact = key.strip_prefix("weft-")?;
    let start = key.len() - fact.len() + fact.find('-')? + 1;
    let end = key[start..].find('-').map_or(key.len(), |at| start + at);
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_alone_is_changed() {
        for (key, expected) in [
            ("weft-card-63", "weft-card-7"),
            ("weft-card-63-63", "weft-card-7-63"),
            ("weft-cores-63", "weft-cores-7"),
            ("weft-card-6", "weft-card-6"),
            ("weft-card-630", "weft-card-630"),
            ("weft-", "weft-"),
            ("other-63", "other-63"),
        ] {
            assert_eq!(of_other(key, 63, 7), expected);
        }
        let put = "cmd=put kvsname=weft-63-1 key=weft-card-63 value=1:|shm1:63:9";
        let others = "cmd=put kvsname=weft-63-1 key=weft-card-7 value=1:|shm1:63:9";
        assert_eq!(renamed(put, 63, 7), others);
        let get = "cmd=get kvsname=weft-63-1 key=weft-cores-63";
        assert_eq!(renamed(get, 63, 7), get);
    }

    #[test]
    fn a_rank_has_put_what_bears_its_name() {
        let keys = [
            "weft-card-6",
            "weft-card-63",
            "weft-cores-6",
            "weft-card-6-1",
        ];
        let puts: Vec<_> = (keys.iter())
            .map(|key| (key.to_string(), String::new()))
            .collect();
        let found: Vec<_> = (of_rank(&puts, 6).iter())
            .map(|(key, _)| &key[..])
            .collect();
        assert_eq!(found, ["weft-card-6", "weft-cores-6", "weft-card-6-1"]);
    }
}
