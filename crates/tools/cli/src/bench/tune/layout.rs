//! How ranks are placed on hosts to be measured.

use std::fmt;
use std::str::FromStr;

use weft_collective::{Placement, Sharing};

/// So many hosts with as many ranks on each: `4x2`, or `1x16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostsLayout {
    pub hosts: usize,
    pub ranks_a_host: usize,
}

impl HostsLayout {
    /// Two ranks on each of 2, 4, 8 and so on of so many hosts, and of all.
    pub fn up_to(hosts: usize) -> Vec<HostsLayout> {
        let mut counts: Vec<usize> = (1..)
            .map(|power| 1 << power)
            .take_while(|count| *count < hosts)
            .collect();
        counts.push(hosts);
        let two = |hosts| HostsLayout {
            hosts,
            ranks_a_host: 2,
        };
        counts.into_iter().map(two).collect()
    }

    pub fn is_one_host(self) -> bool {
        self.hosts == 1
    }

    /// As the ranks are placed when they are measured, and what they share: on one host everything; on several each host's follow each
    /// other, and all hosts have as many.
    pub fn measured(self) -> (Option<Placement>, Sharing) {
        match self.is_one_host() {
            true => (None, Sharing::Everything),
            false => (Some(self.placement()), Sharing::Nothing),
        }
    }

    fn placement(self) -> Placement {
        Placement {
            hosts: self.hosts,
            ranks_a_host: self.ranks_a_host,
            is_even: true,
            is_contiguous: true,
        }
    }
}

impl FromStr for HostsLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<HostsLayout, String> {
        let parsed = text.split_once('x').and_then(|(hosts, ranks_a_host)| {
            let layout = HostsLayout {
                hosts: hosts.parse().ok()?,
                ranks_a_host: ranks_a_host.parse().ok()?,
            };
            (layout.hosts > 0 && layout.ranks_a_host > 1).then_some(layout)
        });
        parsed.ok_or_else(|| {
            format!(
                "`{text}` is not HOSTSxRANKS, such as 4x2, with at least 2 ranks a host, or 1x16"
            )
        })
    }
}

impl fmt::Display for HostsLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.hosts, self.ranks_a_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_read_as_they_are_written() {
        let layout: HostsLayout = "4x2".parse().unwrap();
        assert_eq!((layout.hosts, layout.ranks_a_host), (4, 2));
        assert_eq!(layout.to_string(), "4x2");
        assert!("1x2".parse().is_ok_and(HostsLayout::is_one_host));
        for nonsense in ["", "4", "4x", "0x4", "1x1", "2x1", "x2", "2x2x2", "-2x2"] {
            assert!(nonsense.parse::<HostsLayout>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn hosts_are_doubled_until_all_are_there() {
        let text = |hosts| {
            let all = HostsLayout::up_to(hosts).into_iter();
            all.map(|one| one.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(2), "2x2");
        assert_eq!(text(4), "2x2 4x2");
        assert_eq!(text(5), "2x2 4x2 5x2");
    }
}
