//! The words of a command line as they are read.

use super::usage::Usage;
use std::ffi::OsString;

/// The words not yet read, and how to complain about the option at hand.
pub struct Words<'a> {
    pub rest: std::slice::Iter<'a, OsString>,
    /// From `--option=value`.
    pub attached: Option<OsString>,
    pub option: String,
}

impl Words<'_> {
    pub fn value(&mut self, what: &str) -> Result<OsString, Usage> {
        let next = self.attached.take().or_else(|| self.rest.next().cloned());
        next.ok_or_else(|| Usage(format!("{} needs {what}", self.option)))
    }

    pub fn text(&mut self, what: &str) -> Result<String, Usage> {
        let value = self.value(what)?;
        value
            .into_string()
            .map_err(|value| Usage(format!("{} needs {what}, not {value:?}", self.option)))
    }

    pub fn parsed<T>(&mut self, what: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Usage> {
        let text = self.text(what)?;
        parse(&text).ok_or_else(|| Usage(format!("{} needs {what}, not `{text}`", self.option)))
    }
}
