use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Attribute, Ident, Item, UseTree, Visibility};

/// A module's place in [`Modules`].
pub(super) type Id = usize;

/// A crate's modules, as its sources declare them, without those of tests. The first is the root.
pub(super) struct Modules(Vec<Module>);

/// One module: a file, or a part of one.
pub(super) struct Module {
    /// The file that it stands in.
    pub(super) file: PathBuf,
    pub(super) parent: Option<Id>,
    pub(super) children: HashMap<String, Id>,
    /// What else a name stands for here: a value and a type may share one.
    pub(super) names: HashMap<String, Vec<Name>>,
    /// The paths of `use path::*`.
    pub(super) globs: Vec<Vec<String>>,
    pub(super) items: Vec<Item>,
}

pub(super) enum Name {
    /// A function, constant or macro that is defined here.
    Value,
    /// A type or trait that is defined here: paths may lead on to its members.
    Type,
    /// What `use` brings here from this path.
    Import(Vec<String>),
}

/// One path of a `use` item, whose groups are taken apart.
pub(super) struct Import {
    pub(super) path: Vec<String>,
    pub(super) kind: ImportKind,
}

pub(super) enum ImportKind {
    As(String),
    Glob,
}

impl Modules {
    /// Reads a crate from its root file on.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut modules = Self(Vec::new());
        modules.add_file(root, None)?;
        Ok(modules)
    }

    /// The modules with their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Module)> {
        self.0.iter().enumerate()
    }

    pub(super) fn get(&self, id: Id) -> &Module {
        &self.0[id]
    }

    /// Whether `id` is `ancestor` or below it.
    pub(super) fn is_within(&self, id: Id, ancestor: Id) -> bool {
        id == ancestor || self.get(id).parent.is_some_and(|parent| self.is_within(parent, ancestor))
    }

    fn add_file(&mut self, file: &Path, parent: Option<Id>) -> Result<Id> {
        let text =
            fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let parsed =
            syn::parse_file(&text).with_context(|| format!("parsing {}", file.display()))?;
        self.add(file, parent, parsed.items, &folder_of_children(file, parent.is_none()))
    }

    /// Adds a module whose children have their files in `folder`.
    fn add(
        &mut self,
        file: &Path,
        parent: Option<Id>,
        items: Vec<Item>,
        folder: &Path,
    ) -> Result<Id> {
        let id = self.0.len();
        self.0.push(Module {
            file: file.to_owned(),
            parent,
            children: HashMap::new(),
            names: HashMap::new(),
            globs: Vec::new(),
            items: Vec::new(),
        });
        for item in items.into_iter().filter(|item| !is_for_tests(attributes(item))) {
            self.add_item(id, item, folder)?;
        }
        Ok(id)
    }

    fn add_item(&mut self, id: Id, item: Item, folder: &Path) -> Result<()> {
        match item {
            Item::Mod(module) => {
                let name = module.ident.to_string();
                let child = if let Some((_, items)) = module.content {
                    let file = self.0[id].file.clone();
                    self.add(&file, Some(id), items, &folder.join(&name))?
                } else {
                    let beside = folder.join(&name).with_extension("rs");
                    let inside = folder.join(&name).join("mod.rs");
                    let file = if beside.exists() { beside } else { inside };
                    self.add_file(&file, Some(id))?
                };
                self.0[id].children.insert(name, child);
                return Ok(());
            }
            Item::Use(ref used) => {
                for Import { path, kind } in imports(&used.tree) {
                    match kind {
                        ImportKind::Glob => self.0[id].globs.push(path),
                        ImportKind::As(name) => self.define(id, name, Name::Import(path)),
                    }
                }
            }
            ref item => {
                if let Some((name, kind)) = defined(item) {
                    self.define(id, name.to_string(), kind);
                }
            }
        }
        self.0[id].items.push(item);
        Ok(())
    }

    fn define(&mut self, id: Id, name: String, what: Name) {
        self.0[id].names.entry(name).or_default().push(what);
    }
}

/// Where the files of a file's child modules are.
fn folder_of_children(file: &Path, is_root: bool) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    match file.file_stem() {
        Some(stem) if !is_root && stem != "mod" => folder.join(stem),
        _ => folder.to_owned(),
    }
}

/// Whether other modules can name the items of a `use` item.
pub(super) fn is_public(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

/// Each path that a `use` item names.
pub(super) fn imports(tree: &UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    collect_imports(tree, &mut Vec::new(), &mut found);
    found
}

fn collect_imports(tree: &UseTree, above: &mut Vec<String>, found: &mut Vec<Import>) {
    let mut add = |name: &Ident, kind: Option<ImportKind>| {
        let mut path = above.clone();
        // `use a::b::{self}` is `use a::b`.
        if name != "self" || path.is_empty() {
            path.push(name.to_string());
        }
        let last = path.last().cloned().unwrap_or_default();
        found.push(Import { path, kind: kind.unwrap_or(ImportKind::As(last)) });
    };
    match tree {
        UseTree::Name(name) => add(&name.ident, None),
        UseTree::Rename(new) => add(&new.ident, Some(ImportKind::As(new.rename.to_string()))),
        UseTree::Glob(_) => found.push(Import { path: above.clone(), kind: ImportKind::Glob }),
        UseTree::Path(path) => {
            above.push(path.ident.to_string());
            collect_imports(&path.tree, above, found);
            above.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect_imports(tree, above, found);
            }
        }
    }
}

/// The name that `item` defines.
fn defined(item: &Item) -> Option<(&Ident, Name)> {
    Some(match item {
        Item::Const(item) => (&item.ident, Name::Value),
        Item::Enum(item) => (&item.ident, Name::Type),
        Item::Fn(item) => (&item.sig.ident, Name::Value),
        Item::Macro(item) => (item.ident.as_ref()?, Name::Value),
        Item::Static(item) => (&item.ident, Name::Value),
        Item::Struct(item) => (&item.ident, Name::Type),
        Item::Trait(item) => (&item.ident, Name::Type),
        Item::Type(item) => (&item.ident, Name::Type),
        Item::Union(item) => (&item.ident, Name::Type),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether what has these attributes is only there when tests are built.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let condition = attribute.meta.require_list().map(|list| list.tokens.to_string());
        let condition = condition.unwrap_or_default();
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == "test") && !condition.contains("not")
    })
}
