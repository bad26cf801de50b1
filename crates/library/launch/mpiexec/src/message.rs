//! What mpiexec itself says, on standard error.

use crate::sys::OwnStream;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A word and a text of mpiexec's are no longer than this, whatever an option or a file holds. Host names have 255 characters
/// at most.
const WORD_MAX_CHARS: usize = 300;
const TEXT_MAX_CHARS: usize = 3000;
/// Of a word or text that is longer, so much is shown of its end.
const TAIL_CHARS: usize = 60;

/// For a reader of standard error that takes nothing, before a line is dropped.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prints the lines in one write, so that ranks that print at the same time do not break them up. A standard error that
/// nobody reads is no reason to fail, nor to wait for long.
pub fn say(lines: &str) {
    static STREAM: OnceLock<Option<OwnStream>> = OnceLock::new();
    /// The last line was dropped, and the next waits no more.
    static IS_STUCK: AtomicBool = AtomicBool::new(false);
    let text = format!("{lines}\n");
    let Some(stream) = STREAM.get_or_init(|| OwnStream::new(&io::stderr()).ok()) else {
        // There may be no descriptor left, which is what is to be said.
        let _ = io::stderr().write_all(text.as_bytes());
        return;
    };
    let patience = match IS_STUCK.load(Ordering::Relaxed) {
        true => Duration::ZERO,
        false => PATIENCE,
    };
    let is_written = stream.write_all_within(text.as_bytes(), patience);
    IS_STUCK.store(!is_written, Ordering::Relaxed);
}

/// A problem in words of bearable length: what it quotes of a command line, a file or the environment may be of any.
pub fn clip(problem: &str) -> String {
    let words: Vec<String> = problem
        .split(' ')
        .map(|word| shorten(word, WORD_MAX_CHARS))
        .collect();
    shorten(&words.join(" "), TEXT_MAX_CHARS)
}

/// The beginning and the end of a text that is longer than that, and how long it is.
fn shorten(text: &str, max_chars: usize) -> String {
    let count = text.chars().count();
    if count <= max_chars {
        return text.to_owned();
    }
    let head: String = text.chars().take(max_chars - 2 * TAIL_CHARS).collect();
    let tail: String = text.chars().skip(count - TAIL_CHARS).collect();
    format!("{head}...({count} characters)...{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_clipped_and_what_is_said_of_it_stays() {
        let ordinary = "-hosts a,b: `b` is no host\nsecond line";
        assert_eq!(clip(ordinary), ordinary);
        let long = clip(&format!("--hosts {}: é is no host", "h".repeat(100_000)));
        assert!(
            long.starts_with("--hosts hhh") && long.ends_with("hhh: é is no host"),
            "{long}"
        );
        assert!(long.contains("...(100001 characters)..."), "{long}");
        assert!(long.chars().count() < 400);
        let many = clip(&format!("no: {}", "ab ".repeat(100_000)));
        assert!(many.chars().count() < TEXT_MAX_CHARS + 100 && many.starts_with("no: ab ab "));
    }
}
