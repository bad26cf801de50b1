//! What the processes of a run say to each other: JSON values, one a line.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Writes `value` and gives it to the other side at once.
pub fn write(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// Reads the next value; `UnexpectedEof` where the other side has ended.
pub fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in_and_the_end_is_told() {
        let mut bytes = Vec::new();
        let first = vec![(1u64, "a\nb".to_string())];
        write(&mut bytes, &first).unwrap();
        write(&mut bytes, &Err::<(), _>("reason".to_string())).unwrap();
        let mut from = bytes.as_slice();
        assert_eq!(read::<Vec<(u64, String)>>(&mut from).unwrap(), first);
        let second: Result<(), String> = read(&mut from).unwrap();
        assert_eq!(second, Err("reason".into()));
        let end = read::<u64>(&mut from).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }
}
