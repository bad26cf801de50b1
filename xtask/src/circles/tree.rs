//! The modules of a crate, read from its root file along the `mod` declarations, and the names that each defines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::ext::IdentExt;
use syn::{Attribute, Ident, Item, ItemEnum, ItemMod, UseTree, Visibility};

use super::untested::only_tested;

pub type ModuleId = usize;
pub type FileId = usize;

/// Where source comes from: `None` for a file that does not exist.
pub type Source<'a> = dyn Fn(&Path) -> Option<String> + 'a;

pub const ROOT: ModuleId = 0;

pub struct Tree {
    pub files: Vec<PathBuf>,
    pub modules: Vec<Module>,
    /// Files that define a `macro_rules!` of a name: such a macro is found by its place in the text, not by a path.
    pub macros: BTreeMap<String, BTreeSet<FileId>>,
}

#[derive(Default)]
pub struct Module {
    pub parent: Option<ModuleId>,
    pub file: FileId,
    pub definitions: BTreeMap<String, Vec<Definition>>,
    pub globs: Vec<Import>,
    pub items: Vec<Item>,
    /// It is the home of an enum's variants.
    pub is_enum: bool,
    /// Its folder, where the files of its child modules lie.
    folder: PathBuf,
}

pub struct Definition {
    pub private: bool,
    pub what: What,
}

pub enum What {
    /// A path may go on behind a type: `Type::function`.
    Item {
        file: FileId,
        is_type: bool,
    },
    /// A module, or an enum as the home of its variants.
    Module(ModuleId),
    Import(Vec<String>),
}

pub struct Import {
    pub private: bool,
    pub path: Vec<String>,
}

impl Tree {
    pub fn read(root: &Path, source: &Source) -> Result<Tree, String> {
        let mut tree = Tree {
            files: Vec::new(),
            modules: Vec::new(),
            macros: BTreeMap::new(),
        };
        let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
        tree.read_file(root, None, folder, source)?;
        Ok(tree)
    }

    fn read_file(
        &mut self,
        path: &Path,
        parent: Option<ModuleId>,
        folder: PathBuf,
        source: &Source,
    ) -> Result<ModuleId, String> {
        let text = source(path).ok_or_else(|| format!("{}: cannot be read", path.display()))?;
        let parsed =
            syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        self.files.push(path.to_path_buf());
        let file = self.files.len() - 1;
        let id = self.add_module(parent, file, folder);
        self.fill(id, parsed.items, path, source)?;
        Ok(id)
    }

    fn add_module(&mut self, parent: Option<ModuleId>, file: FileId, folder: PathBuf) -> ModuleId {
        self.modules.push(Module {
            parent,
            file,
            folder,
            ..Module::default()
        });
        self.modules.len() - 1
    }

    /// Records what the items of a module define; `path` is the file that they stand in.
    fn fill(
        &mut self,
        id: ModuleId,
        items: Vec<Item>,
        path: &Path,
        source: &Source,
    ) -> Result<(), String> {
        for item in items {
            if only_tested(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(module) => self.add_child(id, module, path, source)?,
                Item::Use(import) => {
                    let private = is_private(&import.vis);
                    self.add_imports(id, &import.tree, &mut Vec::new(), private);
                    self.modules[id].items.push(Item::Use(import));
                }
                item => {
                    self.define(id, &item);
                    self.modules[id].items.push(item);
                }
            }
        }
        Ok(())
    }

    fn add_child(
        &mut self,
        parent: ModuleId,
        module: ItemMod,
        path: &Path,
        source: &Source,
    ) -> Result<(), String> {
        let name = module.ident.unraw().to_string();
        let file = self.modules[parent].file;
        let folder = self.modules[parent].folder.join(&name);
        let child = match module.content {
            Some((_, items)) => {
                let child = self.add_module(Some(parent), file, folder);
                self.fill(child, items, path, source)?;
                child
            }
            None => {
                let (path, folder) = match path_attribute(&module.attrs) {
                    Some(named) => {
                        let path = path.parent().unwrap_or(Path::new("")).join(named);
                        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                        (path, folder)
                    }
                    None => {
                        let beside = folder.with_extension("rs");
                        let inside = folder.join("mod.rs");
                        let exists = source(&beside).is_some();
                        (if exists { beside } else { inside }, folder)
                    }
                };
                self.read_file(&path, Some(parent), folder, source)?
            }
        };
        self.add(parent, &name, is_private(&module.vis), What::Module(child));
        Ok(())
    }

    fn add(&mut self, module: ModuleId, name: &str, private: bool, what: What) {
        let definitions = &mut self.modules[module].definitions;
        definitions
            .entry(name.to_owned())
            .or_default()
            .push(Definition { private, what });
    }

    /// Records the leaves of a `use` tree as definitions of the module, or as globs.
    pub fn add_imports(
        &mut self,
        module: ModuleId,
        tree: &UseTree,
        prefix: &mut Vec<String>,
        private: bool,
    ) {
        for Leaf { path, name } in leaves(tree, prefix) {
            match name {
                Some(name) => self.add(module, &name, private, What::Import(path)),
                None => self.modules[module].globs.push(Import { private, path }),
            }
        }
    }

    fn define(&mut self, module: ModuleId, item: &Item) {
        let file = self.modules[module].file;
        let mut add = |name: &Ident, visibility: &Visibility, is_type| {
            let name = name.unraw().to_string();
            let what = What::Item { file, is_type };
            self.add(module, &name, is_private(visibility), what);
        };
        match item {
            Item::Const(item) => add(&item.ident, &item.vis, false),
            Item::Static(item) => add(&item.ident, &item.vis, false),
            Item::Fn(item) => add(&item.sig.ident, &item.vis, false),
            Item::Struct(item) => add(&item.ident, &item.vis, true),
            Item::Union(item) => add(&item.ident, &item.vis, true),
            Item::Trait(item) => add(&item.ident, &item.vis, true),
            Item::TraitAlias(item) => add(&item.ident, &item.vis, true),
            Item::Type(item) => add(&item.ident, &item.vis, true),
            Item::Enum(item) => {
                add(&item.ident, &item.vis, true);
                self.define_variants(module, item);
            }
            Item::ForeignMod(foreign) => {
                for item in &foreign.items {
                    match item {
                        syn::ForeignItem::Fn(item) => add(&item.sig.ident, &item.vis, false),
                        syn::ForeignItem::Static(item) => add(&item.ident, &item.vis, false),
                        syn::ForeignItem::Type(item) => add(&item.ident, &item.vis, true),
                        _ => {}
                    }
                }
            }
            Item::Macro(item) => match &item.ident {
                Some(name) => self.define_macro(module, name, &item.attrs),
                None => self.define_from_tokens(module, &item.mac),
            },
            _ => {}
        }
    }

    fn define_variants(&mut self, module: ModuleId, item: &ItemEnum) {
        let file = self.modules[module].file;
        let home = self.add_module(Some(module), file, PathBuf::new());
        self.modules[home].is_enum = true;
        for variant in &item.variants {
            let what = What::Item {
                file,
                is_type: true,
            };
            self.add(home, &variant.ident.unraw().to_string(), false, what);
        }
        let name = item.ident.unraw().to_string();
        self.add(module, &name, is_private(&item.vis), What::Module(home));
    }

    fn define_macro(&mut self, module: ModuleId, name: &Ident, attributes: &[Attribute]) {
        let file = self.modules[module].file;
        let name = name.to_string();
        let exported = attributes
            .iter()
            .any(|attribute| attribute.path().is_ident("macro_export"));
        let home = if exported { ROOT } else { module };
        let what = What::Item {
            file,
            is_type: false,
        };
        self.add(home, &name, true, what);
        self.macros.entry(name).or_default().insert(file);
    }

    /// A macro that is called among items defines, as far as that can be read, what its argument defines.
    fn define_from_tokens(&mut self, module: ModuleId, call: &syn::Macro) {
        let Ok(parsed) = syn::parse2::<syn::File>(call.tokens.clone()) else {
            return;
        };
        for item in &parsed.items {
            self.define(module, item);
        }
    }
}

/// One name that a `use` tree brings in; `name` is `None` for a glob.
pub struct Leaf {
    pub path: Vec<String>,
    pub name: Option<String>,
}

pub fn leaves(tree: &UseTree, prefix: &mut Vec<String>) -> Vec<Leaf> {
    let ending = |name: &Ident, called: &Ident, prefix: &[String]| {
        let mut path = prefix.to_vec();
        if name != "self" || prefix.is_empty() {
            path.push(name.unraw().to_string());
        }
        let called = if called == "self" {
            path.last().cloned()
        } else {
            Some(called.unraw().to_string())
        };
        vec![Leaf { path, name: called }]
    };
    match tree {
        UseTree::Path(inner) => {
            prefix.push(inner.ident.unraw().to_string());
            let found = leaves(&inner.tree, prefix);
            prefix.pop();
            found
        }
        UseTree::Name(leaf) => ending(&leaf.ident, &leaf.ident, prefix),
        UseTree::Rename(leaf) => ending(&leaf.ident, &leaf.rename, prefix),
        UseTree::Glob(_) => vec![Leaf {
            path: prefix.clone(),
            name: None,
        }],
        UseTree::Group(group) => {
            let found = group.items.iter().map(|tree| leaves(tree, prefix));
            found.collect::<Vec<_>>().into_iter().flatten().collect()
        }
    }
}

pub fn is_private(visibility: &Visibility) -> bool {
    match visibility {
        Visibility::Inherited => true,
        Visibility::Restricted(within) => within.path.is_ident("self"),
        Visibility::Public(_) => false,
    }
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let value = attributes.iter().find_map(|attribute| {
        let pair = attribute.meta.require_name_value().ok()?;
        pair.path.is_ident("path").then_some(&pair.value)
    })?;
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
