//! Hints of files (MPI-5.0 §14.2.8): the reserved ones, and those that users of ROMIO know. Values that a hint cannot have and
//! keys that are none are dropped; the others come back as they were given.

use std::ffi::{CStr, CString};

use weft_error::told::{Reader, Teller};
use weft_error::{Error, Result};
use weft_handle::InfoId;
use weft_objects::info;

use super::form::Direction;

/// What a hint's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number from 1 on.
    Number,
    /// `true` or `false`.
    Flag,
    /// `enable`, `disable` or `automatic`.
    Switch,
    Text,
}

const KNOWN: &[(&CStr, Kind)] = &[
    (c"access_style", Kind::Text),
    (c"cb_block_size", Kind::Number),
    (c"cb_buffer_size", Kind::Number),
    (c"cb_nodes", Kind::Number),
    (c"chunked", Kind::Text),
    (c"chunked_item", Kind::Text),
    (c"chunked_size", Kind::Text),
    (c"collective_buffering", Kind::Flag),
    (c"file_perm", Kind::Text),
    (c"filename", Kind::Text),
    (c"ind_rd_buffer_size", Kind::Number),
    (c"ind_wr_buffer_size", Kind::Number),
    (c"io_node_list", Kind::Text),
    (c"nb_proc", Kind::Number),
    (c"num_io_nodes", Kind::Number),
    (c"romio_cb_read", Kind::Switch),
    (c"romio_cb_write", Kind::Switch),
    (c"romio_ds_read", Kind::Switch),
    (c"romio_ds_write", Kind::Switch),
    (c"romio_no_indep_rw", Kind::Flag),
    (c"striping_factor", Kind::Number),
    (c"striping_unit", Kind::Number),
];

/// Whether to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    Automatic = 0,
    Enable = 1,
    Disable = 2,
}

/// What the hints say about collective access, alike on all processes: as the first one has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Processes that read and write for the others; none leaves it to the library.
    pub aggregators: Option<usize>,
    /// Bytes that each of them reads or writes at a time.
    pub window_bytes: u64,
    /// Their parts of the file begin at multiples of so many bytes.
    pub unit_bytes: u64,
    pub reading: Switch,
    pub writing: Switch,
}

/// What the hints say about how this process reads and writes the file, for itself or for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnSettings {
    /// Bytes that are read at a time where gaps are read along; 0 if none are to be.
    pub sieve_bytes: usize,
    /// Whether short pieces are written through a mapping of the file.
    pub may_map: bool,
}

/// What the library uses where there is no hint. It reads and writes so much at a time as stays in a core's cache, where it is copied.
const UNIT_BYTES: u64 = 4096;
const SIEVE_BYTES: usize = 512 << 10;

/// The window among so many processes: each has a message in it that is worth sending.
fn window_bytes(processes: usize) -> u64 {
    const LEAST: u64 = 1 << 20;
    const MOST: u64 = 16 << 20;
    const OF_EACH: u64 = 64 << 10;
    (processes as u64 * OF_EACH).clamp(LEAST, MOST)
}

impl Settings {
    pub const WORDS: usize = 5;

    /// Whether accesses of a direction are to go by two phases.
    pub fn of(&self, direction: Direction) -> Switch {
        match direction {
            Direction::Read => self.reading,
            Direction::Write => self.writing,
        }
    }

    pub fn words(&self) -> [i64; Settings::WORDS] {
        let aggregators = self.aggregators.map_or(0, |count| count as i64);
        [
            aggregators,
            self.window_bytes as i64,
            self.unit_bytes as i64,
            self.reading as i64,
            self.writing as i64,
        ]
    }

    /// From the words of the first process.
    pub fn told(words: [i64; Settings::WORDS]) -> Result<Settings> {
        let mut words = Reader::new(Teller::Rank(0), &words);
        let switch = |words: &mut Reader<'_>| {
            Ok::<_, Error>(match words.index(3, "way of collective access")? {
                1 => Switch::Enable,
                2 => Switch::Disable,
                _ => Switch::Automatic,
            })
        };
        let aggregators = words.length("number of aggregators")? as usize;
        Ok(Settings {
            aggregators: (aggregators > 0).then_some(aggregators),
            window_bytes: words.within(1..=MOST_BYTES, "size of a buffer")? as u64,
            unit_bytes: words.within(1..=MOST_BYTES, "striping unit")? as u64,
            reading: switch(&mut words)?,
            writing: switch(&mut words)?,
        })
    }
}

/// The largest window and unit: an aggregator has as much memory.
const MOST_BYTES: i64 = 1 << 30;

/// A file's hints, in the order in which they were given.
#[derive(Clone, Debug)]
pub struct Hints {
    given: Vec<(&'static CStr, CString)>,
    /// How many have the file open.
    processes: usize,
}

impl Hints {
    /// None yet, for a file of so many processes.
    pub fn none(processes: usize) -> Hints {
        Hints {
            given: Vec::new(),
            processes,
        }
    }

    /// Takes those that an info object has; the others stay.
    pub fn update(&mut self, from: Option<InfoId>) -> Result<()> {
        let Some(from) = from else {
            return Ok(());
        };
        for (key, value) in info::pairs(from)? {
            let Some(&(key, kind)) = KNOWN.iter().find(|(known, _)| **known == *key) else {
                continue;
            };
            if !is_value(kind, &value) {
                continue;
            }
            match self.given.iter_mut().find(|(known, _)| *known == key) {
                Some(pair) => pair.1 = value,
                None => self.given.push((key, value)),
            }
        }
        Ok(())
    }

    fn text(&self, key: &CStr) -> Option<&str> {
        let pair = self.given.iter().find(|(known, _)| *known == key)?;
        pair.1.to_str().ok()
    }

    fn number(&self, key: &CStr) -> Option<u64> {
        self.text(key)?.trim().parse().ok()
    }

    fn switch(&self, key: &CStr) -> Switch {
        match (self.text(key), self.text(c"collective_buffering")) {
            (Some("enable"), _) => Switch::Enable,
            (Some("disable"), _) | (None, Some("false")) => Switch::Disable,
            (None, Some("true")) => Switch::Enable,
            _ => Switch::Automatic,
        }
    }

    pub fn settings(&self) -> Settings {
        let bytes = |key: &CStr, otherwise: u64| {
            let given = self.number(key).unwrap_or(otherwise);
            given.min(MOST_BYTES as u64)
        };
        Settings {
            aggregators: self.number(c"cb_nodes").map(|count| count as usize),
            window_bytes: bytes(c"cb_buffer_size", window_bytes(self.processes)),
            unit_bytes: bytes(c"striping_unit", UNIT_BYTES),
            reading: self.switch(c"romio_cb_read"),
            writing: self.switch(c"romio_cb_write"),
        }
    }

    pub fn own_settings(&self) -> OwnSettings {
        let sieve_bytes = self
            .number(c"ind_rd_buffer_size")
            .map_or(SIEVE_BYTES, |bytes| bytes.min(MOST_BYTES as u64) as usize);
        OwnSettings {
            sieve_bytes: match self.text(c"romio_ds_read") {
                Some("disable") => 0,
                _ => sieve_bytes,
            },
            may_map: self.text(c"romio_ds_write") != Some("disable"),
        }
    }

    /// What was given, and what the library uses where nothing was.
    pub fn info(&self) -> Result<InfoId> {
        let settings = self.settings();
        let defaults = [
            (c"cb_buffer_size", settings.window_bytes.to_string()),
            (c"romio_cb_read", "automatic".to_owned()),
            (c"romio_cb_write", "automatic".to_owned()),
            (c"ind_rd_buffer_size", SIEVE_BYTES.to_string()),
        ];
        let given = self.given.iter();
        let mut pairs: Vec<(&CStr, String)> = given
            .map(|(key, value)| (*key, value.to_string_lossy().into_owned()))
            .collect();
        for (key, value) in defaults {
            if self.text(key).is_none() {
                pairs.push((key, value));
            }
        }
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (*key, &**value)).collect();
        info::create_with(&pairs)
    }
}

fn is_value(kind: Kind, value: &CStr) -> bool {
    let Ok(text) = value.to_str() else {
        return false;
    };
    match kind {
        Kind::Number => text.trim().parse().is_ok_and(|number: u64| number > 0),
        Kind::Flag => matches!(text, "true" | "false"),
        Kind::Switch => matches!(text, "enable" | "disable" | "automatic"),
        Kind::Text => true,
    }
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    for &words in words.as_chunks().0 {
        if let Ok(settings) = Settings::told(words) {
            assert_eq!(settings.words(), words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_error::Class;

    fn hints(pairs: &[(&CStr, &str)]) -> Hints {
        let mut hints = Hints::none(2);
        let info = info::create_with(pairs).unwrap();
        hints.update(Some(info)).unwrap();
        hints
    }

    #[test]
    fn what_is_no_hint_is_dropped() {
        let wrong = hints(&[
            (c"cb_nodes", "0"),
            (c"cb_buffer_size", "-5"),
            (c"romio_cb_read", "yes"),
            (c"collective_buffering", "1"),
            (c"unknown", "1"),
        ]);
        assert!(wrong.given.is_empty());
        assert_eq!(wrong.settings(), Hints::none(2).settings());
    }

    #[test]
    fn gaps_and_mappings_are_each_process_s_own_affair() {
        let without = Hints::none(2).own_settings();
        assert_eq!((without.sieve_bytes, without.may_map), (SIEVE_BYTES, true));
        let given = hints(&[
            (c"ind_rd_buffer_size", "4096"),
            (c"romio_ds_write", "disable"),
        ]);
        let own = given.own_settings();
        assert_eq!((own.sieve_bytes, own.may_map), (4096, false));
        let given = hints(&[
            (c"ind_rd_buffer_size", "4096"),
            (c"romio_ds_read", "disable"),
        ]);
        let own = given.own_settings();
        assert_eq!((own.sieve_bytes, own.may_map), (0, true));
    }

    #[test]
    fn settings_travel_as_words() {
        let given = hints(&[
            (c"cb_nodes", "3"),
            (c"cb_buffer_size", "65536"),
            (c"striping_unit", "100"),
            (c"romio_cb_read", "disable"),
            (c"collective_buffering", "true"),
        ]);
        let settings = given.settings();
        assert_eq!(settings.aggregators, Some(3));
        assert_eq!((settings.window_bytes, settings.unit_bytes), (65536, 100));
        assert_eq!(
            (settings.reading, settings.writing),
            (Switch::Disable, Switch::Enable)
        );
        assert_eq!(Settings::told(settings.words()).unwrap(), settings);
        for (place, lie) in [(0, -1), (1, 0), (2, i64::MAX), (3, 9), (4, -9)] {
            let mut words = settings.words();
            words[place] = lie;
            assert_eq!(Settings::told(words).unwrap_err().class, Class::Other);
        }
    }
}
