//! What completions tell of links.

use weft_transport::endings::lost;
use weft_transport::{Direction, Header, Peer, Sink};
use weft_verbs::Completion;
use weft_verbs::abi::{
    IBV_WC_LOC_LEN_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR,
    IBV_WC_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR, ibv_wc_status,
};

use super::{Links, Parts, name};
use crate::frame::{FRAME_BYTES, FrameKind, HEAD_BYTES, Immediate, Malformed, Packets, words};
use crate::order::Turn;
use crate::receive_queue::Received;
use crate::send_queue::{SendQueue, SendQueues};

/// Completions that are taken at once.
const AT_ONCE: usize = 32;
/// Completions of one turn.
const MOST_A_TURN: usize = 128;

/// Where the bytes of a frame are.
#[derive(Clone, Copy)]
pub(super) enum Came<'a> {
    /// In a piece, that they have come into, of the rail's shared receive queue of this number.
    Shared(usize, usize, usize, usize),
    /// In a piece of the own ones of the queue pair of this number.
    Own(usize, usize, usize),
    /// Copied.
    Before(&'a [u8]),
}

impl Came<'_> {
    fn bytes<'b>(&'b self, queues: &'b SendQueues, parts: &'b [Option<Parts>]) -> &'b [u8] {
        match *self {
            Came::Shared(rail, queue, piece, bytes) => {
                let parts = parts[rail].as_ref().expect("where it came by");
                parts.receives[queue].bytes(piece, bytes)
            }
            Came::Own(queue, piece, bytes) => {
                let own = queues[queue].as_ref().and_then(|queue| queue.own.as_ref());
                own.expect("where it came into").bytes(piece, bytes)
            }
            Came::Before(bytes) => bytes,
        }
    }
}

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

    /// Takes completions, for later, but those of a queue pair that is no more: its number may soon be another's.
    pub(super) fn forget(&mut self, pair: u32) {
        self.look();
        for completion in std::mem::take(&mut self.found) {
            if completion.queue_pair() != pair {
                self.found.push(completion);
                continue;
            }
            // Pieces of the queue pair's own go with it.
            let received = Received::of(completion.id());
            if let Some(Received::Shared { queue, piece }) = received
                && let Some(pool) = self.receives.get_mut(queue)
                && pool.taken()
            {
                pool.give_back(piece);
            }
        }
    }

    /// Posts used buffers again to the pools that run low.
    fn refill(&mut self) -> Result<(), weft_verbs::PostError> {
        self.receives
            .iter_mut()
            .try_for_each(|queue| queue.refill())
    }
}

impl Links {
    /// A turn over what the adapters have done. Whether they have done anything, and whether that is all.
    pub fn turn(&mut self, sink: &mut impl Sink) -> (bool, bool) {
        let (mut has_any, mut is_all) = (false, true);
        for rail in 0..self.parts.len() {
            let (some, all) = self.turn_of(rail, sink);
            (has_any, is_all) = (has_any | some, is_all & all);
        }
        (has_any, is_all)
    }

    #[inline]
    fn turn_of(&mut self, rail: usize, sink: &mut impl Sink) -> (bool, bool) {
        let retired = self.retired.len();
        let Some(parts) = &mut self.parts[rail] else {
            return (false, true);
        };
        let mut kept = std::mem::take(&mut parts.found);
        let mut done = kept.len();
        kept.drain(..)
            .for_each(|completion| self.take(rail, &completion, sink));
        let mut is_all = false;
        let mut found = [Completion::default(); AT_ONCE];
        while done < MOST_A_TURN && !is_all {
            let Ok(some) = self.parts(rail).making.completions.poll(&mut found) else {
                self.adapter_failed(rail);
                return (true, true);
            };
            is_all = some.len() < AT_ONCE;
            done += some.len();
            for completion in some {
                self.take(rail, completion, sink);
            }
            if self.parts(rail).refill().is_err() {
                self.adapter_failed(rail);
            }
        }
        if is_all && retired > 0 {
            self.drop_retired(rail, retired);
        }
        (done > 0, is_all)
    }

    fn take(&mut self, rail: usize, completion: &Completion, sink: &mut impl Sink) {
        // Of a queue pair that is gone nothing is told.
        let number = name(rail, completion.queue_pair());
        match Received::of(completion.id()) {
            None => {
                if let Some(&queue) = self.by_send.get(&number) {
                    self.done(queue, completion);
                }
            }
            Some(Received::Shared { queue, piece }) => {
                let pool = self.parts(rail).receives.get_mut(queue);
                if !pool.is_some_and(|pool| pool.taken()) {
                    return self.adapter_failed(rail);
                }
                if let Some(link) = self.receiver(number) {
                    let came = Came::Shared(rail, queue, piece, completion.bytes() as usize);
                    self.came(link, rail, came, completion, sink);
                }
                self.parts(rail).receives[queue].give_back(piece);
            }
            Some(Received::Own { piece }) => {
                if let Some(link) = self.receiver(number)
                    && let Some(&queue) = self.by_send.get(&number)
                {
                    let came = Came::Own(queue, piece, completion.bytes() as usize);
                    self.came(link, rail, came, completion, sink);
                }
            }
        }
    }

    /// The link for which a queue pair receives; none if it is gone. The lane is told of a queue pair before the peer is, but maybe by another
    /// thread, since this turn began.
    fn receiver(&mut self, pair: u64) -> Option<usize> {
        if !self.by_receive.contains_key(&pair) {
            self.take_left();
        }
        self.by_receive.get(&pair).copied()
    }

    /// A request of this process's is done.
    fn done(&mut self, queue: usize, completion: &Completion) {
        if !completion.is_success() {
            return self.failed_request(queue, completion);
        }
        let last = self.take_done(queue, completion.id());
        // What waited for the window, or follows in a transfer.
        if let Some(link) = last
            && self.links[link]
                .as_ref()
                .is_some_and(|there| there.has_queued())
        {
            self.activate(link);
        }
    }

    /// The requests up to that of `number` are done. The link of the last.
    fn take_done(&mut self, queue: usize, number: u64) -> Option<usize> {
        let mut last = None;
        let queue = self.queues[queue].as_mut()?;
        let rail = queue.rail;
        let parts = self.parts[rail].as_mut()?;
        while let Some(request) = queue.take_done(number, &mut parts.posting) {
            last = Some(request.link);
            self.shared.lanes[self.lane as usize]
                .counts
                .done(&request, rail);
            if let Some(there) = &mut self.links[request.link] {
                if let Some(over) = there.completed(&request, rail, &mut parts.posting) {
                    match over.direction {
                        Direction::Write => self.book.sent(there.peer, over.cookie),
                        Direction::Read => self.book.received(there.peer, over.cookie),
                    }
                }
                if there.has_more() && !there.is_active {
                    there.is_active = true;
                    self.active.push(there.number());
                }
            }
            request.give_back(&mut parts.posting);
        }
        last
    }

    /// A request has failed, and with it its queue pair: those before it are done, those after it are not.
    #[cold]
    fn failed_request(&mut self, queue: usize, completion: &Completion) {
        let status = completion.status();
        let Some(there) = self.queues[queue]
            .as_ref()
            .filter(|there| !there.is_retired)
        else {
            return;
        };
        let (is_to_host, rail) = (there.host, there.rail);
        if let Some(before) = completion.id().checked_sub(1) {
            self.take_done(queue, before);
        }
        let failing = self.queues[queue].as_ref().and_then(SendQueue::first);
        let lost: Vec<Peer> = match (is_to_host, status) {
            // Nobody at the other end refers to it any more: all whom it led to have ended, or their host is gone.
            (Some(_), IBV_WC_RETRY_EXC_ERR) | (None, _) => {
                let links = self.links.iter().flatten();
                let its = links.filter(|there| there.has_queue(queue));
                its.map(|there| there.peer).collect()
            }
            // The process that executed the packet may have died over it, and be none of those at the other end. That may be once.
            (Some(_), IBV_WC_REM_OP_ERR) if !self.is_refused_again(failing) => Vec::new(),
            (Some(_), _) => {
                let link = failing.and_then(|link| self.links[link].as_ref());
                link.map(|there| there.peer).into_iter().collect()
            }
        };
        let is_of_path = [IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR].contains(&status);
        let its = match is_to_host {
            Some(_) => self.end_queue(queue),
            None => Vec::new(),
        };
        for peer in lost {
            match is_of_path {
                true => self.broke_by(peer, rail, status),
                false => self.broke(peer, status),
            }
        }
        if let Some(host) = is_to_host {
            self.shared.send_failed(rail, self.lane, host);
            its.into_iter().for_each(|link| self.ask_again(link));
        }
    }

    /// The request of a link could not be done. Whether that was so before, and none of the link's has been done since.
    fn is_refused_again(&mut self, link: Option<usize>) -> bool {
        let link = link.and_then(|link| self.links[link].as_mut());
        link.is_none_or(|link| std::mem::replace(&mut link.has_been_refused, true))
    }

    /// A queue pair of a rail's to a peer has ended with this status: another path may lead there.
    fn broke_by(&mut self, peer: Peer, rail: usize, status: ibv_wc_status) {
        let link = self.by_peer.get(&peer).copied();
        if let Some(link) = link {
            self.path_failed(link, rail, |links| links.why_broken(peer, status), true);
        }
    }

    /// A frame has come, or credits alone.
    fn came(
        &mut self,
        link: usize,
        rail: usize,
        came: Came<'_>,
        completion: &Completion,
        sink: &mut impl Sink,
    ) {
        let peer = self.at(link).peer;
        let pair = name(rail, completion.queue_pair());
        if !completion.is_success() {
            return match completion.status() {
                IBV_WC_WR_FLUSH_ERR => self.broke_by(peer, rail, IBV_WC_WR_FLUSH_ERR),
                status => self.broke(peer, status),
            };
        }
        let immediate = completion.immediate();
        let immediate = immediate.ok_or(Malformed("a frame of no kind"));
        let done = immediate.and_then(|immediate| match Immediate::of(immediate)? {
            Immediate::Credits(credits) => self.credits_alone(link, credits, came, pair),
            Immediate::Frame {
                kind,
                sequence,
                credits,
            } => {
                self.taken(came)?;
                self.given(link, credits, pair)?;
                self.in_order(link, kind, sequence, came, sink)?;
                self.frame_done(came);
                Ok(())
            }
        });
        if let Err(Malformed(what)) = done {
            self.lose(peer, lost(peer, format!("it sent {what}")), false);
        }
    }

    /// Takes a frame in its turn, and those that have waited for it.
    fn in_order(
        &mut self,
        link: usize,
        kind: FrameKind,
        sequence: u32,
        came: Came<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        match there.order.come(sequence) {
            Turn::Past => return Ok(()),
            Turn::Later => {
                let frame = came.bytes(&self.queues, &self.parts);
                return there.order.keep(sequence, kind, frame);
            }
            Turn::Now => self.frame(link, kind, came, sink)?,
        }
        // The frame may have lost the peer.
        while let Some(there) = &mut self.links[link]
            && let Some((kind, frame)) = there.order.take()
        {
            self.frame(link, kind, Came::Before(&frame), sink)?;
        }
        Ok(())
    }

    fn frame(
        &mut self,
        link: usize,
        kind: FrameKind,
        came: Came<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        self.counts().frames.add(1);
        let there = self.links[link].as_mut().expect("a link of the lane's");
        there.heard();
        let frame = came.bytes(&self.queues, &self.parts);
        if kind != FrameKind::Part && there.assembled.is_empty() {
            return self.whole(link, kind, came, sink);
        }
        there.assembled.extend_from_slice(frame);
        if there.assembled.len() > FRAME_BYTES {
            return Err(Malformed("a packet of too many parts"));
        }
        match kind {
            FrameKind::Part => Ok(()),
            FrameKind::Packet => {
                let frame = std::mem::take(&mut there.assembled);
                self.whole(link, kind, Came::Before(&frame), sink)
            }
            _ => Err(Malformed("a packet without its last part")),
        }
    }

    fn whole(
        &mut self,
        link: usize,
        kind: FrameKind,
        came: Came<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        let peer = there.peer;
        let frame = came.bytes(&self.queues, &self.parts);
        kind.check(frame.len())?;
        let (words, payload) = (words(frame), &frame[HEAD_BYTES..]);
        match kind {
            FrameKind::Packet => sink.packet(peer, Header(words), payload),
            FrameKind::Packets => {
                for packet in Packets(frame) {
                    let (words, payload) = packet?;
                    sink.packet(peer, Header(words), payload);
                }
            }
            FrameKind::Ready => {
                there.ready(words[0])?;
                if there.is_open {
                    self.book.opened(peer);
                }
            }
            FrameKind::Throttle => there.is_throttled = words[0] != 0,
            FrameKind::Bye => {
                there.has_left = true;
                self.left(peer, link);
            }
            FrameKind::Taken => {
                let cookie = there.sending.taken(words[0])?;
                self.book.sent(peer, cookie);
            }
            FrameKind::Stream => {
                there.sending.stream(words[0], words[1])?;
                self.activate(link);
            }
            FrameKind::Data => {
                let received = there.receiving.data(words[0], payload)?;
                self.complete(peer, received);
            }
            FrameKind::Down => self.path_is_down(link, words[0]),
            FrameKind::Part => unreachable!("parts are put together"),
        }
        Ok(())
    }

    /// A queue pair has ended with this status.
    #[cold]
    fn broke(&mut self, peer: Peer, status: ibv_wc_status) {
        let (why, died) = self.why_broken(peer, status);
        self.lose(peer, lost(peer, why), died);
    }

    /// What that says of the peer, and whether it says that it has died.
    fn why_broken(&self, peer: Peer, status: ibv_wc_status) -> (String, bool) {
        let link = self
            .by_peer
            .get(&peer)
            .and_then(|&link| self.links[link].as_ref());
        let is_over_xrc = link.is_some_and(|there| there.is_over_xrc());
        match (status, self.shared.identity.timeout) {
            (IBV_WC_RETRY_EXC_ERR, Some(timeout)) => {
                let seconds = timeout.as_secs_f32();
                let what =
                    format!("its process has ended, or its host has not answered for {seconds} s");
                (what, true)
            }
            (IBV_WC_REM_INV_REQ_ERR, _) if is_over_xrc => (
                "its process has ended: its receive queues are gone".to_owned(),
                true,
            ),
            (IBV_WC_REM_ACCESS_ERR | IBV_WC_REM_INV_REQ_ERR, _) => (
                "it does not give the memory that it announced".to_owned(),
                false,
            ),
            (IBV_WC_RNR_RETRY_EXC_ERR, _) => (
                "it has no buffer for what it gave credits for".to_owned(),
                false,
            ),
            (IBV_WC_LOC_LEN_ERR, _) => ("it sent a frame of the wrong length".to_owned(), false),
            _ => (
                format!("its queue pair has ended with status {status}"),
                false,
            ),
        }
    }

    /// An adapter does nothing more for this lane.
    #[cold]
    fn adapter_failed(&mut self, rail: usize) {
        let links: Vec<usize> = self.by_peer.values().copied().collect();
        let name = self.shared.rails[rail].adapter.context.name().to_owned();
        for link in links {
            let why = format!("{name} has failed");
            self.path_failed(link, rail, |_| (why, false), true);
        }
    }
}
