//! The predefined attributes of a window (MPI-5.0 §12.2.6).

use weft_error::Result;
use weft_handle::WindowId;

use super::object::find;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    Base,
    Size,
    DisplacementUnit,
    CreateFlavor,
    Model,
}

/// The word of an attribute: the base itself, and where the others stand.
pub fn value(id: WindowId, attribute: Attribute) -> Result<usize> {
    let figures = &find(id)?.figures;
    Ok(match attribute {
        Attribute::Base => figures.base,
        Attribute::Size => (&raw const figures.size).expose_provenance(),
        Attribute::DisplacementUnit => (&raw const figures.unit).expose_provenance(),
        Attribute::CreateFlavor => (&raw const figures.flavor).expose_provenance(),
        Attribute::Model => (&raw const figures.model).expose_provenance(),
    })
}
