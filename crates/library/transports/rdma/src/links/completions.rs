//! What completions tell of links.

use weft_transport::endings::lost;
use weft_transport::{Header, Peer, Sink};
use weft_verbs::Completion;
use weft_verbs::abi::{
    IBV_WC_LOC_LEN_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_RETRY_EXC_ERR,
    ibv_wc_status,
};

use super::{Links, Parts};
use crate::frame::{HEAD_BYTES, Kind, Malformed, words};
use crate::parts::RECEIVED;

/// Completions that are taken at once.
const AT_ONCE: usize = 32;
/// Completions of one turn.
const MOST_A_TURN: usize = 128;

impl Parts {
    /// Takes completions, for later. Whether there are any.
    pub(super) fn look(&mut self) -> bool {
        let mut found = [Completion::default(); AT_ONCE];
        let before = self.found.len();
        while let Ok(some) = self.making.completions.poll(&mut found) {
            self.found.extend_from_slice(some);
            if some.len() < AT_ONCE {
                break;
            }
        }
        self.found.len() > before
    }

    /// Posts used buffers again.
    fn refill(&mut self) -> Result<(), weft_verbs::PostError> {
        if self.used.is_empty() {
            return Ok(());
        }
        self.again.clear();
        for index in self.used.drain(..) {
            self.receives
                .push(index, RECEIVED | index as u64, &mut self.again);
        }
        self.making.buffers.post(&mut self.again)
    }
}

impl Links {
    /// A turn over what the adapter has done. Whether it has done anything, and whether that is all.
    pub fn turn(&mut self, sink: &mut impl Sink) -> (bool, bool) {
        let Some(parts) = &mut self.parts else {
            return (false, true);
        };
        let mut kept = std::mem::take(&mut parts.found);
        let mut done = kept.len();
        kept.drain(..)
            .for_each(|completion| self.take(&completion, sink));
        let mut is_all = false;
        let mut found = [Completion::default(); AT_ONCE];
        while done < MOST_A_TURN && !is_all {
            let Ok(some) = self.parts().making.completions.poll(&mut found) else {
                self.adapter_failed();
                return (true, true);
            };
            is_all = some.len() < AT_ONCE;
            done += some.len();
            for completion in some {
                self.take(completion, sink);
            }
            if self.parts().refill().is_err() {
                self.adapter_failed();
            }
        }
        (done > 0, is_all)
    }

    fn take(&mut self, completion: &Completion, sink: &mut impl Sink) {
        let link = self.by_pair.get(&completion.queue_pair()).copied();
        if completion.id() & RECEIVED == 0 {
            if let Some(link) = link {
                self.done(link, completion);
            }
            return;
        }
        let piece = (completion.id() & !RECEIVED) as usize;
        // Of a queue pair that is gone nothing is told.
        if let Some(link) = link {
            self.came(link, piece, completion, sink);
        }
        self.parts().used.push(piece);
    }

    /// A request of this process's is done.
    fn done(&mut self, link: usize, completion: &Completion) {
        let (there, parts) = self.both(link);
        let peer = there.peer;
        if !completion.is_success() {
            return self.broke(peer, completion.status());
        }
        let before = there.receiving.count();
        let received = there.completed(completion.id(), &mut parts.posting);
        let has_queued = there.has_queued();
        if before > 0 && has_queued {
            self.activate(link);
        }
        self.complete(peer, received);
    }

    /// A frame has come.
    fn came(&mut self, link: usize, piece: usize, completion: &Completion, sink: &mut impl Sink) {
        let peer = self.at(link).peer;
        if !completion.is_success() {
            return self.broke(peer, completion.status());
        }
        let bytes = completion.bytes() as usize;
        let kind = completion
            .immediate()
            .ok_or(Malformed("a frame of no kind"));
        let done = match kind.and_then(|immediate| Kind::of(immediate, bytes)) {
            Ok(kind) => self.frame(link, kind, piece, bytes, sink),
            Err(malformed) => Err(malformed),
        };
        if let Err(Malformed(what)) = done {
            self.lose(peer, lost(peer, format!("it sent {what}")), false);
        }
    }

    fn frame(
        &mut self,
        link: usize,
        kind: Kind,
        piece: usize,
        bytes: usize,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        self.counts().frames.add(1);
        let (there, parts) = self.both(link);
        let peer = there.peer;
        let frame = parts.receives.bytes(piece, bytes);
        let (words, payload) = (words(frame), &frame[HEAD_BYTES..]);
        match kind {
            Kind::Packet => sink.packet(peer, Header(words), payload),
            Kind::Ready => {
                there.is_open = true;
                self.opened(peer);
            }
            Kind::Throttle => there.is_throttled = words[0] != 0,
            Kind::Bye => {
                there.has_left = true;
                self.left(peer, link);
            }
            Kind::Taken => {
                let cookie = there.sending.taken(words[0])?;
                self.sent.push((peer, cookie));
            }
            Kind::Stream => {
                there.sending.stream(words[0], words[1])?;
                self.activate(link);
            }
            Kind::Data => {
                let received = there.receiving.data(words[0], payload)?;
                self.complete(peer, received);
            }
        }
        Ok(())
    }

    /// A queue pair has ended with this status.
    #[cold]
    fn broke(&mut self, peer: Peer, status: ibv_wc_status) {
        let (why, died) = match (status, self.shared.identity.timeout) {
            (IBV_WC_RETRY_EXC_ERR, Some(timeout)) => {
                let seconds = timeout.as_secs_f32();
                let what =
                    format!("its process has ended, or its host has not answered for {seconds} s");
                (what, true)
            }
            (IBV_WC_REM_ACCESS_ERR | IBV_WC_REM_INV_REQ_ERR, _) => (
                "it does not give the memory that it announced".to_owned(),
                false,
            ),
            (IBV_WC_LOC_LEN_ERR, _) => ("it sent a frame of the wrong length".to_owned(), false),
            _ => (
                format!("its queue pair has ended with status {status}"),
                false,
            ),
        };
        self.lose(peer, lost(peer, why), died);
    }

    /// The adapter does nothing more for this lane.
    #[cold]
    fn adapter_failed(&mut self) {
        let peers: Vec<Peer> = self.by_peer.keys().copied().collect();
        let name = self.shared.adapter.context.name().to_owned();
        for peer in peers {
            self.lose(peer, lost(peer, format!("{name} has failed")), false);
        }
    }
}
