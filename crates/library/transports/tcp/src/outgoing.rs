//! What waits to be written to a connection, in order: frames, and stretches of user memory.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use socket2::Socket;

use crate::frame::{FrameKind, HEAD_BYTES, Head};

/// Pieces written by one system call.
const PIECES: usize = 16;
/// Frames are put together in pieces of about so many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// The transfers of which stretches are written.
pub trait Sources {
    /// A transfer's bytes from `at` to `end`, if they lie together.
    fn stretch(&self, id: u64, at: usize, end: usize) -> Option<&[u8]>;
    /// Whether they lie in runs that are worth telling the kernel.
    fn has_long_runs(&self, id: u64) -> bool;
    /// Appends those runs, as far as one system call takes them.
    fn runs<'a>(&'a self, id: u64, at: usize, end: usize, slices: &mut Vec<IoSlice<'a>>);
    /// Packs its bytes from `at` on into all of `out`.
    fn pack(&self, id: u64, at: usize, out: &mut [u8]);
    fn copy(&self, id: u64, at: usize, end: usize) -> Vec<u8>;
    /// So many bytes of a transfer have been written.
    fn written(&mut self, id: u64, bytes: usize);
}

enum Queued {
    /// Frames, the first of them perhaps in part; `at` is what was written.
    Frames { bytes: Vec<u8>, at: usize },
    /// Bytes of a transfer's source.
    Data {
        transfer: u64,
        at: usize,
        end: usize,
    },
}

/// Bytes of a transfer, from `at` on, that were packed and for which there was no room.
#[derive(Default)]
struct Packed {
    transfer: u64,
    at: usize,
    bytes: Vec<u8>,
}

impl Packed {
    /// Those from `at` on, if they are here. What comes before them has been written.
    fn from(&self, transfer: u64, at: usize) -> Option<&[u8]> {
        let bytes = self.bytes.get(at.checked_sub(self.at)?..)?;
        (self.transfer == transfer && !bytes.is_empty()).then_some(bytes)
    }
}

/// Bytes of a transfer, from `at` on, that are packed for one system call, which takes so many others before them.
struct Packing<'a> {
    transfer: u64,
    at: usize,
    bytes: &'a [u8],
    before: usize,
}

impl Packing<'_> {
    /// What is left of them, of which and of what comes before them so much was sent.
    fn left(&self, sent: usize) -> Packed {
        let written = sent.saturating_sub(self.before).min(self.bytes.len());
        Packed {
            transfer: self.transfer,
            at: self.at + written,
            bytes: self.bytes[written..].to_vec(),
        }
    }
}

/// What one system call is to write.
struct Gathered<'a, 's> {
    slices: [IoSlice<'a>; PIECES],
    count: usize,
    /// All of it, where a transfer's runs may be more than those.
    runs: Vec<IoSlice<'a>>,
    packing: Option<Packing<'s>>,
}

impl<'a> Gathered<'a, '_> {
    fn all(&self) -> &[IoSlice<'a>] {
        if self.runs.is_empty() {
            &self.slices[..self.count]
        } else {
            &self.runs
        }
    }
}

/// What waits to be written to a connection.
#[derive(Default)]
pub struct Outgoing {
    pieces: VecDeque<Queued>,
    packed: Packed,
    /// Bytes of frames.
    frame_bytes: usize,
    /// Bytes of transfers that were packed.
    packed_bytes: usize,
    spare: Vec<u8>,
}

/// What became of an attempt to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    All,
    /// So much; there may be room for more.
    Some,
    /// There is no room now.
    Blocked,
}

impl Outgoing {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes that are kept here, which users' memory is not.
    #[inline]
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Bytes of transfers that were packed since this was last asked.
    pub fn take_packed_bytes(&mut self) -> usize {
        std::mem::take(&mut self.packed_bytes)
    }

    /// Appends a frame, its payload written by `fill`.
    pub fn push_with(&mut self, head: &Head, payload_bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let bytes = self.last_frames();
        bytes.extend_from_slice(&head.put());
        let begin = bytes.len();
        bytes.resize(begin + payload_bytes, 0);
        fill(&mut bytes[begin..]);
        self.frame_bytes += HEAD_BYTES + payload_bytes;
    }

    pub fn push(&mut self, kind: FrameKind, words: [u64; 2]) {
        self.push_with(&Head::new(kind, 0, words), 0, |_| ());
    }

    /// Appends bytes that are frames, or the rest of some.
    pub fn push_bytes(&mut self, parts: &[&[u8]]) {
        let bytes = self.last_frames();
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.frame_bytes += parts.iter().map(|part| part.len()).sum::<usize>();
    }

    /// Appends bytes of a transfer, as one frame of data or one stripe.
    pub fn push_data(&mut self, kind: FrameKind, transfer: u64, begin: usize, end: usize) {
        let head = Head::new(kind, end - begin, [transfer, begin as u64]);
        self.push_with(&head, 0, |_| ());
        let at = begin;
        self.pieces.push_back(Queued::Data { transfer, at, end });
    }

    fn last_frames(&mut self) -> &mut Vec<u8> {
        let joins = |piece: &Queued| matches!(piece, Queued::Frames { bytes, .. } if bytes.len() < PIECE_BYTES);
        if !self.pieces.back().is_some_and(joins) {
            let bytes = std::mem::take(&mut self.spare);
            self.pieces.push_back(Queued::Frames { bytes, at: 0 });
        }
        match self.pieces.back_mut() {
            Some(Queued::Frames { bytes, .. }) => bytes,
            _ => unreachable!("just seen to"),
        }
    }

    /// The source of a transfer is wanted back: what is still to be written of it is copied.
    pub fn keep_copy(&mut self, transfer: u64, sources: &impl Sources) {
        for piece in &mut self.pieces {
            match *piece {
                Queued::Data {
                    transfer: other,
                    at,
                    end,
                } if other == transfer => {
                    let bytes = sources.copy(transfer, at, end);
                    self.frame_bytes += bytes.len();
                    *piece = Queued::Frames { bytes, at: 0 };
                }
                _ => {}
            }
        }
    }

    /// Writes what one system call takes. What was written of transfers is told to `sources`. What lies in short runs is packed into
    /// `scratch`, once: what is left of it is kept.
    pub fn write(
        &mut self,
        socket: &Socket,
        sources: &mut impl Sources,
        scratch: &mut [u8],
    ) -> io::Result<(Written, usize)> {
        let gathered = self.gather(sources, scratch);
        if gathered.all().is_empty() {
            return Ok((Written::All, 0));
        }
        let sent = socket.send_vectored_with_flags(gathered.all(), libc::MSG_NOSIGNAL);
        if let Some(packing) = gathered.packing {
            self.packed_bytes += packing.bytes.len();
            self.packed = packing.left(sent.as_ref().map_or(0, |&sent| sent));
        }
        match sent {
            Ok(bytes) => {
                self.written(bytes, sources);
                let all = if self.is_empty() {
                    Written::All
                } else {
                    Written::Some
                };
                Ok((all, bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((Written::Blocked, 0)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok((Written::Some, 0)),
            Err(error) => Err(error),
        }
    }

    /// What stands first, as far as one system call takes it.
    #[inline]
    fn gather<'a, 's: 'a>(
        &'a self,
        sources: &'a impl Sources,
        scratch: &'s mut [u8],
    ) -> Gathered<'a, 's> {
        let mut gathered = Gathered {
            slices: std::array::from_fn(|_| IoSlice::new(&[])),
            count: 0,
            runs: Vec::new(),
            packing: None,
        };
        let mut scratch = Some(scratch);
        let mut before = 0;
        for piece in &self.pieces {
            let (bytes, is_whole) = match piece {
                Queued::Frames { bytes, at } => (&bytes[*at..], true),
                Queued::Data { transfer, at, end } if sources.has_long_runs(*transfer) => {
                    let Gathered {
                        slices,
                        count,
                        runs,
                        ..
                    } = &mut gathered;
                    runs.extend_from_slice(&slices[..*count]);
                    sources.runs(*transfer, *at, *end, runs);
                    break;
                }
                Queued::Data { transfer, at, end } => {
                    let Some(scratch) = scratch.take() else {
                        break;
                    };
                    let lies = sources.stretch(*transfer, *at, *end);
                    let known = lies.or_else(|| self.packed.from(*transfer, *at));
                    let bytes = known.unwrap_or_else(|| {
                        let most = scratch.len().min(end - at);
                        let bytes = &mut scratch[..most];
                        sources.pack(*transfer, *at, bytes);
                        let (transfer, at, bytes) = (*transfer, *at, &*bytes);
                        gathered.packing = Some(Packing {
                            transfer,
                            at,
                            bytes,
                            before,
                        });
                        bytes
                    });
                    (bytes, bytes.len() == end - at)
                }
            };
            before += bytes.len();
            gathered.slices[gathered.count] = IoSlice::new(bytes);
            gathered.count += 1;
            if !is_whole || gathered.count == PIECES {
                break;
            }
        }
        gathered
    }

    /// So many bytes have left.
    fn written(&mut self, mut count: usize, sources: &mut impl Sources) {
        while count != 0 {
            let is_over = match self.pieces.front_mut().expect("as much was there") {
                Queued::Frames { bytes, at } => {
                    let step = count.min(bytes.len() - *at);
                    *at += step;
                    self.frame_bytes -= step;
                    count -= step;
                    *at == bytes.len()
                }
                Queued::Data { transfer, at, end } => {
                    let step = count.min(*end - *at);
                    *at += step;
                    count -= step;
                    sources.written(*transfer, step);
                    *at == *end
                }
            };
            if is_over && let Some(Queued::Frames { mut bytes, .. }) = self.pieces.pop_front() {
                bytes.clear();
                if bytes.capacity() <= 2 * PIECE_BYTES {
                    self.spare = bytes;
                }
            }
        }
        if self.is_empty() {
            self.packed = Packed::default();
            if self.spare.capacity() > 4096 {
                self.spare = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Read;

    use socket2::{Domain, Type};

    use super::*;

    /// One transfer whose bytes never lie together, and how many of them were packed.
    struct Scattered {
        bytes: Vec<u8>,
        packed: Cell<usize>,
    }

    impl Sources for Scattered {
        fn stretch(&self, _: u64, _: usize, _: usize) -> Option<&[u8]> {
            None
        }

        fn has_long_runs(&self, _: u64) -> bool {
            false
        }

        fn runs<'a>(&'a self, _: u64, _: usize, _: usize, _: &mut Vec<IoSlice<'a>>) {
            unreachable!("there are none")
        }

        fn pack(&self, _: u64, at: usize, out: &mut [u8]) {
            self.packed.set(self.packed.get() + out.len());
            out.copy_from_slice(&self.bytes[at..at + out.len()]);
        }

        fn copy(&self, _: u64, at: usize, end: usize) -> Vec<u8> {
            self.bytes[at..end].to_vec()
        }

        fn written(&mut self, _: u64, _: usize) {}
    }

    #[test]
    fn what_does_not_lie_together_is_packed_once_however_little_room_there_is() {
        let (socket, mut reader) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        reader.set_nonblocking(true).unwrap();
        socket.set_send_buffer_size(8 << 10).unwrap();
        let bytes: Vec<u8> = (0..1_000_003_u32).map(|at| (at % 251) as u8).collect();
        let total = bytes.len();
        let mut source = Scattered {
            bytes,
            packed: Cell::new(0),
        };
        let mut out = Outgoing::default();
        for (transfer, begin, end) in [(1, 0, 700_000), (1, 700_000, total), (2, 0, 5)] {
            out.push_data(FrameKind::Data, transfer, begin, end);
            out.push(FrameKind::Credit, [1, 0]);
        }
        let (mut scratch, mut buffer) = (vec![0; 100_000], vec![0; 3001]);
        let (mut read, mut blocked) = (Vec::new(), 0);
        while !out.is_empty() || read.len() < total + 5 + 6 * HEAD_BYTES {
            let (written, _) = out.write(&socket, &mut source, &mut scratch).unwrap();
            blocked += u32::from(written == Written::Blocked);
            if let Ok(count) = reader.read(&mut buffer) {
                read.extend_from_slice(&buffer[..count]);
            }
        }
        assert!(blocked > 10, "there was room always");
        assert_eq!(source.packed.get(), total + 5);
        assert_eq!(out.take_packed_bytes(), total + 5);
        let frames = 2 * HEAD_BYTES;
        assert_eq!(read[HEAD_BYTES..][..700_000], source.bytes[..700_000]);
        assert_eq!(
            read[700_000 + frames + HEAD_BYTES..][..total - 700_000],
            source.bytes[700_000..]
        );
        assert_eq!(
            read[total + 2 * frames + HEAD_BYTES..][..5],
            source.bytes[..5]
        );
    }
}
