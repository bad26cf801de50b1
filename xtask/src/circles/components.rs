//! Strongly connected components: the sets of files each of which uses every other, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::FileId;

/// The components of more than one file.
pub fn components(edges: impl Iterator<Item = (FileId, FileId)>) -> Vec<BTreeSet<FileId>> {
    let mut users: BTreeMap<FileId, BTreeSet<FileId>> = BTreeMap::new();
    let mut used: BTreeMap<FileId, BTreeSet<FileId>> = BTreeMap::new();
    for (from, to) in edges {
        used.entry(from).or_default().insert(to);
        users.entry(to).or_default().insert(from);
    }
    let mut left: BTreeSet<FileId> = used.keys().copied().collect();
    let mut found = Vec::new();
    while let Some(&file) = left.first() {
        let below = reached(file, &used);
        let above = reached(file, &users);
        let component: BTreeSet<FileId> = below.intersection(&above).copied().collect();
        left.remove(&file);
        left.retain(|file| !component.contains(file));
        if component.len() > 1 {
            found.push(component);
        }
    }
    found
}

/// What is reached from a file, itself included.
fn reached(file: FileId, next: &BTreeMap<FileId, BTreeSet<FileId>>) -> BTreeSet<FileId> {
    let mut reached = BTreeSet::from([file]);
    let mut waiting = vec![file];
    while let Some(file) = waiting.pop() {
        for &other in next.get(&file).into_iter().flatten() {
            if reached.insert(other) {
                waiting.push(other);
            }
        }
    }
    reached
}
