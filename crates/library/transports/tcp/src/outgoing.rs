//! What waits to be written to a connection, in order: frames, and stretches of user memory.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use socket2::Socket;

use crate::frame::{HEAD_BYTES, Head, Kind};

/// Pieces written by one system call.
const PIECES: usize = 16;
/// Frames are put together in pieces of about so many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// The transfers of which stretches are written.
pub trait Sources {
    /// At least one of a transfer's bytes from `at` to `end`, as they lie, or packed into `scratch`.
    fn stretch<'a>(&'a self, id: u64, at: usize, end: usize, scratch: &'a mut [u8]) -> &'a [u8];
    fn copy(&self, id: u64, at: usize, end: usize) -> Vec<u8>;
    /// So many bytes of a transfer have been written.
    fn written(&mut self, id: u64, bytes: usize);
}

enum Piece {
    /// Frames, the first of them perhaps in part; `at` is what was written.
    Frames { bytes: Vec<u8>, at: usize },
    /// Bytes of a transfer's source.
    Data {
        transfer: u64,
        at: usize,
        end: usize,
    },
}

/// What waits to be written to a connection.
#[derive(Default)]
pub struct Outgoing {
    pieces: VecDeque<Piece>,
    /// Bytes of frames.
    frame_bytes: usize,
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

    /// Appends a frame, its payload written by `fill`.
    pub fn push_with(&mut self, head: &Head, payload_bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let bytes = self.last_frames();
        bytes.extend_from_slice(&head.put());
        let begin = bytes.len();
        bytes.resize(begin + payload_bytes, 0);
        fill(&mut bytes[begin..]);
        self.frame_bytes += HEAD_BYTES + payload_bytes;
    }

    pub fn push(&mut self, kind: Kind, words: [u64; 2]) {
        self.push_with(&Head::new(kind, 0, words), 0, |_| ());
    }

    /// Appends bytes that are frames, or the rest of some.
    pub fn push_bytes(&mut self, parts: &[&[u8]]) {
        let bytes = self.last_frames();
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.frame_bytes += parts.iter().map(|part| part.len()).sum::<usize>();
    }

    /// Appends bytes of a transfer, as one frame.
    pub fn push_data(&mut self, transfer: u64, begin: usize, end: usize) {
        let head = Head::new(Kind::Data, end - begin, [transfer, begin as u64]);
        self.push_with(&head, 0, |_| ());
        let at = begin;
        self.pieces.push_back(Piece::Data { transfer, at, end });
    }

    fn last_frames(&mut self) -> &mut Vec<u8> {
        let joins = |piece: &Piece| matches!(piece, Piece::Frames { bytes, .. } if bytes.len() < PIECE_BYTES);
        if !self.pieces.back().is_some_and(joins) {
            let bytes = std::mem::take(&mut self.spare);
            self.pieces.push_back(Piece::Frames { bytes, at: 0 });
        }
        match self.pieces.back_mut() {
            Some(Piece::Frames { bytes, .. }) => bytes,
            _ => unreachable!("just seen to"),
        }
    }

    /// The source of a transfer is wanted back: what is still to be written of it is copied.
    pub fn keep_copy(&mut self, transfer: u64, sources: &impl Sources) {
        for piece in &mut self.pieces {
            match *piece {
                Piece::Data {
                    transfer: other,
                    at,
                    end,
                } if other == transfer => {
                    let bytes = sources.copy(transfer, at, end);
                    self.frame_bytes += bytes.len();
                    *piece = Piece::Frames { bytes, at: 0 };
                }
                _ => {}
            }
        }
    }

    /// Writes what one system call takes. What was written of transfers is told to `sources`; `scratch` is for what does not lie
    /// together.
    pub fn write(
        &mut self,
        socket: &Socket,
        sources: &mut impl Sources,
        scratch: &mut [u8],
    ) -> io::Result<(Written, usize)> {
        let mut slices: [IoSlice; PIECES] = std::array::from_fn(|_| IoSlice::new(&[]));
        let mut scratch = Some(scratch);
        let mut count = 0;
        for (piece, slice) in self.pieces.iter().zip(&mut slices) {
            let (bytes, is_whole) = match piece {
                Piece::Frames { bytes, at } => (&bytes[*at..], true),
                Piece::Data { transfer, at, end } => {
                    let Some(scratch) = scratch.take_if(|_| true) else {
                        break;
                    };
                    let bytes = sources.stretch(*transfer, *at, *end, scratch);
                    (bytes, bytes.len() == end - at)
                }
            };
            *slice = IoSlice::new(bytes);
            count += 1;
            if !is_whole {
                break;
            }
        }
        if count == 0 {
            return Ok((Written::All, 0));
        }
        let sent = socket.send_vectored_with_flags(&slices[..count], libc::MSG_NOSIGNAL);
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

    /// So many bytes have left.
    fn written(&mut self, mut count: usize, sources: &mut impl Sources) {
        while count != 0 {
            let is_over = match self.pieces.front_mut().expect("as much was there") {
                Piece::Frames { bytes, at } => {
                    let step = count.min(bytes.len() - *at);
                    *at += step;
                    self.frame_bytes -= step;
                    count -= step;
                    *at == bytes.len()
                }
                Piece::Data { transfer, at, end } => {
                    let step = count.min(*end - *at);
                    *at += step;
                    count -= step;
                    sources.written(*transfer, step);
                    *at == *end
                }
            };
            if is_over && let Some(Piece::Frames { mut bytes, .. }) = self.pieces.pop_front() {
                bytes.clear();
                if bytes.capacity() <= 2 * PIECE_BYTES {
                    self.spare = bytes;
                }
            }
        }
        if self.is_empty() && self.spare.capacity() > 4096 {
            self.spare = Vec::new();
        }
    }
}
