use super::*;
use crate::interfaces::InterfaceState;

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

fn lists_of(texts: &[&[&str]]) -> Vec<Vec<IpAddr>> {
    let list = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    texts.iter().map(list).collect()
}

fn path(own: &str, theirs: &str) -> Path {
    Path {
        own: own.parse().unwrap(),
        theirs: theirs.parse().unwrap(),
    }
}

#[test]
fn further_ways_go_by_further_interfaces_of_both_sides() {
    let own = [
        interface("eth0", "10.77.0.1", 24),
        interface("eth0", "fd77::1", 64),
        interface("eth1", "10.78.0.1", 24),
        interface("eth1", "fd78::1", 64),
        interface("eth2", "10.79.0.1", 24),
    ];
    let theirs = lists_of(&[&["10.77.0.2", "fd77::2"], &["10.78.0.2"], &["10.79.0.2"]]);
    let first = path("10.77.0.1", "10.77.0.2");
    let others = [
        path("10.78.0.1", "10.78.0.2"),
        path("10.79.0.1", "10.79.0.2"),
    ];
    let any = |_: &str| None;
    assert_eq!(further(&own, &theirs, &[first], any), others);
    assert_eq!(
        further(&own, &theirs, &[first, others[0]], any),
        [others[1]]
    );
    // IPv6 alone.
    let six = lists_of(&[&["fd77::2"], &["fd78::2"]]);
    let of_six = path("fd77::1", "fd77::2");
    assert_eq!(
        further(&own, &six, &[of_six], any),
        [path("fd78::1", "fd78::2")]
    );
    // Two addresses of one interface, on either side.
    let one = lists_of(&[&["10.77.0.2", "10.78.0.2", "10.79.0.2"]]);
    assert_eq!(further(&own, &one, &[first], any), []);
    let double = [own[0].clone(), interface("eth0", "10.78.0.1", 24)];
    assert_eq!(further(&double, &theirs, &[first], any), []);
    // No common network, a way that is not known, and the address that both have.
    let elsewhere = lists_of(&[&["10.77.0.2"], &["10.99.0.2"]]);
    assert_eq!(further(&own, &elsewhere, &[first], any), []);
    let unknown = path("10.1.0.1", "10.1.0.2");
    assert_eq!(further(&own, &theirs, &[unknown], any), []);
    for half in [path("10.1.0.1", "10.77.0.2"), path("10.77.0.1", "10.1.0.2")] {
        assert_eq!(further(&own, &theirs, &[half], any), others);
    }
    let same = lists_of(&[&["10.77.0.2"], &["10.78.0.1"]]);
    assert_eq!(further(&own, &same, &[first], any), []);
}

#[test]
fn two_interfaces_on_one_network_and_much_slower_ones_are_no_ways() {
    let mut own = vec![
        interface("eth0", "10.77.0.1", 24),
        interface("eth1", "10.77.0.3", 24),
    ];
    let theirs = lists_of(&[&["10.77.0.2"], &["10.77.0.4"], &["10.78.0.2"]]);
    let first = [path("10.77.0.1", "10.77.0.2")];
    assert_eq!(further(&own, &theirs, &first, |_| None), []);
    own.push(interface("eth2", "10.78.0.1", 24));
    let speed = |of_second| move |name: &str| Some(if name == "eth2" { of_second } else { 10_000 });
    assert_eq!(further(&own, &theirs, &first, speed(1000)), []);
    let good = [path("10.78.0.1", "10.78.0.2")];
    assert_eq!(further(&own, &theirs, &first, speed(5000)), good);
    assert_eq!(further(&own, &theirs, &first, speed(100_000)), good);
}
