//! Warewulf's `nodes.conf`: profiles, node groups, tags and network devices.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use provost_plan::nodes;
use serde_json::{Map, Value};

use super::inventory::{Env, Group, Inventory, Omitted};
use super::notes::Notes;
use super::unreadable::Unreadable;
use super::yaml;

/// The keys of a node or a profile that are carried over, and its remark.
const KNOWN: [&str; 6] =
    ["profiles", "nodegroups", "tags", "network devices", "primary network", "comment"];
/// The keys of a network device that are.
const KNOWN_OF_DEVICE: [&str; 11] = [
    "type",
    "device",
    "hwaddr",
    "ipaddr",
    "netmask",
    "ipaddr6",
    "ip6addr",
    "prefixlen6",
    "mtu",
    "primary",
    "tags",
];
/// Why the rest isn't.
const ELSEWHERE: &str = "it says how Warewulf boots the node, not what its scripts need";

type Table = Map<String, Value>;

/// What the file says.
#[derive(Default)]
pub(super) struct Warewulf {
    profiles: Table,
    nodes: Table,
    groups: Table,
}

impl Warewulf {
    pub(super) fn read(&mut self, text: &str) -> Result<(), Unreadable> {
        let whole = |what: &str| Unreadable { line: 1, what: what.to_owned() };
        let Value::Object(mut top) = yaml::read(text)? else {
            return Err(whole("expected `nodeprofiles:` and `nodes:`"));
        };
        if !top.contains_key("nodes") {
            return Err(whole("it has no `nodes:`"));
        }
        let mut take = |name: &str, to: &mut Table| {
            if let Some(Value::Object(table)) = top.remove(name) {
                to.extend(table);
            }
        };
        take("nodeprofiles", &mut self.profiles);
        take("nodes", &mut self.nodes);
        take("nodegroups", &mut self.groups);
        Ok(())
    }

    /// How many nodes there are.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// All of it, by Warewulf's rules: of several profiles the last one in the node's list counts, and
    /// the node counts more than any.
    pub(super) fn inventory(&self, notes: &mut Notes) -> Inventory {
        let mut omitted = Omitted::default();
        let mut inventory = Inventory::default();
        let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut node_groups = self.stanza(notes);
        for (node, own) in &self.nodes {
            let profiles = self.profiles_of(own, notes);
            let tables: Vec<&Value> =
                profiles.iter().filter_map(|name| self.profiles.get(name)).chain([own]).collect();
            let mut env = Env::new();
            for (table, of) in tables.iter().zip(profiles.iter().chain([node])) {
                env.extend(tags(table, of, &mut omitted));
            }
            env.extend(network(&tables, node, &mut omitted));
            inventory.nodes.insert(node.clone(), env);
            let mut own_groups = BTreeSet::new();
            for name in tables.iter().flat_map(|table| texts(table.get("nodegroups"))) {
                match name.strip_prefix('~') {
                    Some(name) => drop(own_groups.remove(name)),
                    None => drop(own_groups.insert(name)),
                }
            }
            for name in own_groups {
                node_groups.entry(name).or_default().insert(node.clone());
            }
            for profile in profiles {
                members.entry(profile).or_default().insert(node.clone());
            }
            self.leftovers(node, own, &mut omitted);
        }
        for (name, nodes) in node_groups.into_iter().filter(|(name, _)| name != "all") {
            // A profile of that name has its own nodes.
            let name =
                if self.profiles.contains_key(&name) { format!("{name}-nodes") } else { name };
            inventory.groups.push(Group { name, nodes, env: Env::new() });
        }
        for (name, profile) in &self.profiles {
            let nodes = members.remove(name).unwrap_or_default();
            let env = tags(profile, name, &mut Omitted::default());
            inventory.groups.push(Group { name: name.clone(), nodes, env });
            self.leftovers(name, profile, &mut omitted);
        }
        omitted.note(notes);
        notes.add(
            "overlays, and which scripts the nodes run: Warewulf has none; add postscripts to the sections"
                .to_owned(),
        );
        inventory
    }

    /// The groups of the file's own stanza.
    fn stanza(&self, notes: &mut Notes) -> BTreeMap<String, BTreeSet<String>> {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, members) in &self.groups {
            let group = groups.entry(name.clone()).or_default();
            for text in texts(Some(members)) {
                match nodes::expand(&text) {
                    Ok(names) => {
                        let (known, unknown): (Vec<_>, Vec<_>) =
                            names.into_iter().partition(|node| self.nodes.contains_key(node));
                        group.extend(known);
                        if !unknown.is_empty() {
                            let unknown = nodes::fold(&unknown);
                            notes.add(format!("{unknown} of the node group {name}: no such nodes"));
                        }
                    }
                    Err(e) => notes.add(format!("{text:?} of the node group {name}: {e}")),
                }
            }
        }
        groups
    }

    /// The profiles of a node, in the order in which they apply. A profile may name others, which
    /// come before it; `~NAME` takes one out.
    fn profiles_of(&self, table: &Value, notes: &mut Notes) -> Vec<String> {
        let mut profiles = Vec::new();
        self.add_profiles(table, &mut profiles, &mut Vec::new(), notes);
        profiles
    }

    fn add_profiles(
        &self,
        table: &Value,
        profiles: &mut Vec<String>,
        within: &mut Vec<String>,
        notes: &mut Notes,
    ) {
        for name in texts(table.get("profiles")) {
            if let Some(removed) = name.strip_prefix('~') {
                profiles.retain(|profile| profile != removed);
                continue;
            }
            let Some(profile) = self.profiles.get(&name) else {
                notes.add(format!("the profile {name}: nodes name it, and there is none"));
                continue;
            };
            // One that names itself in turn.
            if within.contains(&name) {
                continue;
            }
            within.push(name.clone());
            self.add_profiles(profile, profiles, within, notes);
            within.pop();
            profiles.retain(|known| *known != name);
            profiles.push(name);
        }
    }

    /// Notes what isn't carried over.
    fn leftovers(&self, of: &str, table: &Value, omitted: &mut Omitted) {
        let keys = |value: Option<&Value>| -> Vec<String> {
            let table = value.and_then(Value::as_object);
            table.into_iter().flat_map(|table| table.keys().cloned()).collect()
        };
        for name in keys(Some(table)).iter().filter(|name| !KNOWN.contains(&name.as_str())) {
            omitted.add(name, ELSEWHERE, of);
        }
        for (_, device) in
            table.get("network devices").and_then(Value::as_object).into_iter().flatten()
        {
            for name in keys(Some(device)) {
                let why = match name.as_str() {
                    "gateway" => "set the networks as NETWORKS_LINES, which confignetwork reads",
                    name if KNOWN_OF_DEVICE.contains(&name) => continue,
                    _ => "confignetwork has no such setting",
                };
                omitted.add(&format!("the {name} of network devices"), why, of);
            }
            for name in keys(device.get("tags")).iter().filter(|name| *name != "master") {
                let why = "confignetwork and setroute have settings of their own";
                omitted.add(&format!("the tag {name} of network devices"), why, of);
            }
        }
    }
}

/// The tags as variables.
fn tags(table: &Value, of: &str, omitted: &mut Omitted) -> Env {
    let mut env = Env::new();
    let tags = table.get("tags").and_then(Value::as_object);
    for (name, value) in tags.into_iter().flatten() {
        match text(value) {
            Some(value) => omitted.variable(&mut env, name, value, of),
            None => omitted.add(name, "it is no text but a list or a table", of),
        }
    }
    env
}

/// The network devices, each with what profiles and node say of it, as confignetwork reads them.
fn network(tables: &[&Value], node: &str, omitted: &mut Omitted) -> Env {
    let mut devices: BTreeMap<&str, BTreeMap<&str, &Value>> = BTreeMap::new();
    for table in tables {
        let all = table.get("network devices").and_then(Value::as_object);
        for (name, device) in all.into_iter().flatten() {
            let known = devices.entry(name.as_str()).or_default();
            known.extend(device.as_object().into_iter().flatten().map(|(k, v)| (k.as_str(), v)));
        }
    }
    let named = tables.iter().filter_map(|table| text(table.get("primary network")?)).next_back();
    let (mut lists, mut env) = (BTreeMap::<&str, Vec<String>>::new(), Env::new());
    let is_only = devices.len() == 1;
    for (name, device) in &devices {
        let get = |key: &str| device.get(key).and_then(|value| text(value)).filter(|t| is_set(t));
        let Some(nic) = get("device") else {
            if get("ipaddr").is_some() {
                omitted.add(
                    &format!("the address of the network device {name}"),
                    "it names no `device`",
                    node,
                );
            }
            continue;
        };
        let mut add =
            |list, value: String| lists.entry(list).or_default().push(format!("{nic}!{value}"));
        let v4 = get("ipaddr").map(|ip| with_prefix(ip, get("netmask").as_deref()));
        let v6 = get("ipaddr6").or_else(|| get("ip6addr")).map(|ip| match get("prefixlen6") {
            Some(length) if !ip.contains('/') => format!("{ip}/{length}"),
            _ => ip,
        });
        let addresses: Vec<String> = v4.iter().chain(&v6).cloned().collect();
        if !addresses.is_empty() {
            add("NICIPS", addresses.join("|"));
        }
        if let Some(kind) = get("type") {
            add("NICTYPES", kind.to_ascii_lowercase());
        }
        if let Some(mtu) = get("mtu") {
            add("NICEXTRAPARAMS", format!("mtu={mtu}"));
        }
        let is_primary = match &named {
            Some(primary) => primary == name,
            None => is_only || *name == "default" || get("primary").as_deref() == Some("true"),
        };
        if is_primary {
            env.insert("PRIMARYNIC".to_owned(), nic.clone());
            let address = v4.as_deref().and_then(|ip| ip.split('/').next()).map(str::to_owned);
            env.extend(address.map(|ip| ("IPADDR".to_owned(), ip)));
            env.extend(get("hwaddr").map(|mac| ("MACADDRESS".to_owned(), mac)));
        }
    }
    // Members name their bond; confignetwork wants it the other way round.
    let mut bonds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for device in devices.values() {
        let master = device.get("tags").and_then(|tags| text(tags.get("master")?));
        let nic = device.get("device").and_then(|value| text(value));
        if let (Some(master), Some(nic)) = (master, nic) {
            bonds.entry(master).or_default().push(nic);
        }
    }
    let bonds = bonds.into_iter().map(|(bond, nics)| format!("{bond}!{}", nics.join("|")));
    lists.entry("NICDEVICES").or_default().extend(bonds);
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    env.extend(lists.map(|(name, list)| (name.to_owned(), list.join(","))));
    env
}

/// An address with the length of its prefix, where the mask says it.
fn with_prefix(ip: String, mask: Option<&str>) -> String {
    let bits = mask.and_then(|mask| mask.parse::<Ipv4Addr>().ok()).map(u32::from);
    let length = bits.filter(|bits| bits.leading_ones() + bits.trailing_zeros() == 32);
    match length {
        Some(bits) if !ip.contains('/') => format!("{ip}/{}", bits.leading_ones()),
        _ => ip,
    }
}

/// What Warewulf writes for a value that a profile has and the node hasn't.
fn is_set(text: &str) -> bool {
    !["", "--", "UNDEF", "UNSET", "0.0.0.0"].contains(&text)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

/// The texts of a list, or of one text with commas.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(text).collect(),
        Some(Value::String(list)) => list.split(',').map(|one| one.trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}
