use super::*;

fn interface(name: &str, address: &str, prefix: u32) -> Interface {
    let address: IpAddr = address.parse().unwrap();
    Interface {
        name: name.to_owned(),
        address,
        prefix,
        is_loopback: address.is_loopback(),
        state: InterfaceState::Up,
    }
}

/// In the order in which the system tells them.
fn host() -> Vec<Interface> {
    vec![
        interface("lo", "127.0.0.1", 8),
        interface("docker0", "172.17.0.1", 16),
        interface("eth0", "10.77.0.1", 24),
        interface("eth1", "10.78.0.1", 24),
        interface("lo", "::1", 128),
        interface("eth0", "fd77::1", 64),
        interface("eth0", "fe80::1", 64),
    ]
}

fn texts(addresses: impl IntoIterator<Item = IpAddr>) -> Vec<String> {
    let addresses = addresses.into_iter();
    addresses.map(|address| address.to_string()).collect()
}

fn chosen(all: &[Interface], named: &[&str]) -> Vec<String> {
    let named: Vec<String> = named.iter().map(|name| name.to_string()).collect();
    let chosen = choose(all, &named).unwrap();
    texts(chosen.iter().map(|one| one.address))
}

#[test]
fn all_that_lead_to_other_hosts_are_told() {
    assert_eq!(chosen(&host(), &[]), ["10.77.0.1", "fd77::1", "10.78.0.1"]);
    // The best that there are.
    assert_eq!(chosen(&host()[..2], &[]), ["172.17.0.1"]);
    assert_eq!(chosen(&host()[..1], &[]), ["127.0.0.1"]);
    assert!(choose(&[], &[]).is_err());
    let lists = lists(&choose(&host(), &[]).unwrap());
    let lists: Vec<Vec<String>> = lists.into_iter().map(texts).collect();
    assert_eq!(lists, [vec!["10.77.0.1", "fd77::1"], vec!["10.78.0.1"]]);
}

#[test]
fn named_ones_are_told_and_no_other() {
    let named = ["eth0", "lo"];
    assert_eq!(
        chosen(&host(), &named),
        ["10.77.0.1", "fd77::1", "127.0.0.1", "::1"]
    );
    assert_eq!(chosen(&host(), &["docker0"]), ["172.17.0.1"]);
    let error = choose(&host(), &["eth7".to_owned()]).unwrap_err();
    assert!(
        error.contains("eth7") && error.contains("lo, docker0, eth0"),
        "{error}"
    );
}

#[test]
fn what_is_not_told_has_a_reason() {
    let mut all = host();
    all[3].state = InterfaceState::Down;
    all.push(interface("eth2", "10.79.0.1", 24));
    all[7].state = InterfaceState::WithoutCarrier;
    let verdicts = |named: &[String]| -> Vec<(String, Verdict)> {
        let judged = judge(&all, named).unwrap().into_iter();
        judged
            .map(|one| (one.address.to_string(), one.verdict))
            .collect()
    };
    let expected = [
        ("127.0.0.1", Verdict::Loopback),
        ("::1", Verdict::Loopback),
        ("172.17.0.1", Verdict::Bridge),
        ("10.77.0.1", Verdict::Told),
        ("fd77::1", Verdict::Told),
        ("fe80::1", Verdict::LinkLocal),
        ("10.78.0.1", Verdict::Down),
        ("10.79.0.1", Verdict::WithoutCarrier),
    ];
    assert_eq!(
        verdicts(&[]),
        expected.map(|(text, verdict)| (text.to_owned(), verdict))
    );
    let named = verdicts(&["lo".to_owned()]);
    assert_eq!(named[0].1, Verdict::Told);
    assert_eq!(named[3].1, Verdict::NotNamed);
    let many: Vec<Interface> = (1..=20)
        .map(|n| interface("eth0", &format!("10.0.0.{n}"), 8))
        .collect();
    let judged = judge(&many, &[]).unwrap();
    let told = judged.iter().filter(|one| one.verdict == Verdict::Told);
    assert_eq!(told.count(), MOST_ADDRESSES);
    assert_eq!(judged[19].verdict, Verdict::TooMany);
}

#[test]
fn bridges_within_a_host_are_known_by_name() {
    for name in [
        "docker0",
        "docker_gwbridge",
        "br-0123456789ab",
        "virbr0",
        "lxcbr0",
    ] {
        assert!(is_bridge(name), "{name}");
    }
    for name in ["br0", "br-lan", "eth0", "bond0", "br-0123456789xy"] {
        assert!(!is_bridge(name), "{name}");
    }
}

#[test]
fn common_networks_come_first_and_own_addresses_last() {
    let theirs = [
        "172.17.0.1",
        "192.168.7.7",
        "fd88::1",
        "10.77.0.9",
        "fd77::9",
    ];
    let theirs = theirs.map(|text| text.parse().unwrap());
    let with_six = [
        "10.77.0.9",
        "fd77::9",
        "192.168.7.7",
        "fd88::1",
        "172.17.0.1",
    ];
    assert_eq!(texts(order(&theirs, &host())), with_six);
    let without = [
        "10.77.0.9",
        "192.168.7.7",
        "fd88::1",
        "fd77::9",
        "172.17.0.1",
    ];
    assert_eq!(texts(order(&theirs, &host()[..4])), without);
}
