//! Options in files: `-configfile` and `-file`.

use super::usage::{Usage, usage};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// The words of each line. Lines that begin with `#` and empty lines count for nothing, a backslash at the end joins a line
/// with the next (MPI-5.0 §11.5), and quotes keep words together as in a shell.
pub fn read_lines(path: &Path) -> Result<Vec<Vec<OsString>>, Usage> {
    let text = std::fs::read(path)
        .map_err(|error| Usage(format!("cannot read `{}`: {error}", path.display())))?;
    let mut lines = Vec::new();
    let mut joined: Vec<u8> = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        if joined.is_empty() && line.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        joined.extend_from_slice(line);
        if joined.last() == Some(&b'\\') {
            joined.pop();
            joined.push(b' ');
            continue;
        }
        let words = split_words(&joined).ok_or_else(|| {
            Usage(format!(
                "`{}`: a quote is not closed in `{}`",
                path.display(),
                String::from_utf8_lossy(&joined)
            ))
        })?;
        if !words.is_empty() {
            lines.push(words);
        }
        joined.clear();
    }
    if !joined.trim_ascii().is_empty() {
        return usage(format!("`{}` ends in a backslash", path.display()));
    }
    Ok(lines)
}

/// `None` when a quote is not closed.
fn split_words(line: &[u8]) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None | Some(b'"'), b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (None, _) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec))
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn splits_words_as_a_shell_does() {
        let words = |line: &str| split_words(line.as_bytes());
        assert_eq!(words("-n 2 ./a  b").unwrap(), ["-n", "2", "./a", "b"]);
        assert_eq!(
            words(r#"a 'b c' "d \"e" f\ g '' h"i"j"#).unwrap(),
            ["a", "b c", "d \"e", "f g", "", "hij"]
        );
        assert_eq!(words("  ").unwrap(), [""; 0]);
        assert_eq!(words("a 'b"), None);
    }
}
