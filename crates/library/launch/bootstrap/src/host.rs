//! Who shares this host, where the launcher does not say: from names that the ranks exchange.

use crate::Result;

/// Names this host and boot without the network: a kernel's boot id, and the UTS and PID namespaces, since containers on
/// one kernel are hosts of their own.
pub fn identity() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default();
        link.to_string_lossy()
            .chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    format!("{}/{}/{}", boot.trim(), namespace("uts"), namespace("pid"))
}

/// The ranks whose identity is this host's, ascending.
pub fn ranks_here(
    size: u32,
    here: &str,
    mut identity_of: impl FnMut(u32) -> Result<String>,
) -> Result<Vec<u32>> {
    let mut ranks = Vec::new();
    for rank in 0..size {
        if identity_of(rank)? == here {
            ranks.push(rank);
        }
    }
    Ok(ranks)
}
