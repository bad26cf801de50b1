//! Error classes and codes: the predefined ones and those that the program adds (MPI-5.0 §9.5), at any time.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI32, Ordering};

use super::class::Class;
use super::detail::{Error, Result, argument};
use super::strings;

/// `MPI_ERR_LASTCODE`, with the ABI's number. What the program adds is above.
const LAST_PREDEFINED: i32 = 16383;

/// The largest code in use: what the attribute `MPI_LASTUSEDCODE` points to.
static LAST_USED: AtomicI32 = AtomicI32::new(LAST_PREDEFINED);

static ADDED: Mutex<Added> = Mutex::new(Added {
    codes: BTreeMap::new(),
    next: LAST_PREDEFINED + 1,
});

struct Added {
    codes: BTreeMap<i32, Code>,
    /// Numbers are not used again: a code kept too long names nothing.
    next: i32,
}

struct Code {
    /// A class is its own.
    class: i32,
    text: Option<CString>,
}

impl Added {
    fn add(&mut self, class: Option<i32>) -> i32 {
        let number = self.next;
        self.next += 1;
        let class = class.unwrap_or(number);
        self.codes.insert(number, Code { class, text: None });
        LAST_USED.store(number, Ordering::Relaxed);
        number
    }

    fn remove(&mut self, number: i32) {
        self.codes.remove(&number);
        let last = self.codes.last_key_value();
        LAST_USED.store(
            last.map_or(LAST_PREDEFINED, |last| *last.0),
            Ordering::Relaxed,
        );
    }

    fn class_of(&self, code: i32) -> Option<i32> {
        match self.codes.get(&code) {
            Some(added) => Some(added.class),
            None => strings::predefined(code).map(|_| code),
        }
    }
}

fn added() -> MutexGuard<'static, Added> {
    ADDED.lock()
}

/// Where the largest code in use stands, which changes as codes come and go.
pub fn last_used() -> *const i32 {
    LAST_USED.as_ptr()
}

/// `MPI_Error_class`.
pub fn class_of(code: i32) -> Result<i32> {
    added()
        .class_of(code)
        .ok_or_else(|| wrong("errorcode", code, "is no error code"))
}

/// `MPI_Error_string`: empty for a code that was added and given none.
pub fn text_of(code: i32) -> Result<CString> {
    let text = match added().codes.get(&code) {
        Some(code) => Some(code.text.clone().unwrap_or_default()),
        None => strings::predefined(code)
            .map(|text| CString::new(text).expect("the predefined strings hold no null")),
    };
    text.ok_or_else(|| wrong("errorcode", code, "is no error code"))
}

/// `MPI_Add_error_class`.
pub fn add_class() -> Result<i32> {
    weft_reserve::check()?;
    Ok(added().add(None))
}

/// `MPI_Add_error_code`.
pub fn add_code(class: i32) -> Result<i32> {
    weft_reserve::check()?;
    let mut added = added();
    match added.class_of(class) {
        Some(own) if own == class => Ok(added.add(Some(class))),
        _ => Err(wrong("errorclass", class, "is no error class")),
    }
}

/// `MPI_Add_error_string`, also in place of another.
pub fn add_string(code: i32, text: &CStr) -> Result<()> {
    with_added(code, |code| code.text = Some(text.to_owned()))
}

/// `MPI_Remove_error_string`.
pub fn remove_string(code: i32) -> Result<()> {
    with_added(code, |code| code.text.take())?
        .map(drop)
        .ok_or_else(|| wrong("errorcode", code, "has no string"))
}

fn with_added<T>(code: i32, change: impl FnOnce(&mut Code) -> T) -> Result<T> {
    let mut added = added();
    let entry = added.codes.get_mut(&code);
    entry
        .map(change)
        .ok_or_else(|| wrong("errorcode", code, "was not added"))
}

/// `MPI_Remove_error_class`: of a class without codes and without a string.
pub fn remove_class(class: i32) -> Result<()> {
    let mut added = added();
    match added.codes.get(&class) {
        Some(entry) if entry.class == class && entry.text.is_some() => {
            return Err(wrong("errorclass", class, KEEPS_STRING));
        }
        Some(entry) if entry.class == class => {}
        _ => return Err(wrong("errorclass", class, "was not added as a class")),
    }
    let is_code = |(number, code): (&i32, &Code)| code.class == class && *number != class;
    if added.codes.iter().any(is_code) {
        return Err(wrong("errorclass", class, "has codes that are not removed"));
    }
    added.remove(class);
    Ok(())
}

const KEEPS_STRING: &str = "has a string that is not removed";

/// `MPI_Remove_error_code`: of a code without a string.
pub fn remove_code(code: i32) -> Result<()> {
    let mut added = added();
    match added.codes.get(&code) {
        Some(entry) if entry.class != code && entry.text.is_some() => {
            Err(wrong("errorcode", code, KEEPS_STRING))
        }
        Some(entry) if entry.class != code => {
            added.remove(code);
            Ok(())
        }
        _ => Err(wrong("errorcode", code, "was not added as a code")),
    }
}

#[cold]
fn wrong(name: &str, number: i32, what: &str) -> Error {
    argument(Class::Arg, name, format_args!("{number} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, for the table is the process's.
    #[test]
    fn classes_codes_and_strings_come_and_go() {
        // SAFETY: an atomic's place, written by this test only.
        let last = || unsafe { *last_used() };
        assert_eq!(last(), LAST_PREDEFINED);
        let class = add_class().unwrap();
        let code = add_code(class).unwrap();
        let other = add_code(Class::Truncate as i32).unwrap();
        assert!(LAST_PREDEFINED < class && class < code && code < other);
        assert_eq!(last(), other);
        assert_eq!(class_of(class).unwrap(), class);
        assert_eq!(class_of(code).unwrap(), class);
        assert_eq!(class_of(other).unwrap(), Class::Truncate as i32);
        assert_eq!(text_of(code).unwrap().as_c_str(), c"");
        add_string(code, c"first").unwrap();
        add_string(code, c"second").unwrap();
        assert_eq!(text_of(code).unwrap().as_c_str(), c"second");
        assert!(remove_code(code).is_err(), "it has a string");
        remove_string(code).unwrap();
        assert_eq!(text_of(code).unwrap().as_c_str(), c"");

        let refused = [
            remove_string(code),
            remove_class(class),
            remove_class(code),
            remove_code(class),
            remove_code(Class::Arg as i32),
            add_string(Class::Arg as i32, c""),
            add_code(code).map(drop),
            add_code(-1).map(drop),
            class_of(other + 1).map(drop),
        ];
        assert!(refused.iter().all(|result| result.is_err()), "{refused:?}");

        remove_code(other).unwrap();
        assert_eq!(last(), code);
        remove_code(code).unwrap();
        add_string(class, c"of the class").unwrap();
        assert!(remove_class(class).is_err(), "it has a string");
        remove_string(class).unwrap();
        remove_class(class).unwrap();
        assert_eq!(last(), LAST_PREDEFINED);
        assert!(class_of(code).is_err() && text_of(class).is_err());
        assert_ne!(add_class().unwrap(), class, "not used again");
    }
}
