//! Attributes that a program caches on communicators, windows and datatypes (MPI-5.0 §7.7).
//!
//! A key that is freed stays a key for as long as attributes have it: the program deletes them by it. A key's functions
//! are the program's: they are called with nothing locked, for they may call this library, on the same object too.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use weft_error::{Class, Error, Result, argument};

/// The kind of objects that a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Comm,
    Window,
    Datatype,
}

/// An attribute's value, as the language that set it has it (MPI-5.0 §19.3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word of C's, with no meaning here.
    Pointer(usize),
    /// An integer of Fortran's, and the place where C finds it while the attribute is set.
    Integer(Arc<isize>),
}

impl Value {
    pub fn integer(number: isize) -> Value {
        Value::Integer(Arc::new(number))
    }

    /// The value as C gets it: an integer of Fortran's by its address. On a little-endian machine that is the address of an
    /// `int` as well, which a program looks for if a deprecated function has set the attribute.
    pub fn pointer(&self) -> usize {
        match self {
            Value::Pointer(word) => *word,
            Value::Integer(place) => Arc::as_ptr(place).expose_provenance(),
        }
    }

    /// The value as Fortran gets it: a pointer of C's by its bits.
    pub fn number(&self) -> isize {
        match self {
            Value::Pointer(word) => word.cast_signed(),
            Value::Integer(place) => **place,
        }
    }

    /// The same value for another object: an integer in a place of its own.
    pub fn duplicate(&self) -> Value {
        match self {
            Value::Pointer(word) => Value::Pointer(*word),
            Value::Integer(place) => Value::integer(**place),
        }
    }
}

const _: () = assert!(cfg!(target_endian = "little"));

/// The functions of a key. `object` is the number of the object's identifier.
pub trait Functions: Send + Sync {
    /// What a duplicate of the object gets for `value`; none for no attribute.
    fn copy(&self, object: u64, key: i32, value: &Value) -> Result<Option<Value>>;
    fn delete(&self, object: u64, key: i32, value: &Value) -> Result<()>;
}

struct Key {
    number: i32,
    holder: Holder,
    functions: Box<dyn Functions>,
}

/// A key whose last reference goes takes its number with it. No reference is let go with the keys locked.
impl Drop for Key {
    fn drop(&mut self) {
        KEYS.lock().extant.remove(&self.number);
    }
}

enum Extant {
    CommReference(Arc<Key>),
    /// Attributes alone hold it.
    Freed(Weak<Key>),
}

/// The keys that there are. Numbers are not used again.
struct Keys {
    extant: BTreeMap<i32, Extant>,
    next: i32,
}

/// Above those of predefined keys.
const FIRST_KEY: i32 = 4096;

static KEYS: Mutex<Keys> = Mutex::new(Keys {
    extant: BTreeMap::new(),
    next: FIRST_KEY,
});

/// `MPI_Comm_create_keyval` and its kin.
pub fn create_key(holder: Holder, functions: Box<dyn Functions>) -> Result<i32> {
    weft_reserve::check()?;
    let mut keys = KEYS.lock();
    let number = keys.next;
    let next = number.checked_add(1);
    keys.next = next.ok_or_else(|| argument(Class::NoMem, "keyval", "too many were created"))?;
    let key = Key {
        number,
        holder,
        functions,
    };
    keys.extant
        .insert(number, Extant::CommReference(Arc::new(key)));
    Ok(number)
}

/// `MPI_Comm_free_keyval` and its kin: the attributes that have it stay, and are got and deleted by it (MPI-5.0 §7.7.2).
pub fn free_key(holder: Holder, number: i32) -> Result<()> {
    let key = find(holder, number)?;
    let freed = Extant::Freed(Arc::downgrade(&key));
    KEYS.lock().extant.insert(number, freed);
    Ok(())
}

fn find(holder: Holder, number: i32) -> Result<Arc<Key>> {
    let found = match KEYS.lock().extant.get(&number) {
        Some(Extant::CommReference(key)) => Some(key.clone()),
        Some(Extant::Freed(key)) => key.upgrade(),
        None => None,
    };
    found
        .filter(|key| key.holder == holder)
        .ok_or_else(|| not_a_key(holder, number))
}

#[cold]
fn not_a_key(holder: Holder, number: i32) -> Error {
    let of = match holder {
        Holder::Comm => "communicators",
        Holder::Window => "windows",
        Holder::Datatype => "datatypes",
    };
    argument(
        Class::Keyval,
        "keyval",
        format_args!("{number} is no key of {of}"),
    )
}

#[derive(Clone)]
struct Attribute {
    key: Arc<Key>,
    value: Value,
}

/// The attributes of one object, in the order in which they were set.
pub struct Attributes {
    holder: Holder,
    set: Mutex<Vec<Attribute>>,
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} attributes", self.set.lock().len())
    }
}

impl Attributes {
    pub const fn new(holder: Holder) -> Attributes {
        Attributes {
            holder,
            set: Mutex::new(Vec::new()),
        }
    }

    fn of_key(&self, number: i32) -> Option<Attribute> {
        let set = self.set.lock();
        set.iter()
            .find(|attribute| attribute.key.number == number)
            .cloned()
    }

    /// The value of an attribute, if it is set.
    pub fn get(&self, key: i32) -> Result<Option<Value>> {
        find(self.holder, key)?;
        Ok(self.of_key(key).map(|attribute| attribute.value))
    }

    /// Sets an attribute; one that was set before is deleted first, and stays if its delete function fails.
    pub fn set(&self, object: u64, key: i32, value: Value) -> Result<()> {
        let key = find(self.holder, key)?;
        weft_reserve::check()?;
        if let Some(old) = self.of_key(key.number) {
            key.functions.delete(object, key.number, &old.value)?;
        }
        let mut set = self.set.lock();
        match set
            .iter_mut()
            .find(|attribute| attribute.key.number == key.number)
        {
            Some(attribute) => attribute.value = value,
            None => set.push(Attribute { key, value }),
        }
        Ok(())
    }

    /// Deletes an attribute, if it is set; it stays if its delete function fails.
    pub fn delete(&self, object: u64, key: i32) -> Result<()> {
        find(self.holder, key)?;
        self.of_key(key)
            .map_or(Ok(()), |attribute| self.remove(object, &attribute))
    }

    fn remove(&self, object: u64, attribute: &Attribute) -> Result<()> {
        let number = attribute.key.number;
        attribute
            .key
            .functions
            .delete(object, number, &attribute.value)?;
        self.set.lock().retain(|other| other.key.number != number);
        Ok(())
    }

    /// What a duplicate of `object` gets.
    pub fn copied(&self, object: u64) -> Result<Attributes> {
        let copies = Attributes::new(self.holder);
        let all = self.set.lock().clone();
        for Attribute { key, value } in all {
            if let Some(value) = key.functions.copy(object, key.number, &value)? {
                copies.set.lock().push(Attribute { key, value });
            }
        }
        Ok(copies)
    }

    /// Deletes all attributes of an object that is being freed, the last one set first. Ends with the first failure.
    pub fn delete_all(&self, object: u64) -> Result<()> {
        loop {
            let last = self.set.lock().last().cloned();
            match last {
                Some(attribute) => self.remove(object, &attribute)?,
                None => return Ok(()),
            }
        }
    }
}

/// The error of a call whose callback returned `code`, which the call returns too.
#[cold]
pub fn refused(function: &str, key: i32, code: i32) -> Error {
    let text = format!("the {function} function of key {key} returned {code}");
    Error::new(Class::Other, text).with_code(code)
}

#[cfg(test)]
mod tests {
    use super::Value::Pointer;
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Writes down its calls; copies odd values doubled.
    struct Recorder {
        calls: Arc<Mutex<Vec<(char, u64, usize)>>>,
        fails: Arc<AtomicBool>,
    }

    impl Functions for Recorder {
        fn copy(&self, object: u64, _: i32, value: &Value) -> Result<Option<Value>> {
            let value = value.pointer();
            self.calls.lock().push(('c', object, value));
            Ok((value % 2 == 1).then_some(Value::Pointer(2 * value)))
        }

        fn delete(&self, object: u64, key: i32, value: &Value) -> Result<()> {
            self.calls.lock().push(('d', object, value.pointer()));
            match self.fails.load(Ordering::Relaxed) {
                true => Err(refused("delete", key, 77)),
                false => Ok(()),
            }
        }
    }

    #[test]
    fn callbacks_are_called_as_the_standard_says() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let fails = Arc::new(AtomicBool::new(false));
        let recorder = || {
            let (calls, fails) = (calls.clone(), fails.clone());
            Box::new(Recorder { calls, fails })
        };
        let taken = || std::mem::take(&mut *calls.lock());
        let [one, two] = [0; 2].map(|_| create_key(Holder::Datatype, recorder()).unwrap());
        let attributes = Attributes::new(Holder::Datatype);
        assert_eq!(attributes.get(one).unwrap(), None);
        attributes.set(5, one, Pointer(1)).unwrap();
        attributes.set(5, two, Pointer(4)).unwrap();
        assert_eq!(
            (attributes.get(one).unwrap(), taken()),
            (Some(Pointer(1)), vec![])
        );
        attributes.set(5, one, Pointer(3)).unwrap();
        assert_eq!(taken(), [('d', 5, 1)]);

        let copies = attributes.copied(5).unwrap();
        assert_eq!(taken(), [('c', 5, 3), ('c', 5, 4)]);
        assert_eq!(
            (copies.get(one).unwrap(), copies.get(two).unwrap()),
            (Some(Pointer(6)), None)
        );

        fails.store(true, Ordering::Relaxed);
        assert_eq!(attributes.set(5, one, Pointer(9)).unwrap_err().code(), 77);
        assert!(attributes.delete(5, one).is_err() && attributes.delete_all(5).is_err());
        assert_eq!(attributes.get(one).unwrap(), Some(Pointer(3)));
        fails.store(false, Ordering::Relaxed);

        // A freed key is one until its last attribute is deleted, here with its object.
        free_key(Holder::Datatype, two).unwrap();
        free_key(Holder::Datatype, two).unwrap();
        assert_eq!(attributes.get(two).unwrap(), Some(Pointer(4)));
        taken();
        attributes.delete_all(5).unwrap();
        assert_eq!(taken(), [('d', 5, 4), ('d', 5, 3)]);
        assert!(attributes.get(two).is_err() && free_key(Holder::Datatype, two).is_err());
        copies.delete(6, one).unwrap();
        copies.delete(6, one).unwrap();
        assert_eq!(taken(), [('d', 6, 6)]);
        assert!(
            free_key(Holder::Comm, one).is_err() && Attributes::new(Holder::Comm).get(one).is_err()
        );
        free_key(Holder::Datatype, one).unwrap();
    }

    #[test]
    fn a_value_is_seen_by_both_languages() {
        let set = Value::integer(-5);
        let address = set.pointer() as *const isize;
        // SAFETY: the place lives as long as the value.
        assert_eq!((unsafe { *address }, set.number()), (-5, -5));
        // SAFETY: as above; the lower half is an `int`.
        assert_eq!(unsafe { *address.cast::<i32>() }, -5);
        let copy = set.duplicate();
        assert!(copy == set && copy.pointer() != set.pointer());
        let pointer = Pointer(usize::MAX);
        assert_eq!((pointer.pointer(), pointer.number()), (usize::MAX, -1));
        assert_eq!(pointer.duplicate(), pointer);
    }
}
