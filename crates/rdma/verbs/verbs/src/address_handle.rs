//! Where datagrams go (ibv_create_ah(3)).

use std::sync::Arc;

use weft_verbs_abi::ibv_ah;

use crate::error::destroyed;
use crate::{Domain, Error, Path, ProtectionDomain};

/// Clones are the same handle.
#[derive(Clone)]
pub struct AddressHandle {
    inner: Arc<Inner>,
}

struct Inner {
    raw: *mut ibv_ah,
    domain: ProtectionDomain,
}

// SAFETY: the library's structure is only read until the handle is destroyed.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let context = self.domain.context();
        // SAFETY: created in this context, and lists that name it kept it.
        let answer = unsafe { (context.library().destroy_ah)(self.raw) };
        destroyed("ibv_destroy_ah", answer, || context.name().into());
    }
}

impl AddressHandle {
    /// From `port` over `path`.
    pub fn new(domain: &ProtectionDomain, port: u8, path: &Path) -> Result<AddressHandle, Error> {
        let context = domain.context();
        let mut attributes = path.attributes(port);
        // SAFETY: alive, and readable.
        let raw = unsafe { (context.library().create_ah)(domain.as_abi(), &mut attributes) };
        if raw.is_null() {
            return Err(Error::last("ibv_create_ah", context.name()));
        }
        let domain = domain.clone();
        Ok(AddressHandle {
            inner: Arc::new(Inner { raw, domain }),
        })
    }

    pub(crate) fn as_abi(&self) -> *mut ibv_ah {
        self.inner.raw
    }
}
