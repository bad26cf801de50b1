//! How a link's frames come into one of the peer's pools.

use weft_pools::{Pool, PoolKind, SendCredits, SendWindow};

use crate::frame::Malformed;

/// What admits frames to a pool.
enum Admission {
    /// So many may be under way.
    Window(SendWindow),
    /// The peer has posted a buffer for each credit.
    Credits(SendCredits),
}

pub struct PoolWay {
    /// How the peer is reached.
    pub kind: PoolKind,
    /// The queue pair, by number, once it stands.
    pub queue: Option<usize>,
    /// The peer's shared receive queue, over XRC.
    pub srq: u32,
    /// Of the pool's buffers.
    pub bytes: usize,
    admission: Admission,
}

impl PoolWay {
    /// To a pool of the peer's, by no queue pair so far.
    pub fn new(pool: &Pool) -> PoolWay {
        PoolWay {
            kind: pool.kind,
            queue: None,
            srq: 0,
            bytes: pool.bytes as usize,
            admission: match pool.kind {
                PoolKind::PerPeer => Admission::Credits(SendCredits::new(pool)),
                PoolKind::Shared | PoolKind::Xrc => Admission::Window(SendWindow::new(pool)),
            },
        }
    }

    pub fn is_over_xrc(&self) -> bool {
        self.kind == PoolKind::Xrc
    }

    /// The queue pair, and the peer's receive queue.
    #[inline]
    pub fn to(&self) -> Option<(usize, u32)> {
        self.queue.zip(Some(self.srq))
    }

    /// After how many frames at the latest the adapter has to say that they are done, so that no window stays full.
    pub fn window(&self) -> Option<u32> {
        match &self.admission {
            Admission::Window(window) => Some(window.most()),
            Admission::Credits(_) => None,
        }
    }

    /// Whether a frame is admitted.
    #[inline]
    pub fn has_room(&self) -> bool {
        match &self.admission {
            Admission::Window(window) => window.has_room(),
            Admission::Credits(credits) => credits.held() > 0,
        }
    }

    /// Whether a sender who was refused does well to begin again. Credits come many at a time.
    pub fn has_room_again(&self) -> bool {
        match &self.admission {
            Admission::Window(window) => window.is_half_free(),
            Admission::Credits(credits) => credits.held() > 0,
        }
    }

    /// A frame goes, for which there is room.
    #[inline]
    pub fn start(&mut self) {
        let is_admitted = match &mut self.admission {
            Admission::Window(window) => window.start(),
            Admission::Credits(credits) => credits.spend(),
        };
        debug_assert!(is_admitted, "a frame that is not admitted");
    }

    /// The adapter has sent a frame, or will not.
    pub fn completed(&mut self) {
        if let Admission::Window(window) = &mut self.admission {
            window.completed(1);
        }
    }

    /// The peer has given credits back.
    pub fn given(&mut self, credits: u32) -> Result<(), Malformed> {
        match &mut self.admission {
            Admission::Credits(held) => held
                .given(credits)
                .map_err(|_| Malformed("more credits than its pool has buffers")),
            Admission::Window(_) => Err(Malformed("credits for a pool that takes none")),
        }
    }
}
