//! What a run of a benchmark may be told.

use crate::device::Choice;
use crate::party::Launcher;
use crate::pins::processors;
use crate::rounds::Effort;
use weft_endpoint::Layout;

/// What a run may be told; what is empty is each benchmark's own.
#[derive(Clone, Debug)]
pub struct Settings {
    pub launcher: Launcher,
    pub device: Choice,
    pub effort: Effort,
    /// Whether threads may be pinned.
    pub may_pin: bool,
    pub points: Vec<usize>,
    /// Where the axis is not the threads.
    pub threads: Option<usize>,
    pub bytes: Option<usize>,
    pub depth: Option<usize>,
    /// Of the global array's matrices and tiles.
    pub order: Option<usize>,
    pub tile: Option<usize>,
}

impl Settings {
    pub fn points(&self, default: &[usize]) -> Vec<usize> {
        if self.points.is_empty() {
            default.to_vec()
        } else {
            self.points.clone()
        }
    }

    /// `layout` with the depth that was asked for.
    pub fn deep(&self, layout: Layout) -> Layout {
        Layout {
            depth: self.depth.unwrap_or(layout.depth),
            ..layout
        }
    }

    /// The processors that threads may be pinned to.
    pub fn processors(&self) -> Vec<usize> {
        if self.may_pin {
            processors()
        } else {
            Vec::new()
        }
    }
}
