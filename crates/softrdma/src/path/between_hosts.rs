//! Queue pairs whose peer is on another host.

use std::net::Ipv4Addr;
use std::os::fd::RawFd;

use weft_verbs_abi::ibv_qp_attr;

use super::agent::Agent;
use super::execute::{Outcome, Requester};
use super::post::Payload;
use super::process::Process;
use super::request::{Datagram, Request};
use crate::verbs::Qp;

#[derive(Default)]
pub struct Line;

pub struct Ports;

impl Ports {
    pub fn new(_process: &'static Process) -> Ports {
        Ports
    }
    pub fn turn(&mut self, _now: u64) -> Option<u64> {
        None
    }
    pub fn forget(&mut self, _qp: &Qp) {}
    pub fn set_link(&mut self, _up: bool) {}
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        std::iter::empty()
    }
}

impl Agent {
    pub fn open_port(&self) {}
}

impl Qp {
    pub fn open_line(&'static self, _settings: &ibv_qp_attr, _remote: Ipv4Addr) {}
    pub fn start_line(&'static self, _settings: &ibv_qp_attr) {}
    pub fn line_failed(&'static self) {}
    pub fn hang_up(&'static self) {}
}

pub fn post(_qp: &'static Qp, _request: &Request, _payload: Payload<'_>) -> Outcome {
    Outcome::Silent
}

pub fn send_datagram(
    _qp: &'static Qp,
    requester: &Requester<'_>,
    _payload: Payload<'_>,
    _datagram: &Datagram,
    _remote: Ipv4Addr,
) -> Outcome {
    Outcome::Done(requester.local.bytes())
}
