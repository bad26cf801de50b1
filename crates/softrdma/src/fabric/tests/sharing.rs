//! XRC domains and their queue pairs between processes.

use std::sync::atomic::Ordering;

use super::super::xrc::{OpenError, Opening, slots_of};
use super::{Player, fabric_name, join, listen, say};
use crate::fabric::{FABRIC_SLOT, Fabric, Number};

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
