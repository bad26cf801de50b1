//! `weft report`: what `weft bench --json` has found, as one page of HTML that needs nothing else.

mod page;
mod read;
mod section;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use read::Document;

#[derive(Args, Debug)]
pub struct Options {
    /// What `weft bench --json` printed, in the order in which it is to be shown
    #[arg(required = true, value_name = "FILE.json")]
    pub files: Vec<PathBuf>,
    /// Where the page is written
    #[arg(long, short, value_name = "FILE.html", default_value = "report.html")]
    pub output: PathBuf,
}

pub fn run(options: &Options) -> ExitCode {
    match written(options) {
        Ok(()) => {
            println!("{}", options.output.display());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("weft report: {message}");
            ExitCode::FAILURE
        }
    }
}

fn written(options: &Options) -> Result<(), String> {
    let mut document = Document::default();
    for file in &options.files {
        document.take(&json(file)?).map_err(|e| said(file, e))?;
    }
    let page = page::render(&document);
    fs::write(&options.output, page).map_err(|e| said(&options.output, e))
}

fn json(file: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|e| said(file, e))?;
    serde_json::from_str(&text).map_err(|e| said(file, e))
}

fn said(file: &Path, what: impl std::fmt::Display) -> String {
    format!("{}: {what}", file.display())
}
