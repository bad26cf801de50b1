//! Options about hosts: their values.

use crate::hosts::{Host, Order};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// Where the job runs, and how hosts are reached.
#[derive(Debug)]
pub struct HostOptions {
    /// From `-hosts` and host files, for programs without a `-host` of their own.
    pub listed: Option<Vec<Host>>,
    /// Ranks a host before the next has its turn, in place of what lists say.
    pub per_host: Option<u32>,
    pub order: Order,
    /// Slots are not to be exceeded.
    pub slots_are_limits: bool,
    pub launcher: Option<Launcher>,
    pub launcher_program: Option<OsString>,
    pub launch_timeout: Duration,
    /// How long a host may say nothing before it counts as lost.
    pub host_timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launcher {
    Ssh,
    Slurm,
    Fork,
}

impl Default for HostOptions {
    fn default() -> HostOptions {
        HostOptions {
            listed: None,
            per_host: None,
            order: Order::Slots,
            slots_are_limits: false,
            launcher: None,
            launcher_program: None,
            launch_timeout: Duration::from_secs(60),
            host_timeout: Duration::from_secs(20),
        }
    }
}
