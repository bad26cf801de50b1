//! A link pushes requests to its queue pairs, and keeps frames that find no room.

use weft_transport::Cookie;
use weft_verbs::ProtectionDomain;

use super::Link;
use super::queued::Queued;
use crate::access::By;
use crate::buffers::BufferId;
use crate::bulk::receiving::Reader;
use crate::frame::{
    FrameKind, HEAD_BYTES, Immediate, MOST_CREDITS, Malformed, SEQUENCE_END, put_words,
};
use crate::path::Path;
use crate::send_queue::{Posting, Request, SendQueues, What, at, at_mut};
use crate::way::PoolWay;

/// Stripes of long messages that are under way by one path.
const STRIPES_A_PATH: usize = 2;

impl Link {
    /// Copies parts that wait in pieces of a rail that is to carry frames no more.
    pub fn copy_parts(&mut self, posting: &mut Posting) {
        self.keep_gathered();
        for queued in &mut self.queue {
            if let &mut Queued::Part {
                kind,
                piece,
                offset,
                bytes,
                is_last,
            } = queued
            {
                let frame = posting.sends.bytes(piece, offset + bytes)[offset..].to_vec();
                if is_last {
                    posting.sends.give_back(piece);
                }
                *queued = Queued::Copied { kind, frame };
            }
        }
    }

    /// Whether a packet whose frame is so long has a place: what waits already goes first.
    pub fn has_place(&self, bytes: usize, queues: &SendQueues) -> bool {
        if self.parts > 0 {
            return false;
        }
        let Some(way) = self.path.smallest(bytes).map(|way| &self.path.ways[way]) else {
            return true;
        };
        way.has_room() && way.queue.is_some_and(|queue| at(queues, queue).has_place())
    }

    fn has_own_place(&self, way: usize, queues: &SendQueues) -> bool {
        let way = &self.path.ways[way];
        let has_place = |queue| at(queues, queue).has_own_place();
        way.has_room() && way.queue.is_some_and(has_place)
    }

    /// A packet's frame, whose bytes are in `piece`. The queue pair that ought to be posted to now, if any.
    pub fn push_packet(
        &mut self,
        piece: BufferId,
        bytes: usize,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        match self.path.smallest(bytes) {
            Some(way) => self.push_frame(
                way,
                FrameKind::Packet,
                None,
                (piece, 0, bytes, true),
                queues,
            ),
            None => {
                self.split(piece, bytes);
                None
            }
        }
    }

    #[cold]
    fn split(&mut self, piece: BufferId, bytes: usize) {
        let longest = self.path.longest();
        for offset in (0..bytes).step_by(longest) {
            let is_last = offset + longest >= bytes;
            self.queue.push_back(Queued::Part {
                kind: if is_last {
                    FrameKind::Packet
                } else {
                    FrameKind::Part
                },
                piece,
                offset,
                bytes: longest.min(bytes - offset),
                is_last,
            });
            self.parts += 1;
        }
    }

    /// Pushes a frame, for which there is room: the next one, or that of this number again. The queue pair, if it ought to be posted to
    /// now.
    pub(super) fn push_frame(
        &mut self,
        way: usize,
        kind: FrameKind,
        sequence: Option<u32>,
        (piece, offset, bytes, is_last): (BufferId, usize, usize, bool),
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let to = self.path.ways[way].to();
        let credits = to.map_or(0, |(queue, _)| {
            at_mut(queues, queue).take_credits(MOST_CREDITS)
        });
        let sequence = sequence.unwrap_or_else(|| self.next_number());
        let immediate = Immediate::Frame {
            kind,
            sequence,
            credits,
        };
        let immediate = immediate.number();
        let what = What::Frame {
            immediate,
            piece,
            offset,
            bytes,
            is_last,
        };
        self.path.ways[way].start();
        self.push(to, Some(way as u8), what, queues)
    }

    #[inline]
    fn next_number(&mut self) -> u32 {
        let next = self.sequence;
        self.sequence = (next + 1) % SEQUENCE_END;
        next
    }

    fn push(
        &mut self,
        to: Option<(usize, u32)>,
        way: Option<u8>,
        what: What,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let (queue, srq) = to.expect("what is pushed has a way");
        self.under_way += 1;
        let link = self.number;
        let request = Request {
            link,
            way,
            srq,
            what,
        };
        at_mut(queues, queue).push(request).then_some(queue)
    }

    /// Takes back what was pushed to a queue pair of a rail's that has failed: it goes again, before all else, once there is another.
    /// The peer knows by its number what it has had already.
    pub fn take_back(&mut self, request: Request, rail: usize, posting: &mut Posting) {
        self.under_way -= 1;
        if let Some(way) = request.way {
            self.path.ways[way as usize].completed();
        }
        match &request.what {
            &What::Frame {
                immediate,
                piece,
                offset,
                bytes,
                ..
            } if request.is_needed() => {
                if let Ok(Immediate::Frame { kind, sequence, .. }) = Immediate::of(immediate) {
                    let frame = posting.sends.bytes(piece, offset + bytes)[offset..].to_vec();
                    self.queue.push_front(Queued::Again {
                        kind,
                        sequence,
                        frame,
                    });
                }
            }
            What::Read(read) => {
                self.receiving.again(read);
                self.has_read_by(rail, read);
            }
            What::Access(step) => self.accesses.again(step),
            _ => {}
        }
        request.give_back(posting);
    }

    /// Asks whether the peer is there, unless something is under way that will tell. The queue pair to be posted to.
    pub fn probe(&mut self, queues: &mut SendQueues) -> Option<usize> {
        let (queue, srq) = self.path.last()?;
        self.under_way += at_mut(queues, queue).probe(self.number, srq);
        Some(queue)
    }

    /// Has the adapter say what it has done, if it was not asked to.
    pub fn probe_rest(&mut self, queues: &mut SendQueues) {
        let of_path = |path: &Path| {
            let over_xrc = path.ways.iter().filter(|way| way.is_over_xrc());
            let over_xrc: Vec<(usize, u32)> = over_xrc.filter_map(PoolWay::to).collect();
            path.pairs.clone().map(|queue| (queue, 0)).chain(over_xrc)
        };
        let all: Vec<(usize, u32)> = self.paths().flat_map(of_path).collect();
        for (queue, srq) in all {
            self.under_way += at_mut(queues, queue).probe_rest(self.number, srq);
        }
    }

    /// Pushes what waits and has room, and what is there of data. Cookies of transfers whose source is free go to `sent`. The queue pair
    /// that is to be posted to before more is pushed; none if there is no more.
    pub fn pump(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        domain: &ProtectionDomain,
        mut sent: impl FnMut(Cookie),
    ) -> Option<usize> {
        if let Some(full) = self.end_gathering(queues) {
            return Some(full);
        }
        while self.stands() && posting.has_own_room() {
            let pushed = self.take_queued(queues, posting);
            let pushed = pushed.or_else(|()| self.take_access(queues, posting, domain));
            let pushed = pushed.or_else(|()| self.take_read(None, queues, domain));
            let pushed = pushed.or_else(|()| self.take_data(queues, posting, &mut sent));
            match pushed {
                Ok(None) => {}
                Ok(full) => return full,
                Err(()) => break,
            }
        }
        None
    }

    /// Pushes reads by the path of number `other` of those that are not the first, as far as there are any for it. The queue pair that is
    /// to be posted to before more is pushed; none if there is no more.
    pub fn pump_reads(
        &mut self,
        other: usize,
        queues: &mut SendQueues,
        posting: &Posting,
        domain: &ProtectionDomain,
    ) -> Option<usize> {
        while posting.has_own_room() {
            match self.take_read(Some(other), queues, domain) {
                Ok(None) => {}
                Ok(full) => return full,
                Err(()) => break,
            }
        }
        None
    }

    /// Pushes a read of a long message, by the first path or another, if there is one for it and it has a place.
    fn take_read(
        &mut self,
        other: Option<usize>,
        queues: &mut SendQueues,
        domain: &ProtectionDomain,
    ) -> Result<Option<usize>, ()> {
        if !self.receiving.has_waiting() {
            return Err(());
        }
        let shares = self
            .others
            .iter()
            .any(|path| path.stands() && !path.is_down);
        let path = match other {
            None => &self.path,
            Some(other) => &self.others[other],
        };
        let to = path.last().ok_or(())?;
        if !at(queues, to.0).has_own_place() {
            return Err(());
        }
        let reader = Reader {
            place: path.place,
            home: self.path.place,
            shares,
            takes_stripes: path.stripes < STRIPES_A_PATH,
            domain,
        };
        let read = self.receiving.next(&reader).ok_or(())?;
        let path = match other {
            None => &mut self.path,
            Some(other) => &mut self.others[other],
        };
        path.stripes += usize::from(read.is_stripe);
        Ok(self.push(Some(to), None, What::Read(read), queues))
    }

    /// Pushes the credits that are to go alone. They wait for no way of the link's: the peer has credits to come as soon as it sends.
    /// Credits that find no place stay owed.
    pub fn pump_credits(&mut self, queues: &mut SendQueues, posting: &Posting) {
        let mut owes = false;
        for queue in self.pairs() {
            let due = match posting.has_own_room() {
                true => at_mut(queues, queue).take_due(),
                false => None,
            };
            if let Some(credits) = due {
                self.push_credits(queue, credits, queues);
            }
            owes |= at(queues, queue).owes();
        }
        self.owes = owes;
    }

    fn push_credits(&mut self, queue: usize, credits: u32, queues: &mut SendQueues) {
        self.push(Some((queue, 0)), None, What::Credits(credits), queues);
    }

    #[cfg(test)]
    pub fn give(&mut self, credits: u32, queues: &mut SendQueues) {
        self.push_credits(self.path.pairs.start, credits, queues);
    }

    /// The peer has given credits back, by a queue pair of that number.
    pub fn given(&mut self, queue: usize, credits: u32) -> Result<(), Malformed> {
        let mut ways = self.paths_mut().flat_map(|path| &mut path.ways);
        let way = ways.find(|way| way.queue == Some(queue));
        let way = way.ok_or(Malformed("credits for no pool of its"))?;
        way.given(credits)
    }

    /// Pushes the first of what waits, if it has a place.
    fn take_queued(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
    ) -> Result<Option<usize>, ()> {
        match self.queue.front().ok_or(())? {
            &Queued::Control(kind, words) => {
                if !self.has_own_place(0, queues) {
                    return Err(());
                }
                let piece = posting.sends.take(HEAD_BYTES).ok_or(())?;
                put_words(words, posting.sends.bytes(piece, HEAD_BYTES));
                self.queue.pop_front();
                Ok(self.push_frame(0, kind, None, (piece, 0, HEAD_BYTES, true), queues))
            }
            &Queued::Part {
                kind,
                piece,
                offset,
                bytes,
                is_last,
            } => {
                // All by one queue pair: the piece is free once its last part has left.
                let way = self.path.ways.len() - 1;
                if !self.has_own_place(way, queues) {
                    return Err(());
                }
                self.queue.pop_front();
                self.parts -= 1;
                Ok(self.push_frame(way, kind, None, (piece, offset, bytes, is_last), queues))
            }
            Queued::Again { frame, .. } | Queued::Copied { frame, .. } => {
                let bytes = frame.len();
                let way = self.path.smallest(bytes).ok_or(())?;
                if !self.has_own_place(way, queues) {
                    return Err(());
                }
                let piece = posting.sends.take(bytes).ok_or(())?;
                posting.sends.bytes(piece, bytes).copy_from_slice(frame);
                let (kind, sequence) = match self.queue.pop_front() {
                    Some(Queued::Again { kind, sequence, .. }) => (kind, Some(sequence)),
                    Some(Queued::Copied { kind, .. }) => {
                        self.parts -= 1;
                        (kind, None)
                    }
                    _ => unreachable!("the first of what waits"),
                };
                Ok(self.push_frame(way, kind, sequence, (piece, 0, bytes, true), queues))
            }
        }
    }

    /// Pushes the next request of an access, if it has a place.
    fn take_access(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        domain: &ProtectionDomain,
    ) -> Result<Option<usize>, ()> {
        if !self.accesses.has_waiting() {
            return Err(());
        }
        let to = self.path.last().ok_or(())?;
        if !at(queues, to.0).has_own_place() {
            return Err(());
        }
        let by = By {
            place: self.path.place,
            port: self.path.port,
            domain,
        };
        let step = self.accesses.next(&mut posting.sends, &by).ok_or(())?;
        Ok(self.push(Some(to), None, What::Access(step), queues))
    }

    fn take_data(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        sent: &mut impl FnMut(Cookie),
    ) -> Result<Option<usize>, ()> {
        let bytes = self.sending.next_bytes(self.path.longest()).ok_or(())?;
        let way = self
            .path
            .smallest(bytes)
            .expect("data are cut to the buffers");
        if !self.has_place(bytes, queues) {
            return Err(());
        }
        let piece = posting.sends.take_for_bulk().ok_or(())?;
        if let Some(cookie) = self.sending.fill(posting.sends.bytes(piece, bytes)) {
            sent(cookie);
        }
        Ok(self.push_frame(way, FrameKind::Data, None, (piece, 0, bytes, true), queues))
    }

    /// Gives back the pieces of what waits and will not be posted.
    pub fn abandon(&mut self, posting: &mut Posting) {
        self.keep_gathered();
        for queued in self.queue.drain(..) {
            if let Queued::Part {
                piece,
                is_last: true,
                ..
            } = queued
            {
                posting.sends.give_back(piece);
            }
        }
    }

    /// Whether a peer that was busy is so no more.
    pub fn has_room(&self, queues: &SendQueues) -> bool {
        let is_free = |way: &PoolWay| {
            let has_room = |queue| at(queues, queue).has_room();
            way.has_room_again() && way.queue.is_some_and(has_room)
        };
        self.parts == 0 && self.path.ways.iter().all(is_free)
    }
}
