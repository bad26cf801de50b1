//! XRC domains and their queue pairs between processes.

use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;

use super::super::record::xrc::slots_of;
use super::super::xrc::{OpenError, Opening};
use super::{Player, fabric_name, join, listen, say};
use crate::fabric::target::{Found, WORDS};
use crate::fabric::{FABRIC_SLOT, Fabric, Number, POSTING};

const FILE: [u64; 2] = [9, 1234];

const CREATE: Opening = Opening {
    create: true,
    exclusive: false,
};

const ALONE: Opening = Opening {
    create: true,
    exclusive: true,
};

/// Opens the domain and the queue pair it is told of, says what it found.
pub fn user(words: &[&str]) {
    let fabric = Fabric::join(words[0]).unwrap();
    let (domains, processes) = (fabric.domains(), fabric.processes());
    let id = domains
        .open(processes, 0, Some(FILE), Opening::default())
        .unwrap();
    let number = Number::from_bits(words[1].parse().unwrap());
    domains.open_qp(processes, number, |_| true).unwrap();
    let attribute = fabric.shared_qp(number.index()).attributes[0].load(Ordering::Relaxed);
    say(&format!("{} {attribute}", id.word()));
    listen();
}

#[test]
fn a_domain_lives_as_long_as_a_member() {
    let fabric = join("domains");
    let (domains, processes) = (fabric.domains(), fabric.processes());
    let open = |device, file, opening| domains.open(processes, device, file, opening);
    assert_eq!(
        open(0, Some(FILE), Opening::default()),
        Err(OpenError::Absent)
    );
    let id = open(0, Some(FILE), CREATE).unwrap();
    assert_eq!(open(0, Some(FILE), ALONE), Err(OpenError::Exists));
    assert_eq!(open(0, Some(FILE), Opening::default()), Ok(id));
    assert_ne!(open(1, Some(FILE), CREATE).unwrap(), id);
    assert_ne!(open(0, Some([9, 1235]), CREATE).unwrap(), id);
    let private = open(0, None, Opening::default()).unwrap();
    assert_ne!(open(0, None, Opening::default()).unwrap(), private);
    domains.close(processes, id).unwrap();
    assert_eq!(open(0, Some(FILE), Opening::default()), Ok(id));
    domains.close(processes, id).unwrap();
    domains.close(processes, id).unwrap();
    assert_eq!(
        open(0, Some(FILE), Opening::default()),
        Err(OpenError::Absent)
    );
    assert_ne!(open(0, Some(FILE), ALONE).unwrap(), id);
}

#[test]
fn others_keep_a_domain_and_a_queue_pair_until_they_die() {
    let fabric = join("sharers");
    let (domains, processes) = (fabric.domains(), fabric.processes());
    let id = domains.open(processes, 0, Some(FILE), CREATE).unwrap();
    let number = domains
        .create_qp(processes, |_, record| {
            record.attributes[0].store(77, Ordering::Relaxed)
        })
        .unwrap();
    assert_eq!(number.slot(), FABRIC_SLOT);
    let words = [fabric_name("sharers"), number.bits().to_string()];
    let mut users: Vec<Player> = (0..2).map(|_| Player::start("user", &words)).collect();
    for user in &mut users {
        assert_eq!(user.hear(), Some(format!("{} 77", id.word())));
    }
    let openers = &fabric.shared_qp(number.index()).openers;
    assert_eq!(slots_of(openers).count(), 3);
    domains.close_qp(processes, number).unwrap();
    domains.close(processes, id).unwrap();
    assert_eq!(slots_of(openers).count(), 2);
    let absent =
        |opening| domains.open(processes, 0, Some(FILE), opening) == Err(OpenError::Absent);
    assert!(!absent(Opening::default()));
    domains.close(processes, id).unwrap();
    drop(users);
    fabric.tidy();
    assert_eq!(slots_of(openers).count(), 0);
    assert!(absent(Opening::default()));
    assert_eq!(
        domains.open_qp(processes, number, |_| true),
        Err(OpenError::Absent)
    );
}

#[test]
fn a_target_left_in_the_middle_of_a_packet_is_known_for_it() {
    let fabric = join("targets");
    let take = || {
        let record = fabric.shared_target(3);
        record.take(fabric.processes(), POSTING).unwrap()
    };
    let words = std::array::from_fn(|word| word as u64 * 7);
    let peer = Ipv4Addr::new(10, 1, 2, 3);
    assert_eq!(take().found(1), Found::Closed);
    take().open(5, peer, 1024, &words);
    assert_eq!(take().found(5), Found::Open);
    assert_eq!(take().found(7), Found::Closed, "another queue pair");
    assert_eq!(take().peer(), peer);
    assert_eq!(take().mtu(), 1024);
    assert_eq!(take().words(), words);
    take().begin();
    assert_eq!(take().found(5), Found::Abandoned);
    take().end(&[1; WORDS]);
    assert_eq!(take().found(5), Found::Open);
    assert_eq!(take().words(), [1; WORDS]);
    take().close();
    assert_eq!(take().found(5), Found::Closed);
}
