//! The output of ranks in files, two for each rank. mpiexec writes them and not the ranks: a program that prints seldom looks
//! whether it could.

use super::sink::Refusal;
use crate::sys;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub struct Files {
    directory: PathBuf,
    /// By rank, and whether of its standard error.
    open: HashMap<(u32, bool), File>,
    refusal: Option<Refusal>,
}

impl Files {
    pub fn new(directory: &Path) -> Result<Files, String> {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("--output-dir {}: {error}", directory.display()))?;
        Ok(Files {
            directory: directory.to_owned(),
            open: HashMap::new(),
            refusal: None,
        })
    }

    /// The files of a rank: they are there whether it prints or not.
    pub fn create(&mut self, rank: u32) -> io::Result<()> {
        for is_error in [false, true] {
            let path = self.path(rank, is_error);
            let named = |error| {
                let error = sys::explained(error);
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            let file = File::create(&path).map_err(named)?;
            self.open.insert((rank, is_error), file);
        }
        Ok(())
    }

    fn path(&self, rank: u32, is_error: bool) -> PathBuf {
        let kind = if is_error { "err" } else { "out" };
        self.directory.join(format!("rank.{rank}.{kind}"))
    }

    /// What comes after a failure is dropped: the job ends because of it.
    pub fn write(&mut self, rank: u32, is_error: bool, bytes: &[u8]) {
        let file = self.open.get_mut(&(rank, is_error));
        let written = file.map_or(Ok(()), |file| file.write_all(bytes));
        self.note(rank, is_error, written);
    }

    /// Nothing more is to be written. What a file server holds against it, it may say only now.
    pub fn close(&mut self) {
        for ((rank, is_error), file) in std::mem::take(&mut self.open) {
            self.note(rank, is_error, sys::close(file.into()));
        }
    }

    fn note(&mut self, rank: u32, is_error: bool, result: io::Result<()>) {
        if let (Err(why), None) = (result, &self.refusal) {
            let path = self.path(rank, is_error);
            self.refusal = Some(Refusal::new(&path.display().to_string(), &why));
        }
    }

    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }
}
