//! When all lanes are looked at.

/// Turns of one wait between two looks at all lanes. A look at a lane where nothing is costs about what a turn does, some 30 ns, and over tcp a
/// system call beside it, so that this is a few parts in a hundred of what the turns cost; what waits in another lane waits some microseconds
/// (2 cores, Linux 6.18).
pub(crate) const ALL_LANES_EVERY: u32 = 64;
/// Turns of a lane between two, whatever waits they belong to: some 40 us of messages that are there already, of which a look takes one part in a
/// hundred.
const TURNS_OF_LANE: u32 = 192;
/// The same while something is under way in another lane: it takes several looks, between which the program may compute.
const SOON: u32 = 8;

/// How far a lane is from the next look at all lanes, of which the thread that leaves the lane's section takes care. All turns are counted, those
/// too in which something came, and receives that were met without one: a thread may find that what it waits for is always there already.
pub(crate) struct AllLanes {
    left: u32,
}

impl Default for AllLanes {
    fn default() -> AllLanes {
        AllLanes {
            left: TURNS_OF_LANE,
        }
    }
}

impl AllLanes {
    /// A turn. Whether it is time.
    #[inline(always)]
    pub fn count(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// All lanes are looked at.
    pub fn begin_anew(&mut self) {
        self.left = TURNS_OF_LANE;
    }

    /// They were, and something is under way in another one.
    pub fn come_soon(&mut self) {
        self.left = SOON;
    }
}
