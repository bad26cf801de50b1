//! What a program hangs on datatypes: names (MPI-5.0 §7.8) and attributes (§7.7.4), on predefined ones too.

use std::ffi::{CStr, CString};

use parking_lot::Mutex;
use weft_error::Result;

use crate::attributes::{Attributes, Holder};

pub struct Annotation {
    /// None until one is set.
    name: Mutex<Option<CString>>,
    pub attributes: Attributes,
}

impl Default for Annotation {
    fn default() -> Annotation {
        Annotation {
            name: Mutex::new(None),
            attributes: Attributes::new(Holder::Datatype),
        }
    }
}

impl Annotation {
    pub fn name(&self) -> Option<CString> {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &CStr) {
        *self.name.lock() = Some(name.to_owned());
    }

    /// What hangs on a duplicate: the attributes whose copy functions say so, and no name. `object` is the number of the
    /// datatype's handle.
    pub(super) fn copied(&self, object: u64) -> Result<Annotation> {
        Ok(Annotation {
            attributes: self.attributes.copied(object)?,
            ..Annotation::default()
        })
    }
}
