//! An open device (ibv_open_device(3)).

use std::fmt;
use std::sync::Arc;

use weft_verbs_abi::{
    Library, ibv_context, ibv_device_attr, ibv_gid, ibv_port_attr, softrdma_stat,
};

use crate::Error;
use crate::error::{check, destroyed};

/// Clones are the same context. It is closed with the last of them and of the objects made in it.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    library: &'static Library,
    raw: *mut ibv_context,
    name: String,
}

// SAFETY: libibverbs' calls on a context may come from all threads at once.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: it was opened by this library, and all that was made in it kept it.
        let answer = unsafe { (self.library.close_device)(self.raw) };
        destroyed("ibv_close_device", answer, || self.name.clone());
    }
}

impl Context {
    /// # Safety
    /// `raw` was opened by `library` and is nobody else's.
    pub(crate) unsafe fn new(
        library: &'static Library,
        raw: *mut ibv_context,
        name: String,
    ) -> Context {
        Context {
            inner: Arc::new(Inner { library, raw, name }),
        }
    }

    pub fn library(&self) -> &'static Library {
        self.inner.library
    }

    /// The context for the calls of [`abi`](crate::abi). Whoever uses it must not close it.
    pub fn as_abi(&self) -> *mut ibv_context {
        self.inner.raw
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Whether both are one context.
    pub fn is(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    pub fn attributes(&self) -> Result<ibv_device_attr, Error> {
        let mut attributes = ibv_device_attr::default();
        // SAFETY: open, and writable.
        let answer = unsafe { (self.library().query_device)(self.as_abi(), &mut attributes) };
        check("ibv_query_device", answer, || self.name().into())?;
        Ok(attributes)
    }

    /// Ports count from 1.
    pub fn port(&self, port: u8) -> Result<ibv_port_attr, Error> {
        let mut attributes = ibv_port_attr::default();
        // SAFETY: open, and writable.
        let answer = unsafe {
            self.library()
                .query_port(self.as_abi(), port, &mut attributes)
        };
        check("ibv_query_port", answer, || self.port_name(port))?;
        Ok(attributes)
    }

    pub fn gid(&self, port: u8, index: u8) -> Result<ibv_gid, Error> {
        let mut gid = ibv_gid::default();
        // SAFETY: open, and writable.
        let answer =
            unsafe { (self.library().query_gid)(self.as_abi(), port, index.into(), &mut gid) };
        check("ibv_query_gid", answer, || {
            format!("GID {index} of {}", self.port_name(port))
        })?;
        Ok(gid)
    }

    /// What the device in software holds for this context. `EOPNOTSUPP` from other libraries: they do not tell.
    pub fn account(&self) -> Result<softrdma_stat, Error> {
        const CALL: &str = "softrdma_context_stat";
        let ask = self.library().softrdma_context_stat;
        let ask = ask.ok_or_else(|| Error::new(CALL, self.name(), libc::EOPNOTSUPP))?;
        let mut account = softrdma_stat::default();
        // SAFETY: open, and so many writable bytes.
        let answer = unsafe { ask(self.as_abi(), &mut account, size_of::<softrdma_stat>()) };
        check(CALL, answer, || self.name().into())?;
        Ok(account)
    }

    fn port_name(&self, port: u8) -> String {
        format!("port {port} of {}", self.name())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Context")
            .field(&self.name())
            .finish()
    }
}
