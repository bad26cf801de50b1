//! What a program hangs on datatypes: names (MPI-5.0 §7.8) and attributes (§7.7.4), on predefined ones too.

use std::ffi::{CStr, CString};
use std::sync::LazyLock;

use parking_lot::Mutex;
use weft_datatype::Predefined;

use super::{TypeId, as_predefined, user};
use crate::attributes::{Attributes, Holder};
use crate::error::Result;

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

/// By place in [`Predefined::ALL`].
static PREDEFINED: LazyLock<Vec<Annotation>> = LazyLock::new(|| {
    let annotations = Predefined::ALL.iter().map(|_| Annotation::default());
    annotations.collect()
});

/// What hangs on a datatype.
pub fn of(id: TypeId) -> Result<&'static Annotation> {
    match as_predefined(id) {
        Some(predefined) => Ok(&PREDEFINED[predefined as usize]),
        None => user(id).map(|user| &user.annotation),
    }
}

/// What hangs on a duplicate: the attributes whose copy functions say so, and no name.
pub(super) fn copied(id: TypeId) -> Result<Annotation> {
    Ok(Annotation {
        attributes: of(id)?.attributes.copied(id.0)?,
        ..Annotation::default()
    })
}

/// `MPI_Type_get_name`: a predefined datatype's is its name in C until another is set, any other's is empty.
pub fn name(id: TypeId) -> Result<CString> {
    if let Some(name) = &*of(id)?.name.lock() {
        return Ok(name.clone());
    }
    let name = as_predefined(id).map_or("", Predefined::name);
    Ok(CString::new(name).expect("names of datatypes hold no null"))
}

/// `MPI_Type_set_name`.
pub fn set_name(id: TypeId, name: &CStr) -> Result<()> {
    *of(id)?.name.lock() = Some(name.to_owned());
    Ok(())
}
