//! By which addresses ranks on other hosts would reach those on this one, and why not by others.

use std::env;

use weft_tcp::{Judged, Verdict};

use super::settings::INTERFACE;

/// The interfaces that the environment names, if any.
pub fn named_by_environment() -> Vec<String> {
    let named = env::var(INTERFACE).unwrap_or_default();
    let named = named.split(',').map(str::trim);
    named
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A line for each address.
pub fn text(named: &[String]) -> String {
    match weft_tcp::judged(named) {
        Ok(judged) => lines(&judged),
        Err(error) => format!(
            "{:<22} none for ranks on other hosts: {error}\n",
            "addresses"
        ),
    }
}

fn lines(judged: &[Judged]) -> String {
    let mut text = "addresses              for ranks on other hosts\n".to_owned();
    for one in judged {
        let (address, why) = (one.address.to_string(), explained(one.verdict));
        text += &format!("  {:<20} {address:<25} {why}\n", one.interface);
    }
    text
}

fn explained(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Told => "used",
        Verdict::Down => "not used: the interface is down",
        Verdict::WithoutCarrier => "not used: the interface has no carrier",
        Verdict::LinkLocal => "not used: link-local, it means another host on each link",
        Verdict::Loopback => "not used: loopback",
        Verdict::Bridge => "not used: a bridge between containers or virtual machines of this host",
        Verdict::NotNamed => "not used: other interfaces are named",
        Verdict::TooMany => "not used: there are too many before it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_a_line() {
        let one = |interface: &str, address: &str, verdict| Judged {
            interface: interface.to_owned(),
            address: address.parse().unwrap(),
            verdict,
        };
        let text = lines(&[
            one("eth0", "10.0.0.1", Verdict::Told),
            one("docker0", "172.17.0.1", Verdict::Bridge),
        ]);
        let expected = "\
addresses              for ranks on other hosts
  eth0                 10.0.0.1                  used
  docker0              172.17.0.1                not used: a bridge between containers or virtual machines of this host
";
        assert_eq!(text, expected);
    }
}
