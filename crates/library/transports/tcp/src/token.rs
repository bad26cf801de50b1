//! What a token of the process's poller names.

/// Something that may be ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Lane(u32),
    Listener,
    Bell,
    Ticker,
    Attempt(usize),
    Incoming(usize),
}

impl Token {
    pub fn bits(self) -> u64 {
        let (kind, number) = match self {
            Token::Lane(lane) => (0, lane as usize),
            Token::Listener => (1, 0),
            Token::Bell => (2, 0),
            Token::Ticker => (3, 0),
            Token::Attempt(number) => (4, number),
            Token::Incoming(number) => (5, number),
        };
        kind << 32 | number as u64
    }

    pub fn of(bits: u64) -> Token {
        let number = bits as u32 as usize;
        match bits >> 32 {
            0 => Token::Lane(number as u32),
            1 => Token::Listener,
            2 => Token::Bell,
            3 => Token::Ticker,
            4 => Token::Attempt(number),
            _ => Token::Incoming(number),
        }
    }
}
