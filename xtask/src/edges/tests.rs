use super::*;

const DOCUMENT: &str = "# Architecture

## Layers
Some words.
```
crates/wire      headers; no unsafe    -
crates/queue     queues                -
crates/engine    requests, progress    wire
    queue
```
";

fn layers() -> Vec<Layer> {
    parse_layers(DOCUMENT).unwrap()
}

fn package(folder: &str, dependencies: &[&str]) -> Package {
    Package {
        folder: folder.into(),
        dependencies: dependencies.iter().map(|name| (*name).into()).collect(),
    }
}

fn workspace(engine_uses: &[&str]) -> Vec<Package> {
    vec![
        package("wire", &[]),
        package("queue", &[]),
        package("engine", engine_uses),
    ]
}

#[test]
fn reads_the_layer_block() {
    let layers = layers();
    assert_eq!(layers.len(), 3);
    assert!(layers[0].no_unsafe && !layers[1].no_unsafe);
    assert_eq!(
        layers[2].allowed,
        ["queue", "wire"].map(String::from).into()
    );
}

#[test]
fn allowed_edges_pass() {
    assert!(compare(&layers(), &workspace(&["wire"])).is_empty());
}

#[test]
fn other_edges_are_named() {
    let mut packages = workspace(&["wire"]);
    packages[1] = package("queue", &["wire"]);
    assert_eq!(
        compare(&layers(), &packages),
        ["crates/queue uses wire, which its layer does not allow"]
    );
}

#[test]
fn unlisted_and_missing_crates_are_named() {
    let mut packages = workspace(&[]);
    packages[0] = package("fresh", &[]);
    let faults = compare(&layers(), &packages);
    assert_eq!(faults.len(), 2);
    assert!(faults[0].contains("crates/fresh is not in"));
    assert!(faults[1].contains("lists crates/wire"));
}

#[test]
fn a_layer_uses_only_what_stands_above_it() {
    let document = DOCUMENT.replace("queues                -", "queues                engine");
    assert!(
        parse_layers(&document)
            .unwrap_err()
            .contains("does not stand above")
    );
    let twice = DOCUMENT.replace("crates/queue", "crates/wire");
    assert!(parse_layers(&twice).unwrap_err().contains("twice"));
    assert!(
        parse_layers(&DOCUMENT.replace("headers; no unsafe    -", "headers -"))
            .unwrap_err()
            .contains("columns")
    );
}

#[test]
fn a_folder_stands_for_its_crates_above() {
    let document = DOCUMENT
        .replace("crates/wire ", "crates/data/wire ")
        .replace("crates/queue ", "crates/data/queue ")
        .replace("progress    wire\n    queue", "progress    data wire");
    let layers = parse_layers(&document).unwrap();
    assert_eq!(
        layers[2].allowed,
        ["queue", "wire"].map(String::from).into()
    );
    let early = document.replace("no unsafe    -", "no unsafe    data");
    assert!(
        parse_layers(&early)
            .unwrap_err()
            .contains("names data, which does not stand above")
    );
}

#[test]
fn metadata_gives_folders_and_ignores_development_dependencies() {
    let json = r#"{"packages": [
        {"name": "weft-wire", "manifest_path": "/r/crates/library/wire/Cargo.toml", "dependencies": []},
        {"name": "tool", "manifest_path": "/r/tool/Cargo.toml", "dependencies": []},
        {"name": "weft-engine", "manifest_path": "/r/crates/engine/Cargo.toml", "dependencies": [
            {"name": "weft-wire", "kind": null, "path": "/r/crates/library/wire"},
            {"name": "libc", "kind": null},
            {"name": "tool", "kind": "build", "path": "/r/tool"},
            {"name": "weft-queue", "kind": "dev", "path": "/r/crates/queue"}]}]}"#;
    assert_eq!(
        parse_metadata(json).unwrap(),
        [
            package("library/wire", &[]),
            package("engine", &["tool", "wire"])
        ]
    );
}

#[test]
fn the_workspace_keeps_its_layers() {
    let document = include_str!("../../../ARCHITECTURE.md");
    let promised: Vec<String> = parse_layers(document)
        .unwrap()
        .into_iter()
        .filter(|l| l.no_unsafe)
        .map(|l| l.folder)
        .collect();
    for name in ["wire", "matching"] {
        assert!(promised.iter().any(|folder| last_part(folder) == name));
    }
}
