//! The constants of the crate's enumerations, read from its source: their names are C's.

use std::path::Path;

/// The crate's source files.
pub fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    std::fs::read_dir(folder)
        .expect("the crate has a source folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| std::fs::read_to_string(path).expect("a source can be read"))
        .collect()
}

/// Names that C spells otherwise, or does not have as a number.
const NOT_IN_C: &[&str] = &[
    "IBV_GID_TYPE_SYSFS_IB_ROCE_V1",
    "IBV_GID_TYPE_SYSFS_ROCE_V2",
    "IBV_QP_SMAC",
    "IBV_QP_ALT_SMAC",
    "IBV_QP_VID",
    "IBV_QP_ALT_VID",
];

/// Lines `IBV_NAME = value,` inside `enumeration!`.
pub fn constants() -> Vec<(String, i64)> {
    sources()
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| {
            let (name, value) = line.trim().strip_suffix(',')?.split_once(" = ")?;
            (name.starts_with("IBV_") && !NOT_IN_C.contains(&name))
                .then(|| (name.to_owned(), evaluate(value)))
        })
        .collect()
}

fn evaluate(expression: &str) -> i64 {
    let number = |text: &str| -> i64 {
        let text = text.trim().replace('_', "");
        match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => text.parse(),
        }
        .unwrap_or_else(|_| panic!("not a number: {text}"))
    };
    match expression.split_once("<<") {
        Some((value, shift)) => number(value) << number(shift),
        None => number(expression),
    }
}
