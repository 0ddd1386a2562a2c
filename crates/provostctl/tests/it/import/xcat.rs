//! `provostctl import xcat` on what an xCAT management node prints.

use std::fs;
use std::path::Path;
use std::process::Output;

use provost_plan::{Plan, Site};
use tempfile::TempDir;

use crate::import::import_from;

const SITE: &str = r##"#key,value,comments,disable
"master","10.0.0.1",,
"domain","cluster.example",,
"nameservers","10.0.0.1,10.0.0.2","two, for now",
"old","x",,"1"
"runbootscripts","yes",,
"sshbetweennodes","gpu",,
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
"cn004","all,gpu,compute",,,,,,,,,,,
"sn1","service",,,,,,,,,,,
"##;
const GROUPS: &str = r##"#groupname,grouptype,members,membergroups,wherevals,comments,disable
"rule","dynamic","dynamic",,"mac=~aa",,
"##;
const NODETYPE: &str = r##"#node,os,arch,profile,provmethod,supportedarchs,nodetype,comments,disable
"compute","rhels9.4","x86_64","compute","rhels9.4-x86_64-install-compute",,,,
"cn003","rhels8.10",,,"netboot",,,,
"sn1",,"ppc64",,,,,,
"##;
const NODERES: &str = r##"#node,servicenode,netboot,tftpserver,tftpdir,nfsserver,monserver,nfsdir,installnic,primarynic,discoverynics,cmdinterface,xcatmaster,current_osimage,next_osimage,nimserver,routenames,nameservers,proxydhcp,syslog,comments,disable
"rule",,"xnba",,,"10.0.0.9",,,"mac",,,,"|(.*)|sn|",,,,,,,,,
"cn004",,,,,,,,,,,,"sn1",,,,"ib",,,,,
"##;
const LSDEF: &str = "# <xCAT data object stanza file>\n\ncn001:\n    objtype=node\n    \
    groups=compute,all\n    mac=52:54:00:00:00:01!cn001|52:54:00:00:00:02!cn001-ib\n    nicips.eth0=10.0.1.1\n    \
    nicips.eth1=10.1.1.1\n    postscripts=syslog,all,merged\n\nsn1:\n    \
    objtype=node\n    groups=service\n    ip=10.0.0.3\n";

const IMAGES: &str = "# <xCAT data object stanza file>\n\nrhels9.4-x86_64-install-compute:\n    \
    objtype=osimage\n    imagetype=linux\n    postscripts=image 1,setupntp\n    \
    postbootscripts=imaged\n    provmethod=install\n    otherpkglist=/install/a.pkglist\n    \
    otherpkgdir=/install/other\n    pkgdir=/install/os\n    environvar=A=1,B=2\n\n\
    rhels8.10-x86_64-netboot-compute:\n    objtype=osimage\n    postscripts=diskless\n\nother:\n    objtype=osimage\n    postscripts=never\n";

fn import(folder: &TempDir, files: &[(&str, &str)], more: &[&str]) -> Output {
    import_from("xcat", folder, files, more)
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
    let all = "syslog; remoteshell; syncfiles";
    let compute = format!("{all}; setupntp; mount '\"/my' 'scratch\"' ro");
    for (node, post, boot) in [
        // What lsdef shows is what xCAT has made of its tables.
        ("cn001", format!("{all}; all; merged"), "otherpkgs"),
        ("cn002", compute, "otherpkgs; nvidia"),
        ("cn003", all.to_owned(), r"otherpkgs; last ''\''a'\''' b"),
        ("cn004", format!("{all}; config_cuda '*'"), "otherpkgs; nvidia"),
        ("sn1", format!("{all}; servicenode"), "otherpkgs"),
    ] {
        assert_eq!(lists(&plans[node]), (post, boot.to_owned()), "{node}\n{text}");
    }
    let has = |node: &str, expected: &[(&str, &str)]| {
        for (name, value) in expected {
            let is = plans[node].env.get(*name).map(String::as_str);
            assert_eq!(is, Some(*value), "{node}: {name}\n{text}");
        }
    };
    let env = &plans["cn001"].env;
    has(
        "cn001",
        &[
            ("SITEMASTER", "10.0.0.1"),
            ("MASTER", "10.0.0.1"),
            ("MASTER_IP", "10.0.0.1"),
            ("NFSSERVER", "10.0.0.1"),
            ("UPDATENODE", "0"),
            ("ENABLESSHBETWEENNODES", "NO"),
            ("NAMESERVERS", "10.0.0.1,10.0.0.2"),
            ("OSVER", "rhels9.4"),
            ("GROUP", "compute,all"),
            ("NICIPS", "eth0!10.0.1.1,eth1!10.1.1.1"),
            ("MACADDRESS", "52:54:00:00:00:01"),
        ],
    );
    has("cn003", &[("NODESETSTATE", "netboot"), ("ENABLESSHBETWEENNODES", "YES")]);
    has("cn004", &[("MASTER", "sn1"), ("MASTER_IP", "10.0.0.3"), ("NFSSERVER", "sn1")]);
    has("sn1", &[("ENABLESSHBETWEENNODES", "YES")]);
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
    for note in [
        "own;rm",
        "config_cuda *",
        "the group rule",
        "|(.*)|sn|",
        "the image rhels9.4",
        "cn0003",
        "OTHERPKGSn",
        "NETWORKS_LINES",
        "ROUTE_NAME",
        "postscripts of sn1",
    ] {
        assert_eq!(said.matches(note).count(), 1, "{note}\n{said}");
    }
    assert!(
        !said.contains("unused") && !said.contains("MASTER_IP") && !said.contains("of service"),
        "{said}"
    );
}

/// Three groups, and a node with scripts of its own.
const GROUPED: &str = "#node,postscripts,postbootscripts,comments,disable\n\"xcatdefaults\",\"syslog\",,,\n\
    \"a\",\"a1,a2\",\"ab\",,\n\"b\",\"b1\",\"bb\",,\n\"c\",\"c1\",,,\n\"n3\",\"own\",,,\n";
const MEMBERS: &str = "#node,groups,status\n\"n1\",\"a,b,c\",\n\"n2\",\"a,b\",\n\"n3\",\"c,b,all,a\",\n\
    \"n4\",\"b\",\n\"n5\",\"c,a\",\n\"n6\",\"all,c,a\",\n";

fn grouped(site: &str, scripts: &str, expected: [(&str, &str); 6]) -> String {
    let folder = TempDir::new().unwrap();
    let files = [("s.csv", site), ("p.csv", scripts), ("n.csv", MEMBERS)];
    let out = import(&folder, &files, &[]);
    let text = String::from_utf8(out.stdout).unwrap();
    let plans = Site::parse(&text, Path::new("site.toml")).unwrap().plans();
    for (node, (post, boot)) in (1..).map(|n| format!("n{n}")).zip(expected) {
        assert_eq!(lists(&plans[&node]), (post.to_owned(), boot.to_owned()), "{node}\n{text}");
    }
    text
}

#[test]
fn the_first_group_that_has_scripts_gives_them_and_the_nodes_own_come_before() {
    let text = grouped(
        "#key,value,comments,disable\n",
        GROUPED,
        [
            ("syslog; a1; a2", "ab"),
            ("syslog; a1; a2", "ab"),
            ("syslog; own", "bb"),
            ("syslog; b1", "bb"),
            ("syslog; c1", "ab"),
            ("syslog; c1", "ab"),
        ],
    );
    // Most of them have theirs from the groups.
    assert!(text.contains("[groups.a]\nnodes = \"n[1-2]\"") && !text.contains("[nodes.n1]\npost"));
    assert!(text.contains("[groups.\"c+a\"]\nnodes = \"n[5-6]\""), "{text}");
}

#[test]
fn groups_add_up_where_xcat_says_so() {
    grouped(
        "#key,value,comments,disable\n\"hierarchicalattrs\",\"prescripts,postscripts\",,\n",
        GROUPED,
        [
            ("syslog; a1; a2; b1; c1", "ab"),
            ("syslog; a1; a2; b1", "ab"),
            ("syslog; own; c1; b1; a1; a2", "bb"),
            ("syslog; b1", "bb"),
            ("syslog; c1; a1; a2", "ab"),
            ("syslog; c1; a1; a2", "ab"),
        ],
    );
    grouped(
        "#key,value,comments,disable\n",
        &GROUPED.replace("\"c1\"", "\"c1,+=NEXTRECORD\""),
        [
            ("syslog; a1; a2", "ab"),
            ("syslog; a1; a2", "ab"),
            ("syslog; own", "bb"),
            ("syslog; b1", "bb"),
            ("syslog; c1; a1; a2", "ab"),
            ("syslog; c1; a1; a2", "ab"),
        ],
    );
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
    let all = "syslog; remoteshell; syncfiles; image 1; setupntp; mount '\"/my' 'scratch\"' ro";
    assert_eq!(lists(&with["cn001"]), (all.to_owned(), "otherpkgs; imaged".to_owned()));
    assert_eq!(lists(&with["sn1"]).0, "syslog; remoteshell; syncfiles; servicenode");
    let env = &with["cn001"].env;
    assert_eq!(
        ["OTHERPKGDIR", "A", "NODESETSTATE"].map(|name| &*env[name]),
        ["/install/other", "1", "install"]
    );
    assert!(!env.contains_key("OSPKGDIR"), "an image without a list of packages");
    // Which of its images an old xCAT takes by the parts of their names, it says.
    assert_eq!(lists(&with["cn003"]).0, "syslog; remoteshell; syncfiles");
    let note = "scripts of the image rhels8.10-x86_64-netboot-compute: the provmethod of cn003";
    assert!(said.contains(note) && !said.contains("rhels9.4"), "{said}");
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
    assert!(String::from_utf8_lossy(&out.stderr).contains("the scripts of xcatdefaults"));
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
        ("#what,is,this\na,b,c\n", "x.csv:1: unknown table with the columns what,is,this"),
        ("hello\n", "x.csv:1: neither a table"),
        (SITE, "none of these files names a node"),
    ] {
        let out = import(&folder, &[("x.csv", text)], &[]);
        let err = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && err.contains(said), "{err}");
        assert!(err.contains("hint: ") && out.stdout.is_empty());
    }
}
