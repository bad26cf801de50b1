//! What the ranks of all hosts have put, and how many hosts are in the fence.

use crate::pmi::values_of;
use std::collections::HashMap;

pub struct Store {
    values: HashMap<String, String>,
    in_fence: Vec<bool>,
    waiting: usize,
    has_left: Vec<bool>,
    /// A value has been put anew since the last fence, so copies of it are wrong.
    changed: bool,
}

impl Store {
    pub fn new(hosts: usize) -> Store {
        Store {
            values: HashMap::new(),
            in_fence: vec![false; hosts],
            waiting: 0,
            has_left: vec![false; hosts],
            changed: false,
        }
    }

    pub fn put(&mut self, key: String, value: String) {
        if let Some(old) = self.values.get(&key) {
            self.changed |= *old != value;
        }
        self.values.insert(key, value);
    }

    /// The value under a key, or those under several.
    pub fn get(&self, key: &str) -> Option<String> {
        values_of(key, |key| self.values.get(key).map(String::as_str))
    }

    /// A host has no ranks any more, in a job that goes on: every fence has it.
    pub fn leave(&mut self, host: u32) -> Option<bool> {
        self.has_left[host as usize] = true;
        let is_entered = self.in_fence.iter().any(|is_in| *is_in);
        self.join(host).filter(|_| is_entered)
    }

    /// A host has joined. Once all have, answers whether a value has changed.
    pub fn join(&mut self, host: u32) -> Option<bool> {
        if !std::mem::replace(&mut self.in_fence[host as usize], true) {
            self.waiting += 1;
        }
        if self.waiting < self.in_fence.len() {
            return None;
        }
        self.in_fence.clone_from(&self.has_left);
        self.waiting = self.has_left.iter().filter(|left| **left).count();
        Some(std::mem::take(&mut self.changed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_opens_when_every_host_has_joined() {
        let mut store = Store::new(3);
        assert_eq!(store.join(1), None);
        assert_eq!(store.join(1), None);
        assert_eq!(store.join(0), None);
        assert_eq!(store.join(2), Some(false));
        assert_eq!(store.join(2), None);
    }

    #[test]
    fn no_fence_waits_for_a_host_that_has_left() {
        let mut store = Store::new(3);
        assert_eq!(store.join(1), None);
        assert_eq!(store.leave(2), None);
        assert_eq!(store.join(0), Some(false));
        assert_eq!(store.join(1), None);
        assert_eq!(store.leave(0), Some(false));
        // Nobody waits.
        let mut store = Store::new(2);
        assert_eq!(store.leave(1), None);
        assert_eq!(store.join(0), Some(false));
    }

    #[test]
    fn several_values_are_had_if_all_are_there() {
        let mut store = Store::new(1);
        store.put("a".into(), "1".into());
        store.put("b".into(), "2".into());
        assert_eq!(store.get("b,a,b").as_deref(), Some("2,1,2"));
        assert_eq!(store.get("a,c"), None);
        store.put("a,b".into(), "3".into());
        assert_eq!(store.get("a,b").as_deref(), Some("3"));
    }

    #[test]
    fn a_value_put_anew_is_told_once() {
        let mut store = Store::new(1);
        for (value, changed) in [("1", false), ("1", false), ("2", true), ("2", false)] {
            store.put("a".into(), value.into());
            assert_eq!(store.join(0), Some(changed));
            assert_eq!(store.get("a").as_deref(), Some(value));
        }
        assert_eq!(store.get("b"), None);
    }
}
