//! `provostctl import xcat` on what an xCAT management node prints.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use provost_plan::{Plan, Site};
use tempfile::TempDir;

const SITE: &str = r##"#key,value,comments,disable
"master","10.0.0.1",,
"domain","cluster.example",,
"nameservers","10.0.0.1,10.0.0.2","two, for now",
"old","x",,"1"
"runbootscripts","yes",,
"##;
const POSTSCRIPTS: &str = r##"#node,postscripts,postbootscripts,comments,disable
"xcatdefaults","syslog,remoteshell,syncfiles","otherpkgs",,
"compute","setupntp,mount ""/my scratch"" ro",,,
"gpu","config_cuda *","nvidia",,
"cn003","own;rm -rf /","last 'a' b",,
"unused","never",,,"yes"
"service","servicenode",,,
"cn0003","typo",,,
"##;
const NODELIST: &str = r##"#node,groups,status,statustime,appstatus,appstatustime,primarysn,hidden,updatestatus,updatestatustime,zonename,comments,disable
"cn001","compute,all","booted","11-20-2026 17:00:01",,,,,,,,,
"cn002","compute,gpu,all",,,,,,,,,,,
"cn003","compute,gpu,rule",,,,,,,,,,,
"sn1","service",,,,,,,,,,,
"##;
const GROUPS: &str = r##"#groupname,grouptype,members,membergroups,wherevals,comments,disable
"rule","dynamic","dynamic",,"mac=~aa",,
"##;
const NODETYPE: &str = r##"#node,os,arch,profile,provmethod,supportedarchs,nodetype,comments,disable
"compute","rhels9.4","x86_64","compute","rhels9.4-x86_64-install-compute",,,,
"cn003","rhels8.10",,,,,,,
"##;
const NODERES: &str = r##"#node,servicenode,netboot,tftpserver,tftpdir,nfsserver,monserver,nfsdir,installnic,primarynic,discoverynics,cmdinterface,xcatmaster,current_osimage,next_osimage,nimserver,routenames,nameservers,proxydhcp,syslog,comments,disable
"rule",,"xnba",,,"10.0.0.9",,,"mac",,,,"|(.*)|sn|",,,,,,,,,
"##;
const LSDEF: &str = "# <xCAT data object stanza file>\n\ncn001:\n    objtype=node\n    \
    groups=compute,all\n    mac=52:54:00:00:00:01\n    nicips.eth0=10.0.1.1\n    \
    nicips.eth1=10.1.1.1\n    postscripts=syslog,all,merged\n";

const IMAGES: &str = "# <xCAT data object stanza file>\n\nrhels9.4-x86_64-install-compute:\n    \
    objtype=osimage\n    imagetype=linux\n    postscripts=image 1,setupntp\n    \
    postbootscripts=imaged\n\nother:\n    objtype=osimage\n    postscripts=never\n";

fn import(folder: &TempDir, files: &[(&str, &str)], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provostctl"));
    command.args(["import", "xcat"]).args(more).current_dir(folder.path());
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
        command.arg(name);
    }
    command.output().unwrap()
}

fn lists(plan: &Plan) -> (String, String) {
    let join = |steps: &[provost_plan::Step]| {
        steps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    (join(&plan.postscripts), join(&plan.postbootscripts))
}

#[test]
fn each_node_gets_the_same_scripts_in_the_same_order() {
    let folder = TempDir::new().unwrap();
    let files = [
        ("site.csv", SITE),
        ("postscripts.csv", POSTSCRIPTS),
        ("nodelist.csv", NODELIST),
        ("groups.csv", GROUPS),
        ("nodetype.csv", NODETYPE),
        ("noderes.csv", NODERES),
        ("nodes.stanza", LSDEF),
    ];
    let out = import(&folder, &files, &[]);
    let (text, said) =
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(out.status.success(), "{said}");
    let plans = Site::parse(&text, Path::new("site.toml")).unwrap().plans();
    let ours = ["cn001", "cn002", "cn003"].map(|node| lists(&plans[node]));
    let all = "syslog; remoteshell; syncfiles; setupntp; mount /my scratch ro";
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(ours[0], pair(all, "otherpkgs"), "{text}");
    assert_eq!(ours[1], (format!("{all}; config_cuda '*'"), "otherpkgs; nvidia".to_owned()));
    assert_eq!(
        ours[2],
        (format!("{all}; config_cuda '*'"), "otherpkgs; nvidia; last a b".to_owned())
    );
    let env = &plans["cn001"].env;
    for (name, value) in [
        ("SITEMASTER", "10.0.0.1"),
        ("MASTER", "10.0.0.1"),
        ("NAMESERVERS", "10.0.0.1,10.0.0.2"),
        ("OSVER", "rhels9.4"),
        ("GROUP", "compute,all"),
        ("NICIPS", "eth0!10.0.1.1,eth1!10.1.1.1"),
        ("MACADDRESS", "52:54:00:00:00:01"),
    ] {
        assert_eq!(env.get(name).map(String::as_str), Some(value), "{name}\n{text}");
    }
    assert!(!env.contains_key("OLD") && plans["cn001"].runbootscripts);
    let env = &plans["cn003"].env;
    assert_eq!(
        (&*env["OSVER"], &*env["ARCH"], &*env["NFSSERVER"]),
        ("rhels8.10", "x86_64", "10.0.0.9")
    );
    assert_eq!(
        (&*plans["sn1"].env["NTYPE"], &*plans["cn001"].env["NTYPE"]),
        ("service", "compute")
    );
    for note in
        ["own;rm", "config_cuda *", "the group rule", "|(.*)|sn|", "the image rhels9.4", "cn0003"]
    {
        assert!(said.contains(note), "{note}\n{said}");
    }
    assert!(!said.contains("unused") && !said.contains("of service"), "{said}");
}

#[test]
fn a_node_s_own_order_of_its_groups_is_kept() {
    let folder = TempDir::new().unwrap();
    let scripts = "#node,postscripts,postbootscripts,comments,disable\n\"xcatdefaults\",\"syslog\",,,\n\
                   \"a\",\"a1,a2\",\"ab\",,\n\"b\",\"b1\",\"bb\",,\n\"c\",\"c1\",,,\n\"n3\",\"own\",,,\n";
    let nodes = "#node,groups,status\n\"n1\",\"a,b,c\",\n\"n2\",\"a,b\",\n\"n3\",\"c,b,all,a\",\n";
    let out = import(&folder, &[("p.csv", scripts), ("n.csv", nodes)], &[]);
    let (text, said) = (String::from_utf8(out.stdout).unwrap(), out.stderr);
    assert!(String::from_utf8(said).unwrap().contains(" 0 things"));
    let plans = Site::parse(&text, Path::new("site.toml")).unwrap().plans();
    for (node, post, boot) in [
        ("n1", "syslog; a1; a2; b1; c1", "ab; bb"),
        ("n2", "syslog; a1; a2; b1", "ab; bb"),
        ("n3", "syslog; c1; b1; a1; a2; own", "bb; ab"),
    ] {
        assert_eq!(lists(&plans[node]), (post.to_owned(), boot.to_owned()), "{text}");
    }
    // Most of them have theirs from the groups.
    assert!(text.contains("[groups.a]\nnodes = \"n[1-2]\"") && !text.contains("[nodes.n1]\npost"));
}

#[test]
fn the_scripts_of_an_image_come_after_the_defaults() {
    let folder = TempDir::new().unwrap();
    let files = [
        ("postscripts.csv", POSTSCRIPTS),
        ("nodelist.csv", NODELIST),
        ("nodetype.csv", NODETYPE),
        ("images.stanza", IMAGES),
    ];
    let plans = |files: &[(&str, &str)]| {
        let out = import(&folder, files, &[]);
        let (text, said) = [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap()).into();
        assert!(out.status.success(), "{said}");
        (Site::parse(&text, Path::new("site.toml")).unwrap().plans(), said)
    };
    let (with, said) = plans(&files);
    let all = "syslog; remoteshell; syncfiles; image 1; setupntp; mount /my scratch ro";
    assert_eq!(lists(&with["cn001"]), (all.to_owned(), "otherpkgs; imaged".to_owned()));
    assert_eq!(lists(&with["sn1"]).0, "syslog; remoteshell; syncfiles; servicenode");
    assert!(!said.contains("image"), "{said}");
    let (_, said) = plans(&files[1..]);
    assert!(said.contains("`tabdump postscripts`"), "{said}");
}

#[test]
fn lsdef_alone_will_do() {
    let folder = TempDir::new().unwrap();
    let out = import(&folder, &[("nodes.stanza", LSDEF)], &["--to", "site.toml"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = fs::read_to_string(folder.path().join("site.toml")).unwrap();
    let plans = Site::parse(&text, Path::new("site.toml")).unwrap().plans();
    assert_eq!(lists(&plans["cn001"]).0, "syslog; all; merged");
    // An admin may have worked on it.
    let again = import(&folder, &[("nodes.stanza", LSDEF)], &["--to", "site.toml"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("hint: name a new file"));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let folder = TempDir::new().unwrap();
    for (text, said) in [
        ("#key,value,comments,disable\n\"a\",\"b\n", "x.csv:2: the quote"),
        ("#key,value,comments,disable\na,b,c,d,e\n", "x.csv:2: 5 columns"),
        ("#what,is,this\na,b,c\n", "x.csv:1: a table with the columns what,is,this"),
        ("hello\n", "x.csv:1: this is neither"),
        (SITE, "none of these files tells which nodes"),
    ] {
        let out = import(&folder, &[("x.csv", text)], &[]);
        let err = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && err.contains(said), "{err}");
        assert!(err.contains("hint: ") && out.stdout.is_empty());
    }
}
