//! `provostctl import xcat` from what xCAT hands its nodes, from its own commands, and beside it.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn provostctl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provostctl"));
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    command.args(["import", "xcat"]).args(args).current_dir(folder).env("PATH", path);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The file of a node of the group `group`, as xCAT writes it, with `more` variables.
fn handed(node: &str, group: usize, n: usize, more: &[(&str, String)]) -> String {
    let mut text =
        "## begin\nSITEMASTER='10.0.0.1'\nexport SITEMASTER\nDOMAIN=cluster\nexport DOMAIN\n\
                    PATH=`dirname $0`:$PATH\nexport PATH\nNOTE=''\nexport NOTE\n"
            .to_owned();
    let line = "netname=a||net=10.0.0.0||mask=255.255.0.0||gateway=<xcatmaster>";
    let of_node = [
        ("NODE", node.to_owned()),
        ("GROUP", format!("rack{group},all")),
        ("IPADDR", format!("10.0.{}.{}", n / 250, n % 250 + 1)),
        ("MACADDRESS", format!("52:54:00:00:{:02x}:{:02x}", n / 256, n % 256)),
        ("NETWORKS_LINES", "1".to_owned()),
        ("NETWORKS_LINE1", line.to_owned()),
        ("OSPKGS", "bash,munge".to_owned()),
        ("RACK", format!("r{group}")),
    ];
    for (name, value) in of_node.iter().chain(more) {
        let _ = write!(text, "{name}='{value}'\nexport {name}\n");
    }
    text + &format!(
        "# postscripts-start-here\n# defaults-postscripts-start-here\nsyslog\nremoteshell\n\
         # defaults-postscripts-end-here\n# osimage-postscripts-start-here\nimaged\n\
         # osimage-postscripts-end-here\n# node-postscripts-start-here\nsetup{group} a b\n\
         # node-postscripts-end-here\n# postscripts-end-here\n# postbootscripts-start-here\n\
         # defaults-postbootscripts-start-here\notherpkgs\n# defaults-postbootscripts-end-here\n\
         # postbootscripts-end-here\n"
    )
}

/// 500 nodes of four groups that differ in name and address alone, and 50 with addresses of their own.
fn a_site(folder: &Path) {
    let all = folder.join("mypostscripts");
    fs::create_dir(&all).unwrap();
    for n in 0..550 {
        let node = format!("cn{n:03}");
        let own = [("NICIPS", format!("ib0!10.1.{}.{}", n / 250, n % 250 + 1))];
        let more = if n < 500 { &own[..0] } else { &own[..] };
        let file = handed(&node, n % 4, n, more);
        fs::write(all.join(format!("mypostscript.{node}")), file).unwrap();
    }
}

#[test]
fn what_xcat_hands_its_nodes_becomes_a_short_site_that_hands_them_the_same() {
    let folder = TempDir::new().unwrap();
    a_site(folder.path());
    let args = ["--mypostscripts", "mypostscripts", "--to", "site.toml"];
    let both = [&args[..], &["--compare", "mypostscripts", "--site", "site.toml"]].concat();
    let out = provostctl(folder.path(), &both);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("550 nodes; no difference"), "{}", text(&out.stderr));
    let site = fs::read_to_string(folder.path().join("site.toml")).unwrap();
    let sections: Vec<&str> = site.split("\n\n").collect();
    let shared: Vec<&str> =
        sections.iter().filter(|text| !text.starts_with("[nodes.")).copied().collect();
    let lines: usize = shared.iter().map(|text| text.lines().count() + 1).sum();
    assert!(lines <= 60, "{lines} lines:\n{}", shared.join("\n\n"));
    assert!(site.contains("[groups.rack0]\nnodes = \"") && site.contains("env.OSPKGS"), "{site}");

    // What has changed since is seen, with the nodes.
    let changed = site.replace("env.DOMAIN = \"cluster\"", "env.DOMAIN = \"other\"");
    fs::write(folder.path().join("changed.toml"), changed.replace("setup2 a b", "setup2")).unwrap();
    let compare = ["--compare", "mypostscripts", "--site", "changed.toml"];
    let out = provostctl(folder.path(), &compare);
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stdout);
    assert!(said.contains("cn[000-549]: DOMAIN is \"cluster\" by xCAT, \"other\" here"), "{said}");
    assert!(said.contains("setup2 a b") && said.lines().count() == 2, "{said}");
    assert!(text(&out.stderr).contains("550 of 550 nodes") && text(&out.stderr).contains("hint: "));
}

#[test]
fn what_no_plan_can_have_is_a_difference() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("all")).unwrap();
    for (n, node) in ["cn1", "cn2"].into_iter().enumerate() {
        let more = [("NOTE2", "two lines\n".repeat(n))];
        let lists = "otherpkgs\nok1 ; touch x\nok1 `id`\n";
        let file = handed(node, 0, 0, &more).replace("otherpkgs\n", lists);
        let file =
            file.replace("export SITEMASTER\n", "export SITEMASTER\nNOW=`date`\nexport NOW\n");
        fs::write(folder.path().join(format!("all/mypostscript.{node}")), file).unwrap();
    }
    let both = ["--mypostscripts", "all", "--to", "site.toml", "--compare", "all"];
    let out = provostctl(folder.path(), &[&both[..], &["--site", "site.toml"]].concat());
    let (said, notes) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{said}{notes}");
    let expected = [
        "cn[1-2]: NOW is computed on the node by xCAT, not set here",
        "cn[1-2]: postbootscripts: \"ok1 ; touch x\" can't be run: ",
        "cn[1-2]: postbootscripts: \"ok1 `id`\" can't be run: ",
    ];
    for line in expected {
        assert_eq!(said.lines().filter(|said| said.starts_with(line)).count(), 1, "{line}: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(notes.contains("2 of 2 nodes would run something else"), "{notes}");
}

#[test]
fn nodes_of_a_group_that_differ_in_their_addresses_share_the_rest() {
    let folder = TempDir::new().unwrap();
    let mut stanzas = String::new();
    for n in 1..=64 {
        let _ = writeln!(
            stanzas,
            "cn{n:03}:\n    objtype=node\n    groups=compute,all\n    ip=10.0.1.{n}\n    os=rhels8.10\n    \
             arch=x86_64\n    profile=compute\n    provmethod=netboot\n    installnic=mac\n    \
             primarynic=mac\n    mac=52:54:00:00:00:{n:02x}\n"
        );
    }
    fs::write(folder.path().join("nodes"), stanzas).unwrap();
    let out = provostctl(folder.path(), &["nodes"]);
    let site = text(&out.stdout);
    assert!(out.status.success(), "{}", text(&out.stderr));
    // A heading, the address, the MAC and an empty line each.
    let own = site.lines().skip_while(|line| !line.starts_with("[nodes.")).count();
    assert!(own <= 64 * 4 && site.lines().count() - own <= 30, "{site}");
    assert!(site.contains("env.OSVER = \"rhels8.10\""), "{site}");
}

/// `lsdef` and `tabdump`, as a management node has them.
const LSDEF: &str = r#"#!/bin/sh
case $2 in
node) printf 'cn001:\n    objtype=node\n    groups=compute\n    routenames=ib\n    provmethod=img\n' ;;
osimage) printf 'img:\n    objtype=osimage\n    pkglist=%s/os.pkglist\n    otherpkglist=%s/other.pkglist\n    pkgdir=/install/os\n' "$PWD" "$PWD" ;;
esac
"#;
const TABDUMP: &str = r##"#!/bin/sh
case $1 in
site) printf '#key,value,comments,disable\n"master","10.0.0.1",,\n' ;;
postscripts) printf '#node,postscripts,postbootscripts,comments,disable\n"xcatdefaults","syslog","otherpkgs",,\n' ;;
networks) printf '#netname,net,mask,mgtifname,gateway,comments,disable\n"a","10.0.0.0","255.0.0.0","eth0","<xcatmaster>","rack 1",\n' ;;
routes) printf '#routename,net,mask,gateway,ifname,comments,disable\n"ib","10.9.0.0","255.255.0.0","10.0.0.9","eth0",,\n' ;;
nodegroup) printf '#groupname,grouptype,members,membergroups,wherevals,comments,disable\n' ;;
nodelist | nodetype | noderes) ;;
*) echo "Error: [mn]: No such table: $1" >&2; exit 1 ;;
esac
"##;

#[test]
fn on_the_management_node_it_asks_xcat_itself() {
    let folder = TempDir::new().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for (name, script) in [("lsdef", LSDEF), ("tabdump", TABDUMP)] {
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let more = folder.path().join("more.pkglist");
    let lists = [
        ("os.pkglist", format!("bash\n# a comment\n#INCLUDE:{}#\n", more.display())),
        ("more.pkglist", "munge\n".to_owned()),
        ("other.pkglist", "slurm\n#NEW_INSTALL_LIST#\nlustre\n".to_owned()),
    ];
    for (name, list) in &lists {
        fs::write(folder.path().join(name), list).unwrap();
    }
    let out = provostctl(folder.path(), &["--from-xcat"]);
    let (site, said) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{said}");
    for line in [
        "env.OSPKGS = \"bash,munge\"",
        "env.OTHERPKGS1 = \"slurm\"",
        "env.OTHERPKGS2 = \"lustre\"",
        "env.OTHERPKGS_INDEX = \"2\"",
        "env.ROUTE_ib = \"10.9.0.0,255.255.0.0,10.0.0.9,eth0\"",
        "env.NETWORKS_LINE1 = \"netname=a||net=10.0.0.0||mask=255.0.0.0||mgtifname=eth0||\
         gateway=<xcatmaster>||disable=||comments=\"",
    ] {
        assert!(site.contains(line), "{line}\n{site}");
    }
    assert!(!said.contains("NETWORKS_LINES") && !said.contains("OTHERPKGSn"), "{said}");

    fs::remove_file(bin.join("lsdef")).unwrap();
    let out = provostctl(folder.path(), &["--from-xcat"]);
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stderr);
    assert!(said.contains("lsdef") && said.contains("hint: run it as root on the xCAT"), "{said}");
}

#[test]
fn a_folder_without_such_files_and_a_file_that_is_cut_short_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("none")).unwrap();
    let out = provostctl(folder.path(), &["--mypostscripts", "none"]);
    assert!(out.status.code() == Some(1) && text(&out.stderr).contains("precreatemypostscripts=1"));
    let whole = handed("cn1", 0, 0, &[]);
    let cut = whole.split("# postscripts-end-here").next().unwrap();
    fs::write(folder.path().join("none/mypostscript.cn1"), cut).unwrap();
    let out = provostctl(folder.path(), &["--mypostscripts", "none"]);
    let said = text(&out.stderr);
    assert!(out.status.code() == Some(1) && said.contains("cut short"), "{said}");
    assert!(out.stdout.is_empty());
    let out = provostctl(folder.path(), &["--compare", "none"]);
    assert_eq!(out.status.code(), Some(2), "--site is needed");
}
