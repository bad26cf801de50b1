//! One message: `cmd=NAME key=value ...`, without its newline.

use std::fmt;

/// Keys in the order written; the first is `cmd`. Values hold neither white space nor control characters, and may hold
/// `=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    command: String,
    fields: Vec<(String, String)>,
}

/// Why a line is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    NotText,
    NoCommand,
    NoEquals,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Malformed::NotText => "it holds bytes that are not printable ASCII",
            Malformed::NoCommand => "it does not begin with cmd=NAME",
            Malformed::NoEquals => "it holds a word that is not key=value",
        })
    }
}

impl Message {
    pub fn new(command: &str) -> Message {
        Message {
            command: command.to_owned(),
            fields: Vec::new(),
        }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Message {
        self.fields.push((key.to_owned(), value.to_string()));
        self
    }

    /// Reads a line without its newline.
    pub fn parse(line: &[u8]) -> Result<Message, Malformed> {
        let text = std::str::from_utf8(line).map_err(|_| Malformed::NotText)?;
        if !text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ')
        {
            return Err(Malformed::NotText);
        }
        let mut words = text.split_ascii_whitespace();
        let command = words
            .next()
            .and_then(|word| word.strip_prefix("cmd="))
            .ok_or(Malformed::NoCommand)?;
        if command.is_empty() {
            return Err(Malformed::NoCommand);
        }
        let mut message = Message::new(command);
        for word in words {
            let (key, value) = word.split_once('=').ok_or(Malformed::NoEquals)?;
            message.fields.push((key.to_owned(), value.to_owned()));
        }
        Ok(message)
    }

    pub fn command(&self) -> &str {
        &self.command
    }

    /// The value of the first field of that name.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The result code; some servers leave it out of an answer, which means success.
    pub fn succeeded(&self) -> bool {
        self.field("rc").is_none_or(|rc| rc == "0")
    }
}

/// The line without its newline.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cmd={}", self.command)?;
        self.fields
            .iter()
            .try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_written_message_reads_back(
            command in "[a-z_]{1,12}",
            fields in prop::collection::vec(("[a-z_]{1,8}", "[!-~]{0,40}"), 0..6),
        ) {
            let message = fields.iter().fold(Message::new(&command), |message, (key, value)| message.with(key, value));
            let parsed = Message::parse(message.to_string().as_bytes()).unwrap();
            prop_assert_eq!(&parsed, &message);
        }

        #[test]
        fn any_bytes_are_read_or_refused(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::parse(&line);
        }
    }

    #[test]
    fn reads_what_servers_send() {
        let message = Message::parse(b"cmd=get_result rc=0 value=a=b;c=d ").unwrap();
        assert_eq!(
            (message.command(), message.field("value")),
            ("get_result", Some("a=b;c=d"))
        );
        assert!(message.succeeded());
        assert!(
            Message::parse(b"cmd=maxes vallen_max=1024")
                .unwrap()
                .succeeded()
        );
        assert!(
            !Message::parse(b"cmd=get_result rc=-1 msg=key_not_found")
                .unwrap()
                .succeeded()
        );
        assert_eq!(Message::parse(b""), Err(Malformed::NoCommand));
        assert_eq!(Message::parse(b"cmd="), Err(Malformed::NoCommand));
        assert_eq!(Message::parse(b"rc=0 cmd=x"), Err(Malformed::NoCommand));
        assert_eq!(Message::parse(b"cmd=x word"), Err(Malformed::NoEquals));
        assert_eq!(Message::parse(b"cmd=x a=\x07"), Err(Malformed::NotText));
    }
}
