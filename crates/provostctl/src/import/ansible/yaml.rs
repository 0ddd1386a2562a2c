//! An inventory in Ansible's YAML form, and what `ansible-inventory --list` prints.

use serde_json::{Map, Value};

use super::found::{Ansible, Vars};
use crate::import::unreadable::Unreadable;
use crate::import::yaml;

impl Ansible {
    pub(super) fn read_yaml(&mut self, text: &str) -> Result<(), Unreadable> {
        let top = yaml::read(text)?;
        let Value::Object(groups) = top else {
            return Err(whole("expected groups, such as `all:`".to_owned()));
        };
        if groups.contains_key("plugin") {
            let what = "it configures an inventory plugin; import what that makes of it: \
                        ansible-inventory -i FILE --list --yaml";
            return Err(whole(what.to_owned()));
        }
        for (name, group) in &groups {
            match name.as_str() {
                "_meta" => self.meta(group),
                _ => self.group(name, group),
            }
            .map_err(whole)?;
        }
        Ok(())
    }

    fn group(&mut self, name: &str, group: &Value) -> Result<(), String> {
        self.groups.entry(name.to_owned()).or_default();
        let empty = Map::new();
        let keys = match group {
            Value::Null => &empty,
            Value::Object(keys) => keys,
            _ => return Err(format!("the group {name} is no table")),
        };
        for (key, value) in keys {
            match (key.as_str(), value) {
                (_, Value::Null) => {}
                ("hosts", Value::String(pattern)) => self.add_hosts(name, pattern, &Vars::new())?,
                ("hosts", Value::Array(list)) => {
                    for pattern in list.iter().filter_map(Value::as_str) {
                        self.add_hosts(name, pattern, &Vars::new())?;
                    }
                }
                ("hosts", Value::Object(hosts)) => {
                    for (pattern, vars) in hosts {
                        self.add_hosts(name, pattern, &table(vars))?;
                    }
                }
                ("vars", Value::Object(_)) => {
                    self.groups.entry(name.to_owned()).or_default().vars.extend(table(value));
                }
                ("children", Value::Object(children)) => {
                    for (child, group) in children {
                        self.child(name, child);
                        self.group(child, group)?;
                    }
                }
                ("children", Value::Array(children)) => {
                    children
                        .iter()
                        .filter_map(Value::as_str)
                        .for_each(|child| self.child(name, child));
                }
                _ => self.omitted.add(
                    key,
                    "a group has hosts, vars and children; variables belong under vars",
                    &format!("the group {name}"),
                ),
            }
        }
        Ok(())
    }

    fn child(&mut self, group: &str, child: &str) {
        self.groups.entry(child.to_owned()).or_default();
        self.groups.entry(group.to_owned()).or_default().children.insert(child.to_owned());
    }

    /// The variables of the hosts, in what `--list` prints.
    fn meta(&mut self, meta: &Value) -> Result<(), String> {
        let hosts = meta.get("hostvars").and_then(Value::as_object);
        for (host, vars) in hosts.into_iter().flatten() {
            self.hosts.entry(host.clone()).or_default().extend(table(vars));
        }
        Ok(())
    }
}

fn table(value: &Value) -> Vars {
    let pairs = value.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn whole(what: String) -> Unreadable {
    Unreadable { line: 1, what }
}
