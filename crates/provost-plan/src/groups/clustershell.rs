use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Groups, by_command};

/// Where ClusterShell's configuration is, if `CLUSTERSHELL_CFGDIR` doesn't say so (groups.conf(5)).
const FOLDER: &str = "/etc/clustershell";
/// The source of `groups.d/local.cfg`, and of groups without a source if groups.conf names no other.
const LOCAL: &str = "local";

/// A file of groups: groups.d/*.yaml.
type Yaml = BTreeMap<String, BTreeMap<String, Option<Definition>>>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Definition {
    One(String),
    Many(Vec<String>),
}

impl Groups {
    /// The groups of ClusterShell's static files, if it is there: groups.d/local.cfg and
    /// groups.d/*.yaml. Its other sources are commands, and aren't run.
    pub fn of_clustershell() -> Self {
        let folder = env::var_os("CLUSTERSHELL_CFGDIR").filter(|folder| !folder.is_empty());
        Self::in_folder(&folder.map_or_else(|| FOLDER.into(), PathBuf::from))
    }

    fn in_folder(folder: &Path) -> Self {
        let mut groups = Self { defaults: vec![LOCAL.to_owned()], ..Self::default() };
        if let Err(error) = groups.read(folder) {
            groups.broken = Some(format!("correct the file of ClusterShell's groups: {error}"));
        }
        groups
    }

    fn read(&mut self, folder: &Path) -> Result<(), String> {
        let conf = text(&folder.join("groups.conf"))?.unwrap_or_default();
        if let Some(default) = main_value(&conf, "default") {
            self.defaults = vec![default.to_owned()];
        }
        let autodir = main_value(&conf, "autodir").unwrap_or("$CFGDIR/groups.d");
        let folder_text = folder.to_string_lossy();
        for autodir in autodir.split_whitespace() {
            let autodir = autodir.trim_matches(['"', '\'']).replace("$CFGDIR", &folder_text);
            self.read_folder(Path::new(&autodir))?;
        }
        // As the `local` of ClusterShell's own groups.conf: the old file, if it is there.
        let old = text(&folder.join("groups"))?;
        let local = match old {
            Some(old) => Some(old),
            None => text(&folder.join("groups.d/local.cfg"))?,
        };
        if let Some(local) = local {
            let entry = |line: &str| {
                let (name, nodes) = line.split_once(':')?;
                let is_group = !name.is_empty() && !name.starts_with('#');
                is_group.then(|| (name.trim().to_owned(), nodes.trim().to_owned()))
            };
            self.add(LOCAL, local.lines().filter_map(entry));
        }
        let default = &self.defaults[0];
        if !self.sources.contains_key(default) && !conf.is_empty() {
            self.unknown = Some(by_command("@GROUP"));
        }
        Ok(())
    }

    /// Reads all YAML files of a folder, in the order of their names.
    fn read_folder(&mut self, folder: &Path) -> Result<(), String> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        paths.sort();
        for path in paths {
            let content = text(&path)?.unwrap_or_default();
            let yaml: Option<Yaml> = serde_saphyr::from_str(&content)
                .map_err(|e| format!("{}: {}", path.display(), e.without_snippet()))?;
            for (source, groups) in yaml.unwrap_or_default() {
                let definition = |definition: Option<Definition>| match definition {
                    Some(Definition::One(one)) => one,
                    Some(Definition::Many(many)) => many.join(","),
                    None => String::new(),
                };
                let groups = groups.into_iter().map(|(name, nodes)| (name, definition(nodes)));
                self.add(&source, groups);
            }
        }
        Ok(())
    }

    fn add(&mut self, source: &str, groups: impl Iterator<Item = (String, String)>) {
        self.sources.entry(source.to_owned()).or_default().extend(groups);
    }
}

/// The most bytes of one.
const MOST: u64 = 16 << 20;

/// The file's text; none if there is no such file.
fn text(path: &Path) -> Result<Option<String>, String> {
    match provost_fs::read_given_text(path, MOST) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(|e| format!("{}: {e}", path.display())),
    }
}

/// The value of a key of the section `[Main]`.
fn main_value<'t>(conf: &'t str, key: &str) -> Option<&'t str> {
    let mut is_main = false;
    for line in conf.lines() {
        if let Some(section) = line.trim().strip_prefix('[') {
            is_main = section.trim_end_matches(']').trim() == "Main";
        } else if is_main
            && let Some((name, value)) = line.split_once(['=', ':'])
            && name.trim() == key
        {
            return Some(value.trim());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::{Expression, NodesError, fold};

    fn named(groups: &Groups, text: &str) -> Result<String, NodesError> {
        let mut resolver = groups.resolver();
        text.parse::<Expression>()?.nodes(|set| resolver.nodes(set)).map(|names| fold(&names))
    }

    /// Groups of files in a configuration folder.
    fn groups(files: &[(&str, &str)]) -> Groups {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Groups::in_folder(folder.path())
    }

    const YAML: &str = "
roles:
    adm: 'mgmt[1-2]'
    compute: 'node[1-8]'
    gpu: ['node1', 'node[2-3]']
    cpu: '@compute!@gpu'
    storage: '@lustre:oss'
    empty:
lustre:
    oss: 'oss[0-1]'
    gpu: 'x'
";
    const LOCAL: &str = "# nodes\nadm: example0\noss: example4 example5\nall: example[4-6]\n";

    #[test]
    fn the_static_files_are_read_as_clustershell_does() {
        let conf =
            "[Main]\ndefault: roles\nautodir: /nonexistent $CFGDIR/groups.d\n[local]\nmap: x\n";
        let groups = groups(&[
            ("groups.conf", conf),
            ("groups.d/cluster.yaml", YAML),
            ("groups.d/local.cfg", LOCAL),
            ("groups.d/other.yaml.example", "- ["),
        ]);
        let named = |text: &str| named(&groups, text).unwrap();
        assert_eq!(named("@cpu"), "node[4-8]");
        assert_eq!(named("@storage,@roles:adm"), "mgmt[1-2],oss[0-1]");
        assert_eq!(named("@local:oss,@local:all!example6"), "example[4-5]");
        assert_eq!(named("@empty"), "");
        assert!(super::tests::named(&groups, "@all").is_err(), "not of the default source");
    }

    #[test]
    fn without_groups_conf_the_default_is_the_local_file() {
        let local = groups(&[("groups.d/local.cfg", LOCAL)]);
        assert_eq!(named(&local, "@oss").unwrap(), "example[4-5]");
        let old = groups(&[("groups.d/local.cfg", LOCAL), ("groups", "oss: old[1-2]\n")]);
        assert_eq!(named(&old, "@oss").unwrap(), "old[1-2]");
        assert!(named(&groups(&[]), "@oss").is_err());
    }

    #[test]
    fn a_file_that_is_wrong_is_named_where_a_group_is_missing() {
        let wrong = groups(&[("groups.d/a.yaml", "roles: [")]);
        let error = named(&wrong.with_site([("a".into(), "cn1".into())].into()), "@b").unwrap_err();
        assert!(error.hint().contains("groups.d/a.yaml: "), "{}", error.hint());
        let command = "[Main]\ndefault = slurm\n[slurm]\nmap = sinfo\n";
        let error = named(&groups(&[("groups.conf", command)]), "@up").unwrap_err();
        assert!(error.hint().contains("nodeset -e @GROUP | provostctl"), "{}", error.hint());
    }
}
