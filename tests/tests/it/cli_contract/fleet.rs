//! What `provostctl` prints for installers, takes from other systems, and does over ssh.

use insta::assert_snapshot;
use provost_tests::{Cluster, Network};

use crate::cli_contract::{BROKEN, HELLO, site};

#[test]
fn of_snippets() {
    let (cluster, _node) = site(&[("hello", HELLO)]);
    let snippet = |args: &[&str]| cluster.ctl(&[&["snippet"], args].concat()).transcript();
    let server = ["--server", "http://10.0.0.1:8480"];
    let installers =
        ["kickstart", "autoyast", "preseed", "subiquity", "agama", "sh", "cloud-init", "ignition"];
    for installer in installers {
        let args = [&[installer, "cn001"][..], &server].concat();
        assert_snapshot!(format!("snippet-{installer}"), snippet(&args));
    }
    let many = [&["kickstart", "cn[001-002]", "--token"][..], &server].concat();
    assert_snapshot!(snippet(&many), @"
    exit status 2
    ----- stderr -----
    note: cn002 isn't in what is published: its installation will fail
      hint: correct the name; or name it in site.toml and publish
    provostctl: --token is for one node: a script for several nodes can't have their tokens
      hint: name one node; or omit --token, and add provost.token=TOKEN to each node's kernel command line
    ");
    assert_snapshot!(snippet(&["kickstart", "cn001", "--server", "https://mn"]), @"
    exit status 2
    ----- stderr -----
    provostctl: an installer can't fetch from https://mn/
      hint: use an http URL, such as http://10.0.0.1:8480
    ");
    assert_snapshot!(snippet(&["anaconda", "cn001"]), @"
    exit status 2
    ----- stderr -----
    error: invalid value 'anaconda' for '<INSTALLER>'
      [possible values: kickstart, autoyast, preseed, subiquity, agama, sh, cloud-init, ignition]

      hint: see provostctl snippet --help
    ");
}

#[test]
fn of_imports() {
    let cluster = Cluster::new();
    let write = |name: &str, text: &str| {
        std::fs::write(cluster.path(name), text).unwrap();
        cluster.path(name).display().to_string()
    };
    let import = |files: &[&str]| cluster.ctl(&[&["import", "xcat"], files].concat()).transcript();
    let site = write("site.csv", "#key,value,comments,disable\n\"master\",\"10.0.0.1\",,\n");
    let postscripts = write(
        "postscripts.csv",
        "#node,postscripts,postbootscripts,comments,disable\n\
         \"xcatdefaults\",\"syslog,remoteshell\",\"otherpkgs\",,\n\
         \"compute\",\"mount /scratch\",,,\n",
    );
    let nodelist = write(
        "nodelist.csv",
        "#node,groups,status,comments,disable\n\"cn001\",\"compute,all\",,,\n",
    );
    assert_snapshot!(import(&[&site, &postscripts, &nodelist]), @r#"
    exit status 0
    ----- stdout -----
    # Written by `provostctl import xcat` from an xCAT management node's tables.

    [defaults]
    postscripts = ["syslog", "remoteshell"]
    postbootscripts = ["otherpkgs"]
    env.ENABLESSHBETWEENNODES = "YES"
    env.MASTER = "10.0.0.1"
    env.MASTER_IP = "10.0.0.1"
    env.NFSSERVER = "10.0.0.1"
    env.SITEMASTER = "10.0.0.1"
    env.UPDATENODE = "0"

    [groups.compute]
    nodes = "cn001"
    postscripts = ["mount /scratch"]

    [nodes.cn001]
    env.GROUP = "compute,all"
    env.NTYPE = "compute"

    ----- stderr -----
    not carried over: NETWORKS_LINES, NETWORKS_LINEn, NETMASK, GATEWAY: the networks table; set those that your scripts read as env of [defaults] or of a group
    not carried over: OSPKGS, OTHERPKGSn, OTHERPKGS_INDEX, ENVLISTn: the files that an image's pkglist and otherpkglist name; NOSYNCFILES: its synclists; set those that your scripts read as env of [defaults] or of a group
    not carried over: ZONENAME, MONSERVER, MONMASTER, SERVICEGROUP, CFGCLIENTLIST, VLANID, MACMAC and the like: what zones, monitoring, service pools, vlans and kits set, and the mac table as it is; set those that your scripts read as env of [defaults] or of a group
    1 node; 3 not carried over
    "#);
    assert_snapshot!(import(&[&postscripts]), @"
    exit status 1
    ----- stderr -----
    provostctl: none of these files names a node
      hint: add the output of `tabdump nodelist` or `lsdef -t node -l -z`
    ");
    assert_snapshot!(import(&[&write("other.csv", "a,b\n")]), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/other.csv:1: neither a table nor a stanza
      hint: use the unchanged output of `tabdump TABLE` or `lsdef -t node -l -z`
    ");
    assert_snapshot!(import(&["/nowhere.csv"]), @"
    exit status 1
    ----- stderr -----
    provostctl: reading /nowhere.csv: No such file or directory (os error 2)
      hint: name readable files with the output of tabdump and lsdef
    ");
}

#[test]
fn of_a_snippet_before_anything_is_published() {
    let mut cluster = Cluster::new();
    cluster.start();
    assert_snapshot!(cluster.ctl(&["snippet", "kickstart", "cn001"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: reading the key from [DIR]/www/manifest.toml: No such file or directory (os error 2)
      hint: publish first: provostctl publish
    ");
}

#[test]
fn of_reruns() {
    let mut network = Network::new();
    let (cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN)]);
    network.join(&node);
    network.join_dead("cn002");
    let config = network.config();
    let rerun = |args: &[&str]| {
        cluster.ctl(&[&["rerun", "--ssh-config", &config], args].concat()).transcript()
    };
    assert_snapshot!(rerun(&["cn001", "hello"]), @"
    exit status 0
    ----- stdout -----
        1  ok           cn001
    ----- stderr -----
    [1/1] cn001: ok after [DURATION]
    ");
    assert_snapshot!(rerun(&["cn001", "broken"]), @"
    exit status 1
    ----- stdout -----
        1  failed       cn001
                        broken: exit status 7 at line 4 of [DIR]/nodes/cn001/state/bundle/broken
                        setting up
                        no disk
                        hint: on the node: see all its output: provost log broken; fix it, then: provost run broken
    ----- stderr -----
    [1/1] cn001: failed after [DURATION]: broken: exit status 7 at line 4 of [DIR]/nodes/cn001/state/bundle/broken: no disk
    provostctl: cn001 failed
      hint: provostctl show cn001
    ");
    assert_snapshot!(rerun(&["cn001", "helo"]), @r#"
    exit status 2
    ----- stderr -----
    provostctl: no script "helo" is published
      hint: publish it, or name one of: broken, hello
    "#);
    assert_snapshot!(rerun(&["cn002", "hello"]), @"
    exit status 1
    ----- stdout -----
        1  unreachable  cn002
                        ssh: connect to host 127.0.0.1 port [PORT]: Connection refused
    ----- stderr -----
    [1/1] cn002: unreachable after [DURATION]: ssh: connect to host 127.0.0.1 port [PORT]: Connection refused
    provostctl: cn002 unreachable
      hint: check that this works: ssh cn002 true
    ");
    assert_snapshot!(rerun(&["cn001"]), @"
    exit status 2
    ----- stderr -----
    provostctl: a rerun is of one script, or of a list of scripts
      hint: name them: provostctl rerun NODES SCRIPT [ARGS]…, or NODES -P LIST
    ");
}

#[test]
fn of_gathered_bundles() {
    let mut network = Network::new();
    let (cluster, node) = site(&[("broken", BROKEN)]);
    network.join(&node);
    network.join_dead("cn002");
    node.provost(&["boot"]).expect(1);
    let config = network.config();
    let to = cluster.path("gathered").display().to_string();
    std::fs::create_dir(&to).unwrap();
    let gather = |nodes: &str, to: &str| {
        cluster.ctl(&["gather", "--ssh-config", &config, "--to", to, nodes]).transcript()
    };
    assert_snapshot!(gather("cn001", &to), @"
    exit status 0
    ----- stdout -----
    [DIR]/gathered/log-bundle-cn001-[TIME].tar.gz
    ----- stderr -----
    cn001: [DIR]/gathered/log-bundle-cn001-[TIME].tar.gz
    ");
    assert_snapshot!(gather("cn002", &to), @r#"
    exit status 1
    ----- stderr -----
    cn002: unreachable: ssh: connect to host 127.0.0.1 port [PORT]: Connection refused; unknown node "cn002"
    provostctl: 1 of 1 nodes sent no bundle
      hint: check that this works: ssh cn002 provost gather
    "#);
    assert_snapshot!(gather("cn001", "/nowhere"), @"
    exit status 1
    ----- stderr -----
    cn001: writing into /nowhere: No such file or directory (os error 2); writing a bundle into /nowhere: creating a file in /nowhere: No such file or directory (os error 2)
    provostctl: 1 of 1 nodes sent no bundle
      hint: check that this works: ssh cn001 provost gather
    ");
}
