//! The end of copies from a lost peer, which may be helping.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_sync::bulk::Closed;

use crate::bulk::copying::Copying;
use crate::peers::Neighbour;

/// How long a peer that runs may take for the chunk that it is at: some hundred times what a chunk takes.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// Copies that were ended.
#[derive(Default)]
pub struct Closing {
    copies: Vec<(Arc<Neighbour>, Copying, Closed)>,
}

impl Closing {
    /// Ends a copy: the peer claims nothing more of it.
    pub fn add(&mut self, neighbour: Arc<Neighbour>, copying: Copying) {
        let closed = copying.claims.close();
        self.copies.push((neighbour, copying, closed));
    }

    /// Waits for the chunks that the peer had claimed before. Its words are not used again.
    pub fn wait(mut self) {
        let begin = Instant::now();
        loop {
            self.copies
                .retain(|(_, copying, closed)| !copying.claims.is_over(&copying.claimant, *closed));
            let Some((neighbour, ..)) = self.copies.first() else {
                return;
            };
            if begin.elapsed() > LONGEST_WAIT || !neighbour.is_alive() {
                return;
            }
            weft_sync::yield_now();
        }
    }
}
