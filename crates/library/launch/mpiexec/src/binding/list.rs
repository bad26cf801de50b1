//! Lists of CPUs, and of other numbers, as text.

/// `0-3,8`
pub fn show_runs(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<String>>().join(",")
}

/// `0-3,8`, as the kernel and users write it; `None` for anything else.
pub fn parse_cpus(text: &str) -> Option<Vec<u32>> {
    // More CPUs than any kernel is built for.
    const CPUS_MAX: u32 = 1 << 17;
    let mut cpus = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}
