//! Host files: MPICH's `host:n`, Open MPI's `host slots=n max_slots=m`, and plain lists of names, as batch systems write.

use super::host::Host;
use super::list;
use std::path::Path;

/// The hosts of a file, in order. The error is one line that names the file, and the line in it.
pub fn read(path: &Path) -> Result<Vec<Host>, String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    let hosts = parse(&text).map_err(|problem| format!("`{shown}`, {problem}"))?;
    match hosts.is_empty() {
        true => Err(format!("`{shown}` names no host")),
        false => Ok(hosts),
    }
}

/// `#` begins a comment, anywhere in a line.
pub fn parse(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { continue };
        let host = list::parse_item(first)
            .ok_or_else(|| format!("line {number}: `{first}` is neither HOST nor HOST:RANKS"))?;
        let host = words.try_fold(host, |host, word| {
            apply(host, word).ok_or_else(|| {
                format!("line {number}: `{word}` is not understood (slots=N, max_slots=N and user=NAME are)")
            })
        })?;
        hosts.push(host);
    }
    Ok(hosts)
}

/// A word after the host's name.
fn apply(mut host: Host, word: &str) -> Option<Host> {
    let (key, value) = word.split_once('=')?;
    match key {
        "slots" => host.slots = Some(list::parse_slots(value)?),
        "max_slots" | "max-slots" => host.max_slots = Some(list::parse_slots(value)?),
        "user" if !host.name.contains('@') => {
            host.name = Host::new(&format!("{value}@{}", host.name), None)?.name;
        }
        _ => return None,
    }
    Some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_of_mpich_and_open_mpi() {
        let text = "# comment\n\na:2\nb slots=4 max_slots=8  # mine\n  c\nd:1 user=me\r\n";
        let hosts = parse(text).unwrap();
        let read: Vec<_> = hosts
            .iter()
            .map(|host| (host.name.as_str(), host.slots, host.max_slots))
            .collect();
        assert_eq!(
            read,
            [
                ("a", Some(2), None),
                ("b", Some(4), Some(8)),
                ("c", None, None),
                ("me@d", Some(1), None)
            ]
        );
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        for (text, named) in [
            ("a\nb:0", "line 2: `b:0`"),
            ("a slots=x", "line 1: `slots=x`"),
            ("\n\na ncpus=2", "line 3: `ncpus=2`"),
            ("-x", "line 1: `-x`"),
            ("a user=-b", "line 1: `user=-b`"),
            ("a 4", "line 1: `4`"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.contains(named), "{text:?}: {problem}");
        }
    }

    #[test]
    fn a_file_that_is_missing_or_empty_is_named() {
        assert!(
            read(Path::new("/nonexistent/hosts"))
                .unwrap_err()
                .contains("cannot read `/nonexistent/hosts`")
        );
        assert!(
            read(Path::new("/dev/null"))
                .unwrap_err()
                .contains("`/dev/null` names no host")
        );
    }
}
