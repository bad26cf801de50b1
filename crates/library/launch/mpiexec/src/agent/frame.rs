//! The bytes between two nodes of the tree: a preamble, then frames.
//!
//! A frame is the length of its body and the number of a host, 32 bits each with the lowest byte first, the body, and a
//! newline: what stands between Slurm's daemons passes on whole lines at once and holds back an unfinished one.

/// Longer than any job's description.
const BODY_MAX_BYTES: usize = 64 << 20;
const HEADER_BYTES: usize = 8;
/// What a login may print before the agent speaks.
const NOISE_MAX_BYTES: usize = 256 << 10;

/// Names the protocol and its version.
const PREAMBLE: &[u8] = b"\0weft-agent 1 ";

/// For every host of the tree below.
pub const ALL_HOSTS: u32 = u32::MAX;
/// For the neighbour itself: a sign of life.
pub const NEIGHBOUR: u32 = u32::MAX - 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// From which host, or for which.
    pub host: u32,
    pub body: Vec<u8>,
}

/// Why bytes are no frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// What came instead of the preamble ends with these words.
    NoPreamble,
    /// The other side is of this version.
    Version(String),
    TooLong,
    NoNewline,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Malformed::NoPreamble => f.write_str("what answers there is not mpiexec's agent"),
            Malformed::Version(version) => write!(
                f,
                "mpiexec there is of version {version}, and here of {}",
                env!("CARGO_PKG_VERSION")
            ),
            Malformed::TooLong => f.write_str("it sends a frame without end"),
            Malformed::NoNewline => f.write_str("it sends a malformed frame"),
        }
    }
}

/// What each side says first.
pub fn preamble() -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    [PREAMBLE, version.as_bytes(), b"\n"].concat()
}

pub fn encode(frame: &Frame, into: &mut Vec<u8>) {
    into.extend_from_slice(&(frame.body.len() as u32).to_le_bytes());
    into.extend_from_slice(&frame.host.to_le_bytes());
    into.extend_from_slice(&frame.body);
    into.push(b'\n');
}

/// Takes bytes in any pieces and gives frames.
#[derive(Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
    has_begun: bool,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The preamble has come.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What has come before the preamble: words of a login, or why there is no agent.
    pub fn noise(&self) -> &[u8] {
        match self.has_begun {
            true => &[],
            false => &self.bytes,
        }
    }

    /// The next whole frame; `None` until more bytes come.
    pub fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        if !self.has_begun && !self.take_preamble()? {
            return Ok(None);
        }
        let rest = &self.bytes[self.start..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let word = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let length = word(0) as usize;
        if length > BODY_MAX_BYTES {
            return Err(Malformed::TooLong);
        }
        if rest.len() <= length {
            return Ok(None);
        }
        if rest[length] != b'\n' {
            return Err(Malformed::NoNewline);
        }
        let frame = Frame {
            host: word(4),
            body: rest[..length].to_vec(),
        };
        self.start += HEADER_BYTES + length + 1;
        Ok(Some(frame))
    }

    fn take_preamble(&mut self) -> Result<bool, Malformed> {
        let at = self
            .bytes
            .windows(PREAMBLE.len())
            .position(|part| part == PREAMBLE);
        let Some(at) = at else {
            return match self.bytes.len() > NOISE_MAX_BYTES {
                true => Err(Malformed::NoPreamble),
                false => Ok(false),
            };
        };
        let after = at + PREAMBLE.len();
        let Some(length) = self.bytes[after..].iter().position(|&byte| byte == b'\n') else {
            return match self.bytes.len() - after > 100 {
                true => Err(Malformed::NoPreamble),
                false => Ok(false),
            };
        };
        let version = &self.bytes[after..after + length];
        if version != env!("CARGO_PKG_VERSION").as_bytes() {
            let shown = String::from_utf8_lossy(version).into_owned();
            return Err(Malformed::Version(shown));
        }
        self.start = after + length + 1;
        self.has_begun = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(decoder: &mut Decoder) -> Result<Vec<Frame>, Malformed> {
        std::iter::from_fn(|| decoder.next().transpose()).collect()
    }

    proptest! {
        #[test]
        fn frames_do_not_depend_on_how_bytes_arrive(
            noise in "[a-z\n]{0,30}",
            bodies in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..40)), 0..6),
            piece in 1usize..50,
        ) {
            let frames: Vec<Frame> = bodies.into_iter().map(|(host, body)| Frame { host, body }).collect();
            let mut bytes = noise.into_bytes();
            bytes.extend(preamble());
            frames.iter().for_each(|frame| encode(frame, &mut bytes));
            let mut decoder = Decoder::default();
            let mut read = Vec::new();
            for bytes in bytes.chunks(piece) {
                decoder.push(bytes);
                read.extend(all(&mut decoder).unwrap());
            }
            prop_assert_eq!(read, frames);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), begun: bool) {
            let mut decoder = Decoder::default();
            if begun {
                decoder.push(&preamble());
            }
            decoder.push(&bytes);
            let _ = all(&mut decoder);
        }
    }

    #[test]
    fn refuses_what_is_no_agent() {
        let refusal = |bytes: &[u8]| {
            let mut decoder = Decoder::default();
            decoder.push(bytes);
            all(&mut decoder).unwrap_err()
        };
        assert_eq!(refusal(&[b'x'; NOISE_MAX_BYTES + 1]), Malformed::NoPreamble);
        assert_eq!(
            refusal(b"\0weft-agent 1 9.9\n"),
            Malformed::Version("9.9".into())
        );
        let begun = |rest: &[u8]| refusal(&[&preamble(), rest].concat());
        assert_eq!(begun(&[0xff; 8]), Malformed::TooLong);
        assert_eq!(
            begun(&[1, 0, 0, 0, 0, 0, 0, 0, b'a', b'b']),
            Malformed::NoNewline
        );
    }
}
