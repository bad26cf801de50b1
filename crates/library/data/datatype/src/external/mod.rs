//! The portable representation "external32": big-endian, without holes, of fixed sizes (MPI-5.0 §14.5.2).
//!
//! Data go through their packed form: a window of it is read from the user's buffer, and converted along the type
//! signature. So displacements are the shape's business and representations the signature's.

mod extended;
mod scalar;

use crate::{Datatype, Predefined};
use scalar::Scalar;

/// Bytes of packed data that are converted at a time; a window begins and ends with a basic value.
const WINDOW: usize = 16 * 1024;

impl Predefined {
    /// Bytes of one value in external32.
    fn external_size(self) -> usize {
        let scalars = Scalar::of(self.element(), self);
        scalars.iter().map(|scalar| scalar.external()).sum()
    }
}

impl Datatype {
    /// Bytes of `count` elements in external32 (MPI_Pack_external_size); none if that does not fit.
    pub fn external_size(&self, count: usize) -> Option<usize> {
        let one = self.with_signature(|signature| signature.sum(&Predefined::external_size))?;
        one.checked_mul(count)
            .filter(|&bytes| isize::try_from(bytes).is_ok())
    }

    /// Converts `count` elements to external32 in `out`, which has [`external_size`](Self::external_size) bytes.
    /// `read` gets packed bytes of the elements, from an offset on.
    pub fn to_external(
        &self,
        count: usize,
        mut read: impl FnMut(usize, &mut [u8]),
        out: &mut [u8],
    ) {
        let total = self.size() * count;
        let mut window = vec![0; total.min(WINDOW)];
        // Of the packed bytes those up to `end` were read; the ones not used yet are `window[start..held]`.
        let (mut start, mut held, mut end) = (0, 0, 0);
        let mut written = 0;
        self.values(count, |predefined, mut values| {
            while values > 0 {
                let size = predefined.size();
                if held - start < size {
                    window.copy_within(start..held, 0);
                    (start, held) = (0, held - start);
                    let more = (window.len() - held).min(total - end);
                    read(end, &mut window[held..held + more]);
                    (held, end) = (held + more, end + more);
                }
                let ready = values.min((held - start) / size);
                let native = &window[start..start + ready * size];
                let external = ready * predefined.external_size();
                scalar::encode(predefined, native, &mut out[written..written + external]);
                (start, written) = (start + native.len(), written + external);
                values -= ready;
            }
        });
    }

    /// Converts `count` elements from external32; `write` stores packed bytes of the elements, from an offset on.
    pub fn from_external(&self, count: usize, data: &[u8], mut write: impl FnMut(usize, &[u8])) {
        let mut window = vec![0; (self.size() * count).min(WINDOW)];
        // The packed bytes before `done` are stored; those after it are in `window[..held]`.
        let (mut held, mut done) = (0, 0);
        let mut used = 0;
        self.values(count, |predefined, mut values| {
            while values > 0 {
                let size = predefined.size();
                if window.len() - held < size {
                    write(done, &window[..held]);
                    (done, held) = (done + held, 0);
                }
                let ready = values.min((window.len() - held) / size);
                let native = &mut window[held..held + ready * size];
                held += native.len();
                let external = ready * predefined.external_size();
                scalar::decode(predefined, &data[used..used + external], native);
                used += external;
                values -= ready;
            }
        });
        write(done, &window[..held]);
    }

    /// Calls `visit` with the basic types of `count` elements and how often each follows.
    fn values(&self, count: usize, mut visit: impl FnMut(Predefined, usize)) {
        self.with_signature(|signature| signature.repeat(count).visit(&mut visit));
    }
}
