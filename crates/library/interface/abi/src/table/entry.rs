//! How the table's texts are divided.

/// The entries of a text, each with the lines that continue it.
pub fn entries(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .match_indices('\n')
            .map(|(at, _)| at + 1)
            .find(|&next| !rest[next..].starts_with(' '))
            .unwrap_or(rest.len());
        let (entry, tail) = rest.split_at(end);
        rest = tail;
        Some(entry.trim_end())
    })
}
