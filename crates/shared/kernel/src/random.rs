//! Random bytes from the system (getrandom(2)).

use std::io;

pub fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    // SAFETY: writes at most so many bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == bytes.len() as isize {
        Ok(bytes)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The same number of them, as words.
pub fn random_words() -> io::Result<[u64; 2]> {
    let bits = u128::from_ne_bytes(random()?);
    Ok([bits as u64, (bits >> 64) as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        let [first, second] = random_words().unwrap();
        assert_ne!(first, second);
        assert_ne!(random().unwrap(), random().unwrap());
    }
}
