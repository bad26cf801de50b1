//! What `#[cfg(...)]` leaves out of every build that is no test.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// Whether an item with these attributes exists in tests alone.
pub fn only_tested(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => attribute
            .parse_args::<Meta>()
            .is_ok_and(|predicate| holds_untested(&predicate) == Some(false)),
        _ => false,
    })
}

/// Whether a predicate holds outside tests; `None` where that depends on more than `test`.
fn holds_untested(predicate: &Meta) -> Option<bool> {
    if predicate.path().is_ident("test") {
        return Some(false);
    }
    let Meta::List(list) = predicate else {
        return None;
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let parts: Vec<Option<bool>> = parts.ok()?.iter().map(holds_untested).collect();
    if list.path.is_ident("not") {
        return parts.first().copied().flatten().map(|holds| !holds);
    }
    let deciding = list.path.is_ident("any");
    if parts.contains(&Some(deciding)) {
        return Some(deciding);
    }
    parts
        .iter()
        .all(|part| *part == Some(!deciding))
        .then_some(!deciding)
}
