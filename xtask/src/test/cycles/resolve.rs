use std::collections::HashSet;

use super::modules::{Id, Modules, Name};

/// What a path can lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Module(Id),
    /// An item, and the name behind it, as in `Type::method`.
    Item {
        module: Id,
        name: String,
        member: Option<String>,
    },
}

/// What `path` means in the module `from`. Nothing if it leads out of the crate.
pub(super) fn resolve(modules: &Modules, from: Id, path: &[String]) -> Vec<Target> {
    Resolver { modules, visited: HashSet::new() }.follow(from, path)
}

/// What `path` names as it is written in the module `from`: the last module on it, and the item behind
/// that, wherever the item is defined. What a module's own `use` items bring stands for what they name;
/// another module's aren't followed. Nothing if it leads out of the crate.
pub(super) fn written(modules: &Modules, from: Id, path: &[String]) -> Vec<Target> {
    let mut visited = HashSet::new();
    written_from(modules, from, path, &mut visited)
}

fn written_from(
    modules: &Modules,
    from: Id,
    path: &[String],
    visited: &mut HashSet<String>,
) -> Vec<Target> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let module = modules.get(from);
    let root = match first.as_str() {
        "crate" => Some(0),
        "self" => Some(from),
        "super" => module.parent,
        _ => module.children.get(first).copied(),
    };
    if let Some(root) = root {
        return below(modules, root, rest).into_iter().collect();
    }
    let mut found = Vec::new();
    if !visited.insert(first.clone()) {
        return found;
    }
    let names = module.names.get(first).map_or(&[][..], Vec::as_slice);
    let globs = module.globs.iter().map(|glob| [glob, std::slice::from_ref(first)].concat());
    let brought = names.iter().filter_map(|name| match name {
        Name::Import(path) => Some(path.clone()),
        Name::Value | Name::Type => None,
    });
    let brought: Vec<_> = if names.is_empty() { globs.collect() } else { brought.collect() };
    for path in brought {
        found.extend(written_from(modules, from, &[&path, rest].concat(), visited));
    }
    found
}

/// What `path` names from the module `id` on.
fn below(modules: &Modules, id: Id, path: &[String]) -> Option<Target> {
    let Some((name, rest)) = path.split_first() else { return Some(Target::Module(id)) };
    let module = modules.get(id);
    match module.children.get(name).copied().or(module.parent.filter(|_| name == "super")) {
        Some(next) => below(modules, next, rest),
        // What a macro makes is unknown.
        None if resolve(modules, id, std::slice::from_ref(name)).is_empty() => None,
        None => {
            Some(Target::Item { module: id, name: name.clone(), member: rest.first().cloned() })
        }
    }
}

/// Looks names up, each but once in each module: imports may go round in circles.
struct Resolver<'a> {
    modules: &'a Modules,
    visited: HashSet<(Id, String)>,
}

impl Resolver<'_> {
    fn follow(&mut self, from: Id, path: &[String]) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(from)],
            _ => self.step(Target::Module(from), first),
        };
        for name in rest {
            targets = targets.into_iter().flat_map(|target| self.step(target, name)).collect();
        }
        targets
    }

    fn step(&mut self, target: Target, next: &str) -> Vec<Target> {
        match target {
            Target::Module(id) if next == "super" => {
                self.modules.get(id).parent.map(Target::Module).into_iter().collect()
            }
            Target::Module(id) => self.look_up(id, next),
            Target::Item { module, name, .. } if !self.is_type(module, &name) => Vec::new(),
            Target::Item { module, name, member } => {
                let member = member.or_else(|| Some(next.to_owned()));
                vec![Target::Item { module, name, member }]
            }
        }
    }

    fn look_up(&mut self, id: Id, name: &str) -> Vec<Target> {
        if !self.visited.insert((id, name.to_owned())) {
            return Vec::new();
        }
        let module = self.modules.get(id);
        let mut found = Vec::new();
        found.extend(module.children.get(name).copied().map(Target::Module));
        for what in module.names.get(name).into_iter().flatten() {
            match what {
                Name::Value | Name::Type => {
                    let name = name.to_owned();
                    found.push(Target::Item { module: id, name, member: None });
                }
                Name::Import(path) => found.extend(self.follow(id, path)),
            }
        }
        if found.is_empty() {
            for path in &module.globs {
                for target in self.follow(id, path) {
                    found.extend(self.step(target, name));
                }
            }
        }
        found
    }

    fn is_type(&self, module: Id, name: &str) -> bool {
        let names = self.modules.get(module).names.get(name);
        names.into_iter().flatten().any(|what| matches!(what, Name::Type))
    }
}
