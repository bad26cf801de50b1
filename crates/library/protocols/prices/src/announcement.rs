//! A file of prices as the first process of a job announces it to the others: with its name, in printable ASCII without
//! spaces.

use std::fmt::Write;
use std::path::Path;

use crate::File;

pub fn announcement(path: &Path, file: &File) -> String {
    // A name is one line here.
    let name = path.to_string_lossy().replace(char::is_control, "?");
    let mut text = String::new();
    for byte in format!("{name}\n{file}").bytes() {
        match byte.is_ascii_graphic() && byte != b'%' {
            true => text.push(byte.into()),
            // Writing to a string does not fail.
            false => _ = write!(text, "%{byte:02x}"),
        }
    }
    text
}

/// The file's name, and the file. What is wrong is told in one line.
pub fn announced(text: &str) -> Result<(String, File), String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let two = digit()
            .zip(digit())
            .map(|(high, low)| (16 * high + low) as u8);
        bytes.push(two.ok_or("behind a `%` stand no two digits")?);
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is no text")?;
    let (name, file) = text.split_once('\n').ok_or("it has no name")?;
    Ok((name.to_owned(), file.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, Lists, Machine, Origin};
    use proptest::prelude::*;

    #[test]
    fn what_is_announced_is_heard() {
        let machine = Machine {
            processor: "Fast 100% CPU".into(),
            cpus: "0".into(),
            kernel: "6 \u{e9}".into(),
        };
        let origin = Origin {
            version: "0".into(),
            date: "today".into(),
            command: "weft tune".into(),
        };
        let prices = *Lists::BUILT_IN.of(Group::Far);
        let file = File::new(machine, origin, vec![(Group::Far, prices)]);
        let text = announcement(Path::new("/a b\n/c"), &file);
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        assert_eq!(announced(&text), Ok(("/a b?/c".into(), file)));
        for (wrong, why) in [
            ("%", "two digits"),
            ("%0", "two digits"),
            ("%zz", "two digits"),
            ("%ff", "no text"),
            ("a", "no name"),
            ("a%0a", "line 1: "),
        ] {
            let told = announced(wrong).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_heard_or_refused(text in "[ -~%]{0,40}") {
            let _ = announced(&text);
        }
    }
}
