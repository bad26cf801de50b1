//! By what processes of a job prove to each other, over a network, who they are.
//!
//! Each process has a [`Key`], which stands on its card. Cards travel through the launcher alone, so whoever knows a key belongs to
//! the job. A key never travels over the network: what is said there is signed with it (HMAC-SHA256, RFC 2104), each step of a
//! protocol under a name of its own, so that a signature of one step is of no use in another.
#![forbid(unsafe_code)]

use std::fmt;
use std::io;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

pub const SIGNATURE_BYTES: usize = 32;

pub type Signature = [u8; SIGNATURE_BYTES];

/// A number used once, by which an answer belongs to one question.
pub type Nonce = [u8; 16];

/// What a process is known by. As text it has 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

/// Names a job, in a length that is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobHash(pub [u8; 8]);

impl JobHash {
    pub fn of(job: &str) -> JobHash {
        JobHash(digest(job.as_bytes()))
    }
}

/// The beginning of a text's SHA-256.
pub fn digest(text: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(text);
    std::array::from_fn(|index| digest[index])
}

pub fn random_nonce() -> io::Result<Nonce> {
    weft_kernel::random()
}

impl Key {
    pub const fn new(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    pub fn random() -> io::Result<Key> {
        weft_kernel::random().map(Key)
    }

    /// Reads a key, of which anything may have come.
    pub fn parse(text: &str) -> Option<Key> {
        let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_key)?;
        Some(Key(number.to_be_bytes()))
    }

    /// Signs the parts, one behind the other, as what step `step` says.
    pub fn sign(&self, step: &str, parts: &[&[u8]]) -> Signature {
        self.mac(step, parts).finalize().into_bytes().into()
    }

    /// Whether who signed the parts as what that step says knows this key. Takes as long for any signature.
    pub fn has_signed(&self, step: &str, parts: &[&[u8]], signature: &Signature) -> bool {
        self.mac(step, parts).verify_slice(signature).is_ok()
    }

    fn mac(&self, step: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = mac.expect("a key of any length will do");
        mac.update(step.as_bytes());
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// A key is not for logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::new([7; 16]);

    #[test]
    fn a_signature_is_of_one_key_one_step_and_one_text() {
        let signed = KEY.sign("hello", &[b"ab", b"c"]);
        assert!(KEY.has_signed("hello", &[b"abc"], &signed));
        assert!(!KEY.has_signed("proof", &[b"abc"], &signed));
        assert!(!KEY.has_signed("hello", &[b"abd"], &signed));
        assert!(!Key::new([8; 16]).has_signed("hello", &[b"abc"], &signed));
        for at in 0..SIGNATURE_BYTES {
            let mut other = signed;
            other[at] ^= 1;
            assert!(!KEY.has_signed("hello", &[b"abc"], &other), "byte {at}");
        }
    }

    /// RFC 4231, case 2, with the step as the beginning of the text.
    #[test]
    fn signing_is_hmac_sha256() {
        // A key is filled up with zeros (RFC 2104), so that of four bytes is one of ours.
        let key = Key::new(*b"Jefe\0\0\0\0\0\0\0\0\0\0\0\0");
        let signed = key.sign("what do ya ", &[b"want for ", b"nothing?"]);
        let digits = signed.map(|byte| format!("{byte:02x}")).concat();
        let said = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(digits, said);
    }

    #[test]
    fn keys_as_text() {
        let key = Key::random().unwrap();
        assert_eq!(Key::parse(&key.to_string()), Some(key));
        assert_ne!(key, Key::random().unwrap());
        assert_eq!(Key::parse(&"0".repeat(32)), Some(Key::new([0; 16])));
        let signed = format!("+{}", "0".repeat(31));
        for wrong in ["", "7", &"0".repeat(33), &"g".repeat(32), &signed] {
            assert_eq!(Key::parse(wrong), None, "{wrong}");
        }
        assert!(!format!("{key:?}").contains(&key.to_string()));
    }

    #[test]
    fn a_digest_begins_as_sha256_does() {
        // FIPS 180-4's example.
        assert_eq!(digest(b"abc"), 0xba78_16bf_8f01_cfeau64.to_be_bytes());
        assert_eq!(JobHash::of("abc").0, digest(b"abc"));
    }
}
