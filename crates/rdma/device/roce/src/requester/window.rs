//! How many packets may be in flight. The socket buffers on the way drop what they cannot hold, so the window follows
//! what gets through: it grows by what is acknowledged and halves when something was lost.

const INITIAL_PACKETS: u64 = 32;
const LEAST_PACKETS: u64 = 4;

#[derive(Debug)]
pub(super) struct Window {
    packets: u64,
    /// It never grows beyond.
    most: u64,
    /// Below this the window doubles in each round trip, above it grows by one.
    threshold: u64,
    /// Acknowledged since the window last grew.
    progress: u64,
    /// Losses of positions before this one belong to the loss already answered.
    recovery_end: u64,
}

impl Window {
    pub fn new(most: u64) -> Window {
        let most = most.max(LEAST_PACKETS);
        Window {
            packets: INITIAL_PACKETS.min(most),
            most,
            threshold: most,
            progress: 0,
            recovery_end: 0,
        }
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    pub fn acknowledged(&mut self, packets: u64) {
        if self.packets >= self.most {
            return;
        }
        self.progress += packets;
        if self.packets < self.threshold {
            self.packets = (self.packets + packets).min(self.most);
            self.progress = 0;
        } else if self.progress >= self.packets {
            self.progress -= self.packets;
            self.packets += 1;
        }
    }

    /// The packet at this position was lost, of all that were sent before `sent`.
    pub fn lost(&mut self, position: u64, sent: u64) {
        if position >= self.recovery_end {
            self.recovery_end = sent;
            self.shrink(self.packets / 2);
        }
    }

    /// Nothing was heard for long.
    pub fn silent(&mut self) {
        self.shrink(LEAST_PACKETS);
    }

    fn shrink(&mut self, packets: u64) {
        self.threshold = (self.packets / 2).max(LEAST_PACKETS);
        self.packets = packets.max(LEAST_PACKETS);
        self.progress = 0;
    }
}
