//! The environment of a node's scripts, by xCAT's names.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::notes::Notes;
use super::xcat::{Attributes, Xcat, is_method, names};

/// A node's variables, and the attributes that they come from.
const OF_NODES: [(&str, &str); 12] = [
    ("OSVER", "os"),
    ("ARCH", "arch"),
    ("PROFILE", "profile"),
    ("PROVMETHOD", "provmethod"),
    ("INSTALLNIC", "installnic"),
    ("PRIMARYNIC", "primarynic"),
    ("NODEROUTENAMES", "routenames"),
    ("MACADDRESS", "mac"),
    ("IPADDR", "ip"),
    ("SYSLOG", "syslog"),
    ("CFGMGR", "cfgmgr"),
    ("CFGSERVER", "cfgserver"),
];

/// Attributes that lsdef shows as `nicips.eth0`, and the environment has as `NICIPS=eth0!…`.
const NICS: [&str; 7] = [
    "nicips",
    "nictypes",
    "nicnetworks",
    "nichostnamesuffixes",
    "nicextraparams",
    "nicdevices",
    "niccustomscripts",
];

/// Variables that xCAT makes from other tables and files.
const NETWORKS: &str = "NETWORKS_LINES, NETWORKS_LINEn, NETMASK, GATEWAY: the networks table";
const PACKAGES: &str = "OSPKGS, OTHERPKGSn, OTHERPKGS_INDEX, ENVLISTn: the files that an image's pkglist and \
     otherpkglist name; NOSYNCFILES: its synclists";
const OTHERS: [&str; 1] = [
    "ZONENAME, MONSERVER, MONMASTER, SERVICEGROUP, CFGCLIENTLIST, VLANID, MACMAC and the like: what zones, \
     monitoring, service pools, vlans and kits set, and the mac table as it is",
];

/// Builds environments, and notes what can't be carried over.
pub(super) struct Environments<'a> {
    xcat: &'a Xcat,
    notes: &'a mut Notes,
}

impl<'a> Environments<'a> {
    pub(super) fn new(xcat: &'a Xcat, notes: &'a mut Notes) -> Self {
        Self { xcat, notes }
    }

    /// That of all nodes.
    pub(super) fn of_all(&mut self) -> BTreeMap<String, String> {
        let xcat = self.xcat;
        let mut env = BTreeMap::from([("UPDATENODE".to_owned(), "0".to_owned())]);
        for (key, value) in &xcat.site {
            let name = if key == "master" { "SITEMASTER".to_owned() } else { key.to_uppercase() };
            self.variable(&mut env, &name, value, &format!("site.{key}"));
        }
        if let Some(master) = xcat.site.get("master") {
            self.master(&mut env, master, None);
        }
        for (n, network) in (1..).zip(&xcat.networks) {
            // As xCAT's Postage.pm has it: the comments last, and without their text.
            let columns = network.iter().filter(|(column, _)| column != "comments");
            let columns: String =
                columns.map(|(column, value)| format!("{column}={value}||")).collect();
            env.insert(format!("NETWORKS_LINE{n}"), columns + "comments=");
            env.insert("NETWORKS_LINES".to_owned(), n.to_string());
        }
        let no = self.ssh_between().is_some_and(|groups| !groups.contains(&"ALLGROUPS"));
        let between = if no { "NO" } else { "YES" };
        env.insert("ENABLESSHBETWEENNODES".to_owned(), between.to_owned());
        env
    }

    /// That of the nodes of an image.
    pub(super) fn of_image(&mut self, name: &str) -> BTreeMap<String, String> {
        let image = &self.xcat.images[name];
        let mut env = BTreeMap::new();
        for (name, list, folder) in
            [("OSPKGDIR", "pkglist", "pkgdir"), ("OTHERPKGDIR", "otherpkglist", "otherpkgdir")]
        {
            if let Some(folder) = image.get(folder).filter(|_| image.contains_key(list)) {
                env.insert(name.to_owned(), folder.clone());
            }
        }
        env.extend(self.packages(image));
        let own = image.get("environvar").map(String::as_str).unwrap_or_default();
        for (variable, value) in own.split(',').filter_map(|item| item.split_once('=')) {
            self.variable(&mut env, variable.trim(), value, &format!("environvar of {name}"));
        }
        env
    }

    /// The package lists of an image, where they could be read.
    fn packages(&self, image: &Attributes) -> BTreeMap<String, String> {
        let lists = |name: &str| {
            let mut lists = PackageLists::default();
            let files = image.get(name).map(|files| names(files)).unwrap_or_default();
            files.iter().for_each(|file| lists.read(file, &self.xcat.lists, 0));
            lists
        };
        let mut env = BTreeMap::new();
        let system = lists("pkglist");
        if !system.all.concat().is_empty() {
            env.insert("OSPKGS".to_owned(), system.all.concat().join(","));
        }
        let others = lists("otherpkglist");
        for (n, packages) in (1..).zip(others.all.iter().filter(|packages| !packages.is_empty())) {
            env.insert(format!("OTHERPKGS{n}"), packages.join(","));
            env.insert("OTHERPKGS_INDEX".to_owned(), n.to_string());
        }
        env
    }

    /// That of one node.
    pub(super) fn of_node(&mut self, node: &str) -> BTreeMap<String, String> {
        let xcat = self.xcat;
        let groups = xcat.groups_of(node);
        let is_in = |name: &str| groups.iter().any(|group| group == name);
        // xCAT requires that every service node is in that group.
        let is_service = is_in("service");
        let kind = if is_service { "service" } else { "compute" };
        let mut env = BTreeMap::from([("NTYPE".to_owned(), kind.to_owned())]);
        env.insert("GROUP".to_owned(), groups.join(","));
        let mut has = |name: &str| {
            let from = format!("{name} of {node}");
            xcat.attribute(node, name).filter(|value| !self.is_pattern(value, &from))
        };
        let (master, nfsserver) = (has("xcatmaster"), has("nfsserver"));
        if let Some(master) = master {
            self.master(&mut env, &master, Some(node));
        }
        env.extend(nfsserver.map(|server| ("NFSSERVER".to_owned(), server)));
        for (name, attribute) in OF_NODES {
            if let Some(value) = xcat.attribute(node, attribute) {
                let value = if attribute == "mac" { mac_of(&value, node) } else { &value };
                self.variable(&mut env, name, value, &format!("{attribute} of {node}"));
            }
        }
        if let Some(state) = self.method(node) {
            env.insert("NODESETSTATE".to_owned(), state);
        }
        let between = self.ssh_between().filter(|groups| !groups.contains(&"NOGROUPS"));
        if is_service || between.is_some_and(|groups| groups.into_iter().any(is_in)) {
            env.insert("ENABLESSHBETWEENNODES".to_owned(), "YES".to_owned());
        }
        for name in xcat.attribute(node, "routenames").iter().flat_map(|routes| names(routes)) {
            if let Some(route) = xcat.routes.get(&name) {
                let of = |column: &str| route.get(column).cloned().unwrap_or_default();
                let value = ["net", "mask", "gateway", "ifname"].map(of).join(",");
                self.variable(&mut env, &format!("ROUTE_{name}"), &value, &format!("route {name}"));
            }
        }
        if let Some(defined) = xcat.defined.get(node) {
            nics(&mut env, defined);
        }
        env
    }

    /// Notes the variables that scripts may read and that aren't carried over.
    pub(super) fn note_missing(&mut self) {
        let has_routes = |node: &String| self.xcat.attribute(node, "routenames").is_some();
        let routes = self.xcat.routes.is_empty() && self.xcat.nodes().iter().any(has_routes);
        let routes =
            routes.then_some("ROUTE_NAME for each of a node's routenames: the routes table");
        let networks = Some(NETWORKS).filter(|_| self.xcat.networks.is_empty());
        let packages = Some(PACKAGES).filter(|_| self.xcat.lists.is_empty());
        for what in networks.into_iter().chain(packages).chain(OTHERS).chain(routes) {
            self.notes.add(format!(
                "{what}; set those that your scripts read as env of [defaults] or of a group"
            ));
        }
    }

    /// The management node of these nodes, and what follows from it.
    fn master(&mut self, env: &mut BTreeMap<String, String>, master: &str, of: Option<&str>) {
        env.insert("MASTER".to_owned(), master.to_owned());
        env.insert("NFSSERVER".to_owned(), master.to_owned());
        let is_address = |text: &str| text.parse::<IpAddr>().is_ok();
        let address = match is_address(master) {
            true => Some(master.to_owned()),
            false => self.xcat.attribute(master, "ip").filter(|ip| is_address(ip)),
        };
        if address.is_none() {
            let note =
                format!("MASTER_IP: the address of {master} is unknown; set it next to MASTER");
            self.notes.add(note);
        }
        // For one node the name is better than the address of all nodes.
        let address = address.or_else(|| of.map(|_| master.to_owned()));
        env.extend(address.map(|address| ("MASTER_IP".to_owned(), address)));
    }

    /// What site.sshbetweennodes names.
    fn ssh_between(&self) -> Option<BTreeSet<&str>> {
        let groups = self.xcat.site.get("sshbetweennodes").filter(|groups| !groups.is_empty())?;
        Some(groups.split(',').map(str::trim).collect())
    }

    /// How a node is provisioned: `install`, `netboot` or `statelite`.
    fn method(&self, node: &str) -> Option<String> {
        let method = self.xcat.attribute(node, "provmethod")?;
        let of_image = self.xcat.images.get(&method).and_then(|image| image.get("provmethod"));
        Some(of_image.unwrap_or(&method).clone()).filter(|method| is_method(method))
    }

    fn variable(
        &mut self,
        env: &mut BTreeMap<String, String>,
        name: &str,
        value: &str,
        from: &str,
    ) {
        let sound = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !sound || name.is_empty() {
            self.notes.add(format!("{from}: {name:?} can't be the name of a variable"));
        } else if !self.is_pattern(value, from) && !value.is_empty() {
            env.insert(name.to_owned(), value.to_owned());
        }
    }

    fn is_pattern(&mut self, value: &str, from: &str) -> bool {
        let is_pattern = value.starts_with('|') && value.ends_with('|') && value.len() > 1;
        if is_pattern {
            let note = format!("{from}: {value} is a pattern; set its value for each node");
            self.notes.add(note);
        }
        is_pattern
    }
}

/// Of several addresses, as `ADDRESS!NAME|ADDRESS`, the one of the node's own name.
fn mac_of<'a>(all: &'a str, node: &str) -> &'a str {
    let mut macs = all.split('|').map(|mac| mac.split_once('!').unwrap_or((mac, node)));
    macs.find(|(_, name)| *name == node).map_or(all, |(mac, _)| mac)
}

fn nics(env: &mut BTreeMap<String, String>, defined: &Attributes) {
    for nic in NICS {
        let prefix = format!("{nic}.");
        let of = |(name, value): (&String, &String)| {
            Some(format!("{}!{value}", name.strip_prefix(&prefix)?))
        };
        let values: Vec<String> = defined.iter().filter_map(of).collect();
        if !values.is_empty() {
            env.insert(nic.to_uppercase(), values.join(","));
        }
    }
}

/// The packages of lists as xCAT reads them.
struct PackageLists {
    /// Those that are installed together.
    all: Vec<Vec<String>>,
}

impl Default for PackageLists {
    fn default() -> Self {
        Self { all: vec![Vec::new()] }
    }
}

/// How deep lists may include each other.
const MOST_INCLUDES: usize = 10;

impl PackageLists {
    fn read(&mut self, file: &str, lists: &BTreeMap<String, String>, depth: usize) {
        for line in lists.get(file).map(String::as_str).unwrap_or_default().lines() {
            let line = line.trim();
            let marked = line.strip_prefix('#').and_then(|rest| rest.strip_suffix('#'));
            match marked {
                Some("NEW_INSTALL_LIST") => self.all.push(Vec::new()),
                Some(mark) if depth < MOST_INCLUDES => {
                    if let Some(file) = mark.strip_prefix("INCLUDE:") {
                        self.read(file, lists, depth + 1);
                    }
                }
                Some(_) => {}
                None if line.is_empty() || line.starts_with('#') => {}
                None => {
                    if let Some(last) = self.all.last_mut() {
                        last.push(line.to_owned());
                    }
                }
            }
        }
    }
}

/// The lists that a package list includes.
pub(super) fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("#INCLUDE:")?.strip_suffix('#'))
}
