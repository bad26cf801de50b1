//! Events on completion channels and messages to agents.

use std::collections::HashMap;
use std::os::fd::AsFd;

use super::super::completion::Arm;
use super::super::lock::PATIENT;
use super::super::mailbox::MailError;
use super::super::notify::{AgentDoorbell, Channel};
use super::super::socket;
use super::{completion, join};

/// More queues have an event at once than a socket holds datagrams: each is told of once, and the descriptor is readable until
/// the last was.
#[test]
fn no_event_is_lost_in_a_full_socket() {
    let fabric = join("events");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let channel = Channel::create(own_segment).unwrap();
    let ids: Vec<_> = (0..700)
        .map(|_| own_segment.create_cq(1, Some(channel.number())).unwrap())
        .collect();
    for &id in &ids {
        let cq = own_segment.segment().cq(id);
        cq.arm(Arm::Any);
        let pushed = cq.push(processes, &completion(0), false, PATIENT).unwrap();
        fabric.notify(fabric.own(), pushed.notify.unwrap(), id);
    }
    let mut told = HashMap::new();
    while socket::wait(channel.as_fd(), 0) {
        let id = channel.receive(own_segment, fabric.sender()).unwrap();
        *told.entry(id).or_insert(0) += 1;
    }
    assert_eq!(told.len(), ids.len());
    assert!(told.values().all(|&times| times == 1));
    for id in ids {
        own_segment.destroy_cq(processes, id).unwrap();
    }
}

#[test]
fn letters_come_in_order_and_ring_once() {
    let fabric = join("messages");
    let doorbell = AgentDoorbell::create(fabric.own_segment()).unwrap();
    let mailbox = fabric.segment().mailbox();
    let rung = || socket::wait(doorbell.as_fd(), 0);
    assert!(!rung());
    let mut sent = 0;
    let full = loop {
        match fabric.send(fabric.own(), &[sent + 1; 8], PATIENT) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((full, sent), (MailError::Full, 1024));
    assert!(rung());
    doorbell.take_rings(fabric.own_segment());
    fabric.own_segment().segment().mailbox().clear_doorbell();
    assert!(!rung());
    for number in 0..sent {
        assert_eq!(mailbox.take(), Some([number + 1; 8]));
    }
    assert_eq!(mailbox.take(), None);
    fabric.wake_agent();
    fabric.wake_agent();
    assert!(rung());
    doorbell.take_rings(fabric.own_segment());
    fabric.own_segment().segment().mailbox().clear_doorbell();
    assert!(!rung());
}

/// A large ring has no memory before it is used.
#[test]
fn huge_queues_cost_what_is_used_of_them() {
    let fabric = join("huge");
    let (own_segment, processes) = (fabric.own_segment(), fabric.processes());
    let memory = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let shared: u64 = statm.split(' ').nth(2).unwrap().parse().unwrap();
        shared * 4096
    };
    let before = memory();
    let id = own_segment.create_cq(1 << 22, None).unwrap();
    let cq = own_segment.segment().cq(id);
    for wr_id in 0..100 {
        let _ = cq
            .push(processes, &completion(wr_id), false, PATIENT)
            .unwrap();
    }
    assert!(memory() < before + (64 << 20));
    own_segment.destroy_cq(processes, id).unwrap();
}
