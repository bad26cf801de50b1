//! What one benchmark is run for, and why that fails.

use std::io;
use std::path::Path;

use super::catalog::Benchmark;
use super::library::{Hosts, Library, Pin};

/// What the user asked for, made definite.
pub struct Plan<'a> {
    pub benchmark: &'static Benchmark,
    pub libraries: &'a [Library],
    pub points: Vec<u64>,
    /// Of a benchmark whose axis is not the ranks.
    pub ranks: u64,
    pub rounds: usize,
    pub pin: Pin,
    pub cores: usize,
    pub hosts: Hosts<'a>,
    pub seconds: f64,
    pub limit_seconds: f64,
    pub sources: &'a Path,
    pub build: &'a Path,
    /// Measure the machine's limits beside the libraries.
    pub with_floor: bool,
}

#[derive(Debug)]
pub enum Failure {
    Io(io::Error),
    Message(String),
    Interrupted,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

pub fn list(points: &[u64]) -> String {
    points
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
