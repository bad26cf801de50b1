//! The key-value space of a job.

use std::collections::HashMap;

/// What one rank may store: a bound on memory that no honest rank comes near.
const RANK_MAX_BYTES: usize = 16 << 20;

pub struct Space {
    values: HashMap<String, String>,
    /// Put on other hosts.
    learned: HashMap<String, String>,
    /// Bytes that each rank has put; a value put over an older one counts again.
    used_bytes: Vec<usize>,
}

impl Space {
    pub fn new(ranks: usize) -> Space {
        Space {
            values: HashMap::new(),
            learned: HashMap::new(),
            used_bytes: vec![0; ranks],
        }
    }

    pub fn put(&mut self, rank: u32, key: &str, value: &str) -> Result<(), &'static str> {
        let used = &mut self.used_bytes[rank as usize];
        *used += key.len() + value.len();
        if *used > RANK_MAX_BYTES {
            return Err("too_much_stored");
        }
        self.values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let value = self.values.get(key).or_else(|| self.learned.get(key));
        value.map(String::as_str)
    }

    pub fn learn(&mut self, key: &str, value: &str) {
        self.learned.insert(key.to_owned(), value.to_owned());
    }

    pub fn forget_learned(&mut self) {
        self.learned.clear();
    }
}
