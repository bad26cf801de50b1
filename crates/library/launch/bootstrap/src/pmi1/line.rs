//! Lines out of a stream of bytes that arrives in any pieces.

/// Holds what has arrived beyond the last whole line. A line longer than the limit is an error of the peer, which the
/// caller sees by [`LineBuffer::too_long`] before memory grows past twice the limit.
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// No newline stands between `start` and here.
    searched: usize,
    limit_bytes: usize,
}

impl LineBuffer {
    pub fn new(limit_bytes: usize) -> LineBuffer {
        LineBuffer {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit_bytes,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its newline.
    pub fn next_line(&mut self) -> Option<Vec<u8>> {
        match self.bytes[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n')
        {
            Some(length) => {
                let end = self.searched + length;
                let line = self.bytes[self.start..end].to_vec();
                self.start = end + 1;
                self.searched = self.start;
                Some(line)
            }
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }

    /// Whether [`next_line`](Self::next_line) has one to give.
    pub fn has_line(&self) -> bool {
        self.bytes[self.searched..].contains(&b'\n')
    }

    /// Bytes after the last whole line.
    pub fn remainder(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Takes the bytes after the last whole line.
    pub fn take_remainder(&mut self) -> Vec<u8> {
        let rest = self.bytes.split_off(self.start);
        self.bytes.clear();
        (self.start, self.searched) = (0, 0);
        rest
    }

    pub fn too_long(&self) -> bool {
        self.remainder().len() > self.limit_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_bytes_arrive(
            text in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..200),
            piece in 1usize..20,
        ) {
            let mut buffer = LineBuffer::new(1000);
            let mut lines = Vec::new();
            for bytes in text.chunks(piece) {
                buffer.push(bytes);
                while buffer.has_line() {
                    lines.extend(buffer.next_line());
                }
                prop_assert!(buffer.next_line().is_none());
            }
            lines.push(buffer.take_remainder());
            prop_assert!(buffer.remainder().is_empty());
            let expected: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            prop_assert_eq!(lines, expected);
        }
    }

    #[test]
    fn notices_a_line_past_the_limit() {
        let mut buffer = LineBuffer::new(4);
        buffer.push(b"abcd");
        assert!(buffer.next_line().is_none() && !buffer.too_long());
        buffer.push(b"e");
        assert!(buffer.next_line().is_none() && buffer.too_long());
    }
}
