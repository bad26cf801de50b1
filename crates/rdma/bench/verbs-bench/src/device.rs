//! The device that a run is on.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weft_verbs::{Context, Device, devices, library, library_at};

/// Which library, and which of its devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// A library by its path; else `libibverbs.so.1` as the loader finds it.
    pub library: Option<PathBuf>,
    /// A device by its name; else the first.
    pub device: Option<String>,
}

impl Choice {
    /// The device, ready to be opened.
    pub fn find(&self) -> Result<Device, String> {
        let loaded = match &self.library {
            Some(path) => library_at(path),
            None => library(),
        };
        let all = devices(loaded.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        let names: Vec<String> = all.iter().map(Device::name).collect();
        let wanted = |d: &Device| self.device.as_ref().is_none_or(|name| *name == d.name());
        let found = all.into_iter().find(wanted);
        found.ok_or_else(|| match &self.device {
            Some(name) => format!("no device {name}; there are: {}", names.join(", ")),
            None => "the library shows no device".into(),
        })
    }

    pub fn open(&self) -> Result<Context, String> {
        self.find()?.open().map_err(|error| error.to_string())
    }
}
