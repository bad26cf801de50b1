//! From a path in a module to the file that defines what it names, through imports, globs and re-exports.

use std::collections::BTreeSet;

use super::tree::{FileId, Module, ModuleId, ROOT, Tree, What};

/// What a path may mean: a name can stand for a module, a type and a function at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Item {
        file: FileId,
        name: String,
        is_type: bool,
    },
    Module(ModuleId),
    /// It is another crate's, or no name of this crate's items at all.
    External,
}

/// Imports that are being followed, so that two which name each other end: a module, a name (none for a glob), a place.
type Followed = BTreeSet<(ModuleId, Option<String>, usize)>;

/// Which names a look-up may find: `from` sees what is private to itself and to the modules around it.
struct Lookup<'a> {
    tree: &'a Tree,
    from: ModuleId,
    followed: Followed,
}

/// The items of this crate that `path`, written in `module`, names.
pub fn resolve(tree: &Tree, module: ModuleId, path: &[String]) -> Vec<Target> {
    let lookup = Lookup {
        tree,
        from: module,
        followed: Followed::new(),
    };
    let mut targets = lookup.path(module, path);
    targets.sort();
    targets.dedup();
    targets
}

impl Lookup<'_> {
    fn module(&self, id: ModuleId) -> &Module {
        &self.tree.modules[id]
    }

    fn path(&self, module: ModuleId, path: &[String]) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let found = match first.as_str() {
            "crate" | "$crate" => vec![Target::Module(ROOT)],
            "self" => vec![Target::Module(module)],
            "super" => match self.module(module).parent {
                Some(parent) => vec![Target::Module(parent)],
                None => Vec::new(),
            },
            name => {
                let found = self.name(module, name);
                if found.is_empty() {
                    vec![Target::External]
                } else {
                    found
                }
            }
        };
        self.follow(found, rest)
    }

    /// Goes on along a path behind what its beginning may mean.
    fn follow(&self, found: Vec<Target>, rest: &[String]) -> Vec<Target> {
        let Some((next, rest)) = rest.split_first() else {
            return found;
        };
        let mut targets = Vec::new();
        // Of an enum's variant the enum is what is used.
        let is_enum = found
            .iter()
            .any(|target| matches!(target, Target::Item { is_type: true, .. }));
        for target in found {
            match target {
                Target::Item { is_type: false, .. } => {}
                Target::Module(module) if is_enum && self.module(module).is_enum => {}
                Target::Item { .. } | Target::External => targets.push(target),
                Target::Module(module) if next == "super" => {
                    let parent = self.module(module).parent.map(Target::Module);
                    targets.extend(self.follow(parent.into_iter().collect(), rest));
                }
                Target::Module(module) => {
                    let mut found = self.name(module, next);
                    if found.is_empty() && !self.has_external_glob(module) {
                        // A macro has made it there.
                        found.push(Target::Item {
                            file: self.module(module).file,
                            name: next.clone(),
                            is_type: true,
                        });
                    }
                    targets.extend(self.follow(found, rest));
                }
            }
        }
        targets
    }

    /// What `name` means in `module`; nothing where it has no such name.
    fn name(&self, module: ModuleId, name: &str) -> Vec<Target> {
        let mut targets = Vec::new();
        let definitions = self.module(module).definitions.get(name);
        for (place, definition) in definitions.into_iter().flatten().enumerate() {
            if definition.private && !self.is_inside(module) {
                continue;
            }
            match &definition.what {
                What::Item { file, is_type } => targets.push(Target::Item {
                    file: *file,
                    name: name.to_owned(),
                    is_type: *is_type,
                }),
                What::Module(child) => targets.push(Target::Module(*child)),
                What::Import(path) => {
                    let key = (module, Some(name.to_owned()), place);
                    targets.extend(self.import(key, path, None));
                }
            }
        }
        if targets.is_empty() {
            for (place, glob) in self.module(module).globs.iter().enumerate() {
                if !glob.private || self.is_inside(module) {
                    targets.extend(self.import((module, None, place), &glob.path, Some(name)));
                }
            }
        }
        targets
    }

    /// Follows an import of `module`, once; a glob brings `name` from the modules that it names.
    fn import(
        &self,
        key: (ModuleId, Option<String>, usize),
        path: &[String],
        name: Option<&str>,
    ) -> Vec<Target> {
        let module = key.0;
        let mut followed = self.followed.clone();
        if !followed.insert(key) {
            return Vec::new();
        }
        let inner = Lookup {
            tree: self.tree,
            from: module,
            followed,
        };
        let found = inner.path(module, path);
        let Some(name) = name else {
            return found;
        };
        let modules = found.into_iter().filter_map(|target| match target {
            Target::Module(id) => Some(id),
            _ => None,
        });
        modules.flat_map(|id| inner.name(id, name)).collect()
    }

    fn has_external_glob(&self, module: ModuleId) -> bool {
        let globs = self.module(module).globs.iter().enumerate();
        globs.into_iter().any(|(place, glob)| {
            self.import((module, None, place), &glob.path, None)
                .contains(&Target::External)
        })
    }

    /// Whether the module that asks is `module` or lies inside it.
    fn is_inside(&self, module: ModuleId) -> bool {
        let mut inner = Some(self.from);
        while let Some(id) = inner {
            if id == module {
                return true;
            }
            inner = self.module(id).parent;
        }
        false
    }
}
