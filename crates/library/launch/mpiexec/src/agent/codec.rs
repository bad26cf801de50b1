//! Messages as the bodies of frames.

use super::frame::Frame;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `None` where the bytes are no such message, or hold more than one.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// A message as a frame.
pub fn frame(host: u32, message: &impl Serialize) -> Frame {
    // Only a type that postcard cannot write fails, and these are written in every job.
    let body = postcard::to_stdvec(message).unwrap_or_default();
    Frame { host, body }
}
