use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::modules::{Id, ImportKind, Modules, imports, is_for_tests, is_public};
use super::resolve::{Target, resolve, written};

/// The names by which the first file imports from the second.
pub(super) type Arrows = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// A type: the module that defines it, and its name.
type TypeName = (Id, String);

/// Where the methods of each type are defined.
type Methods = HashMap<(TypeName, String), Vec<Id>>;

/// Which file of a crate imports which.
pub(super) fn of(modules: &Modules) -> Arrows {
    let methods = methods(modules);
    let mut arrows = Arrows::new();
    for (module, content) in modules.iter() {
        let mut visitor =
            Visitor { modules, methods: &methods, module, self_type: None, arrows: &mut arrows };
        for item in &content.items {
            visitor.visit_item(item);
        }
    }
    arrows
}

/// The methods of all inherent `impl` blocks, which may stand in other files than their type.
fn methods(modules: &Modules) -> Methods {
    let mut methods = Methods::new();
    for (id, module) in modules.iter() {
        for item in &module.items {
            let syn::Item::Impl(block) = item else { continue };
            let Some(of) = type_name(modules, id, &block.self_ty) else { continue };
            for item in &block.items {
                if let (syn::ImplItem::Fn(method), None) = (item, &block.trait_) {
                    let method = method.sig.ident.to_string();
                    methods.entry((of.clone(), method)).or_default().push(id);
                }
            }
        }
    }
    methods
}

/// The type of this crate that `of` names.
fn type_name(modules: &Modules, from: Id, of: &syn::Type) -> Option<TypeName> {
    let syn::Type::Path(of) = of else { return None };
    resolve(modules, from, &segments(&of.path)).into_iter().find_map(|target| match target {
        Target::Item { module, name, .. } => Some((module, name)),
        Target::Module(_) => None,
    })
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// Goes through the items of one module.
struct Visitor<'a> {
    modules: &'a Modules,
    methods: &'a Methods,
    module: Id,
    /// What `Self` stands for.
    self_type: Option<TypeName>,
    arrows: &'a mut Arrows,
}

impl Visitor<'_> {
    fn add(&mut self, to: Id, name: String) {
        let (from, to) = (&self.modules.get(self.module).file, &self.modules.get(to).file);
        if from != to {
            self.arrows.entry((from.clone(), to.clone())).or_default().insert(name);
        }
    }

    /// Adds what a path names, and a method of a type where that is defined.
    fn add_path(&mut self, path: &[String]) {
        if let (Some(first), Some(method)) = (path.first(), path.get(1))
            && first == "Self"
        {
            return self.add_method(method);
        }
        for target in resolve(self.modules, self.module, path) {
            if let Target::Item { module, name, member: Some(member) } = target {
                self.add_method_of((module, name), &member);
            }
        }
        for target in written(self.modules, self.module, path) {
            // A module alone counts where it is imported, or when an item of it is named.
            if let Target::Item { module, name, .. } = target {
                self.add(module, name);
            }
        }
    }

    /// Adds a method that is called on `self`.
    fn add_method(&mut self, method: &str) {
        if let Some(of) = self.self_type.clone() {
            self.add_method_of(of, method);
        }
    }

    fn add_method_of(&mut self, of: TypeName, method: &str) {
        let name = format!("{}::{method}", of.1);
        let methods = self.methods;
        for place in methods.get(&(of, method.to_owned())).into_iter().flatten() {
            self.add(*place, name.clone());
        }
    }

    /// Adds the paths in the arguments of a macro or an attribute, whatever their grammar.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(name) => {
                    let mut path = vec![name.to_string()];
                    while let Some(name) = name_after(&tokens[at..], "::") {
                        path.push(name);
                        at += 3;
                    }
                    match name_after(&tokens[at..], ".") {
                        Some(method) if path == ["self"] => self.add_method(&method),
                        _ if at > 1 && is_punct(&tokens[at - 2], '.') => {} // a field or a method
                        _ if may_be_variable(&path) && !is_group(tokens.get(at)) => {}
                        _ => self.add_path(&path),
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// Whether a path outside a call may name a local variable instead of an item.
fn may_be_variable(path: &[String]) -> bool {
    matches!(path, [name] if name.starts_with(|first: char| !first.is_uppercase()))
}

/// The name at the beginning of `tokens`, behind `separator`.
fn name_after(tokens: &[TokenTree], separator: &str) -> Option<String> {
    let (before, rest) = tokens.split_at_checked(separator.len())?;
    let fits = before.iter().zip(separator.chars()).all(|(token, c)| is_punct(token, c));
    match rest.first() {
        Some(TokenTree::Ident(name)) if fits => Some(name.to_string()),
        _ => None,
    }
}

fn is_punct(token: &TokenTree, what: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == what)
}

fn is_group(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(_)))
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for import in imports(&item.tree) {
            // The names that a glob brings count where they are used.
            let ImportKind::As(_) = import.kind else { continue };
            let last = import.path.last().cloned().unwrap_or_default();
            for target in written(self.modules, self.module, &import.path) {
                let (module, name) = match target {
                    Target::Module(module) => (module, last.clone()),
                    Target::Item { module, name, .. } => (module, name),
                };
                let re_export = is_public(&item.vis) && self.modules.is_within(module, self.module);
                if !re_export {
                    self.add(module, name);
                }
            }
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let outer = self.self_type.take();
        self.self_type = type_name(self.modules, self.module, &block.self_ty);
        visit::visit_item_impl(self, block);
        self.self_type = outer;
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if !is_for_tests(&method.attrs) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let syn::Expr::Path(receiver) = &*call.receiver
            && receiver.path.is_ident("self")
        {
            self.add_method(&call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            self.add_path(&segments(&function.path));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_path(&mut self, expression: &'ast syn::ExprPath) {
        if !may_be_variable(&segments(&expression.path)) {
            visit::visit_expr_path(self, expression);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(&segments(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
        }
    }

    // `pub(in path)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
