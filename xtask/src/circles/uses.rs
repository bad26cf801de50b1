//! Which files use names that other files of the crate define.
//!
//! A name counts where it is used: in a path, in a private `use`, and in the arguments of macros as far as they can be
//! read. A re-export uses nothing, nor does a method that is called on a value, nor what is compiled for tests alone.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Pat, Stmt, Token};

use super::resolve::{Target, resolve};
use super::tree::{FileId, ModuleId, Tree, attributes, is_private, leaves};
use super::untested::only_tested;

/// From a file to another one that defines what it uses: the names.
pub type Edges = BTreeMap<(FileId, FileId), BTreeSet<String>>;

pub fn edges(mut tree: Tree) -> Edges {
    import_within_functions(&mut tree);
    let mut edges = Edges::new();
    for module in 0..tree.modules.len() {
        for item in &tree.modules[module].items {
            let mut reader = Reader {
                tree: &tree,
                module,
                locals: BTreeSet::new(),
                edges: &mut edges,
            };
            reader.visit_item(item);
        }
    }
    edges
}

/// An import within a function is read as if it stood in the module around it.
fn import_within_functions(tree: &mut Tree) {
    #[derive(Default)]
    struct Found(Vec<syn::UseTree>);
    impl<'ast> Visit<'ast> for Found {
        fn visit_stmt(&mut self, statement: &'ast Stmt) {
            if let Stmt::Item(Item::Use(import)) = statement {
                self.0.push(import.tree.clone());
            }
            visit::visit_stmt(self, statement);
        }
    }
    for module in 0..tree.modules.len() {
        let mut found = Found::default();
        for item in &tree.modules[module].items {
            found.visit_item(item);
        }
        for import in found.0 {
            tree.add_imports(module, &import, &mut Vec::new(), true);
        }
    }
}

struct Reader<'a> {
    tree: &'a Tree,
    module: ModuleId,
    /// Variables of the function that is being read.
    locals: BTreeSet<String>,
    edges: &'a mut Edges,
}

impl Reader<'_> {
    fn file(&self) -> FileId {
        self.tree.modules[self.module].file
    }

    fn uses(&mut self, path: &[String]) -> bool {
        let mut known = false;
        for target in resolve(self.tree, self.module, path) {
            match target {
                Target::Item { file, name, .. } => {
                    self.add(file, &name);
                    known = true;
                }
                Target::Module(_) => known = true,
                Target::External => {}
            }
        }
        known
    }

    fn add(&mut self, file: FileId, name: &str) {
        let from = self.file();
        if from != file {
            let names = self.edges.entry((from, file)).or_default();
            names.insert(name.to_owned());
        }
    }

    fn uses_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter();
            let segments: Vec<String> = segments
                .map(|segment| segment.ident.unraw().to_string())
                .collect();
            self.uses(&segments);
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.contains(name)
    }

    /// Reads a function whose variables hide the module's names.
    fn within(&mut self, locals: BTreeSet<String>, read: impl FnOnce(&mut Self)) {
        let outside = self.locals.clone();
        self.locals.extend(locals);
        read(self);
        self.locals = outside;
    }

    /// Expressions or statements or items, or else every run of names in them.
    fn tokens(&mut self, tokens: &TokenStream) {
        if let Ok(file) = syn::parse2::<syn::File>(tokens.clone())
            && !file.items.is_empty()
        {
            file.items.iter().for_each(|item| self.visit_item(item));
            return;
        }
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(expressions) = syn::parse::Parser::parse2(list, tokens.clone()) {
            expressions.iter().for_each(|expr| self.visit_expr(expr));
        } else if let Ok(statements) =
            syn::parse::Parser::parse2(Block::parse_within, tokens.clone())
        {
            statements.iter().for_each(|stmt| self.visit_stmt(stmt));
        } else {
            self.runs_of_names(tokens);
        }
    }

    /// Names parted by `::` in tokens that follow a grammar of their macro.
    fn runs_of_names(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let punct = |place: usize| match tokens.get(place) {
            Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
            _ => None,
        };
        let mut place = 0;
        while place < tokens.len() {
            match &tokens[place] {
                TokenTree::Group(group) => self.runs_of_names(&group.stream()),
                TokenTree::Ident(first) => {
                    let start = place;
                    let mut path = vec![first.unraw().to_string()];
                    while punct(place + 1) == Some(':')
                        && punct(place + 2) == Some(':')
                        && let Some(TokenTree::Ident(next)) = tokens.get(place + 3)
                    {
                        path.push(next.unraw().to_string());
                        place += 3;
                    }
                    let before = start.checked_sub(1).and_then(punct);
                    let argument = before == Some('$') && path[0] != "crate";
                    let field = matches!(before, Some('.' | '\''))
                        || (path.len() == 1
                            && punct(place + 1) == Some(':')
                            && punct(place + 2) != Some(':'));
                    let local = path.len() == 1 && self.is_local(&path[0]);
                    if !(argument || field || local) {
                        self.uses(&path);
                    }
                }
                _ => {}
            }
            place += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !only_tested(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        if is_private(&import.vis) && import.leading_colon.is_none() {
            for leaf in leaves(&import.tree, &mut Vec::new()) {
                if leaf.name.is_some() {
                    self.uses(&leaf.path);
                }
            }
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let mut names = Variables::default();
        names.visit_item_fn(function);
        self.within(names.0, |reader| visit::visit_item_fn(reader, function));
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !only_tested(attributes) {
            let mut names = Variables::default();
            names.visit_impl_item(item);
            self.within(names.0, |reader| visit::visit_impl_item(reader, item));
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        let mut names = Variables::default();
        names.visit_trait_item(item);
        self.within(names.0, |reader| visit::visit_trait_item(reader, item));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !only_tested(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !only_tested(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !only_tested(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !only_tested(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !only_tested(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if !only_tested(&block.attrs) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let name = path.path.get_ident().map(|ident| ident.unraw().to_string());
        if !name.is_some_and(|name| self.is_local(&name)) {
            visit::visit_expr_path(self, path);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.unraw().to_string();
        if is_constant(&name) && pattern.subpat.is_none() {
            self.uses(&[name]);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.uses_path(path);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let path: Vec<String> = call
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.unraw().to_string())
            .collect();
        if !self.uses(&path)
            && let [name] = &path[..]
            && let Some(files) = self.tree.macros.get(name)
            && !files.contains(&self.file())
        {
            for file in files.clone() {
                self.add(file, name);
            }
        }
        self.tokens(&call.tokens);
    }

    /// The rules of a macro: names in them are taken where it is defined, as far as they mean something there.
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if item.ident.is_some() {
            for rule in item.mac.tokens.clone() {
                if let TokenTree::Group(group) = rule
                    && group.delimiter() == Delimiter::Brace
                {
                    self.runs_of_names(&group.stream());
                }
            }
        } else {
            visit::visit_item_macro(self, item);
        }
    }
}

/// The variables that patterns bind; one that begins with a capital is a constant instead.
#[derive(Default)]
struct Variables(BTreeSet<String>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Ident(variable) = pattern {
            let name = variable.ident.unraw().to_string();
            if !is_constant(&name) {
                self.0.insert(name);
            }
        }
        visit::visit_pat(self, pattern);
    }
}

fn is_constant(name: &str) -> bool {
    name.starts_with(|first: char| first.is_uppercase())
}
