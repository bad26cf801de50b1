//! What the driver, the server and the client of a global array know before they begin, and what they tell each other.

use serde::{Deserialize, Serialize};

use crate::pins::Placement;
use weft_endpoint::Layout;

/// What both sides know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Rows and columns of each matrix, and of a tile.
    pub order: usize,
    pub tile: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClientJob {
    pub product: Product,
    pub layout: Layout,
    pub placement: Placement,
}

/// What the client is told to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Phase {
    /// Tiles of A and B only, for so many seconds.
    Fetch(f64),
    /// Tiles of C only.
    Store(f64),
    /// All of it, once.
    Multiply,
}

/// What the server is asked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Ask {
    /// To make C nothing that a product could be.
    Clear,
    /// How many elements of C differ from the product.
    Compare,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub messages: u64,
    pub seconds: f64,
    pub processor_seconds: f64,
}

pub const ELEMENT: usize = size_of::<f64>();

impl Product {
    pub fn tiles(self) -> usize {
        self.order / self.tile
    }

    pub fn matrix_bytes(self) -> usize {
        self.order * self.order * ELEMENT
    }

    /// Where row `row` of tile (`down`, `right`) of matrix 0, 1 or 2 begins in the server's memory.
    pub fn place(self, matrix: usize, (down, right): (usize, usize), row: usize) -> usize {
        let element = (down * self.tile + row) * self.order + right * self.tile;
        matrix * self.matrix_bytes() + element * ELEMENT
    }
}
