use std::fs;

use super::*;

/// A machine in a folder, and its configuration file.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, text)| ground.write(name, text));
        ground
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, environment: &[(&str, &str)]) -> Input {
        let file = self.folder.path().join("etc/provost.toml");
        let config = file.exists().then_some((file, Origin::Flag("--config")));
        let get = |name: &str| {
            environment.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        Input::read_on(&Machine::at(self.folder.path()), config, Vec::new(), get)
    }
}

/// `key`'s value and where it comes from, without the folder.
fn value(ground: &Ground, input: &Input, key: &str) -> (String, String) {
    let (_, value, origin) = input.values().find(|(k, _, _)| *k == key).unwrap();
    let folder = ground.folder.path().display().to_string();
    (value.to_string(), origin.to_string().replace(&folder, ""))
}

const LEASE: &str = "SERVER_ADDRESS=10.0.0.6\nNEXT_SERVER=10.0.0.7\n";

#[test]
fn each_source_is_asked_in_its_order() {
    let everything = [
        ("proc/cmdline", "provost.server=http://k1,http://k2 provost.node=k XCAT=10.0.0.3:3001"),
        ("etc/provost.toml", "servers = [\"http://f\"]\n"),
        ("etc/provost.d/10.toml", "servers = [\"http://d\"]\n"),
        ("opt/xcat/xcatinfo", "XCATSERVER=10.0.0.5\nNODE=cn5\n"),
        ("run/systemd/netif/leases/2", LEASE),
    ];
    let ground = Ground::new(&everything);
    let servers = |input: &Input| value(&ground, input, "servers");
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    assert_eq!(
        servers(&ground.read(&[("PROVOST_SERVER", "http://e")])),
        pair("[\"http://e\"]", "environment PROVOST_SERVER")
    );
    let input = ground.read(&[("PROVOST_SERVER", "")]);
    assert_eq!(servers(&input), pair("[\"http://k1\", \"http://k2\"]", "kernel command line"));
    assert_eq!(value(&ground, &input, "node"), pair("\"k\"", "kernel command line"));
    let next = |name: &str, text: &str, value: &str, from: &str| {
        ground.write(name, text);
        assert_eq!(servers(&ground.read(&[])), pair(value, from));
    };
    next(
        "proc/cmdline",
        "XCAT=10.0.0.3:3001 NODE=cn3",
        "[\"http://10.0.0.3:80\", \"http://10.0.0.5:80\", \"http://10.0.0.6:80\", \
         \"http://10.0.0.7:80\"]",
        "kernel command line, XCAT=, then file /opt/xcat/xcatinfo, then DHCP lease \
         /run/systemd/netif/leases/2",
    );
    next("proc/cmdline", "XCAT=$(x) NODE=../x", "[\"http://d\"]", "file /etc/provost.d/10.toml");
    next("etc/provost.d/10.toml", "", "[\"http://f\"]", "file /etc/provost.toml");
    next(
        "etc/provost.toml",
        "node = \"f\"",
        "[\"http://10.0.0.5:80\", \"http://10.0.0.6:80\", \"http://10.0.0.7:80\"]",
        "file /opt/xcat/xcatinfo, then DHCP lease /run/systemd/netif/leases/2",
    );
    // A node that verifies bundles uses no server that only a lease names.
    next(
        "etc/provost.toml",
        "[trust]\nkeys = [\"RW\"]",
        "[\"http://10.0.0.5:8480\"]",
        "file /opt/xcat/xcatinfo",
    );
    next(
        "opt/xcat/xcatinfo",
        "XCATSERVER=10.0.0.6\n",
        "[\"http://10.0.0.6:8480\"]",
        "file /opt/xcat/xcatinfo",
    );
    ground.write("etc/provost.toml", "node = \"f\"");
    next(
        "opt/xcat/xcatinfo",
        "XCATSERVER=\n\0",
        "[\"http://10.0.0.6:8480\", \"http://10.0.0.7:8480\"]",
        "DHCP lease /run/systemd/netif/leases/2",
    );
    next("run/systemd/netif/leases/2", "garbage", "[]", "default");
    assert!(ground.read(&[]).mistakes.is_empty());
}

#[test]
fn a_number_that_no_key_may_have_leaves_the_rest_of_its_file() {
    let file = "node = \"f\"\n[guard]\nmax_attempts = 99999999999999999999\nmax_reboots = 2\n";
    let drop_in =
        "servers = [\"http://d\"]\n[run]\ntimeout = 0xFFFFFFFFFFFFFFFFF\nslow = [1e999]\n";
    let ground = Ground::new(&[("etc/provost.toml", file), ("etc/provost.d/1.toml", drop_in)]);
    let input = ground.read(&[]);
    for (key, expected) in
        [("node", "\"f\""), ("guard.max_reboots", "2"), ("servers", "[\"http://d\"]")]
    {
        assert_eq!(value(&ground, &input, key).0, expected);
    }
    let said: Vec<_> = input.mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
    let folder = ground.folder.path().join("etc");
    let expected = [
        "provost.d/1.toml:4: slow: the number 1e999 is too big",
        "provost.d/1.toml:3: timeout: the number FFFFFFFFFFFFFFFFF is too big",
        "provost.toml:3: max_attempts: the number 99999999999999999999 is too big",
    ];
    assert_eq!(said, expected.map(|what| format!("{}/{what}", folder.display())));
}

#[test]
fn what_the_management_node_is_follows_from_who_names_it_and_how_it_is_trusted() {
    let kernel = ("proc/cmdline", "XCAT=10.0.0.3:3001");
    let info = ("opt/xcat/xcatinfo", "XCATSERVER=10.0.0.5\nHTTPPORT=81\nINSTALLDIR='/inst/'\n");
    let read = |files: &[(&str, &str)]| {
        let ground = Ground::new(files);
        let input = ground.read(&[]);
        let (kind, from) = value(&ground, &input, "source.kind");
        let settings = input.usable().0;
        let xcat = settings.xcat.map(|xcat| xcat.install_dir).unwrap_or_default();
        (kind, from, settings.servers.iter().map(ToString::to_string).collect::<String>(), xcat)
    };
    let expect = |files: &[(&str, &str)], kind: &str, from: &str, server: &str, folder: &str| {
        let (kind, folder) = (format!("{kind:?}"), folder.to_owned());
        assert_eq!(read(files), (kind, from.to_owned(), server.to_owned(), folder));
    };
    let inferred = "inferred from servers";
    expect(&[kernel], "xcat", inferred, "http://10.0.0.3/", "install");
    let both = "http://10.0.0.3:81/http://10.0.0.5:81/";
    expect(&[kernel, info], "xcat", inferred, both, "inst");
    let ported = ("proc/cmdline", "XCAT=10.0.0.3:3001 XCATHTTPPORT=8080");
    let both = "http://10.0.0.3:8080/http://10.0.0.5:8080/";
    expect(&[ported, info], "xcat", inferred, both, "inst");
    expect(&[info], "xcat", inferred, "http://10.0.0.5:81/", "inst");
    let unsigned = ("etc/provost.toml", "[trust]\nunsigned = true\n");
    expect(&[info, unsigned], "xcat", inferred, "http://10.0.0.5:81/", "inst");
    let keys = ("etc/provost.toml", "[trust]\nkeys = [\"RW\"]\n");
    expect(&[info, keys], "provost", "default", "http://10.0.0.5:8480/", "");
    let file_text = ("etc/provost.toml", "[source]\nkind = \"xcat\"\n[trust]\nkeys = [\"RW\"]\n");
    let file = "file /etc/provost.toml";
    expect(&[info, file_text], "xcat", file, "http://10.0.0.5:81/inst/provost/", "inst");
    let other = ("etc/provost.toml", "[source]\nkind = \"provost\"\n");
    expect(&[kernel, other], "provost", file, "http://10.0.0.3:8480/", "");
    let elsewhere = ("etc/provost.toml", "servers = [\"http://10.0.0.1\"]\n");
    expect(&[info, elsewhere], "provost", "default", "http://10.0.0.1/", "");
    let lease = ("run/systemd/netif/leases/2", LEASE);
    let file_text =
        ("etc/provost.toml", "[source]\nkind = \"xcat\"\n[paths]\nxcat = \"/nowhere\"\n");
    let both = "http://10.0.0.6/http://10.0.0.7/";
    expect(&[info, file_text, lease], "xcat", file, both, "install");
}

#[test]
fn the_kernel_says_where_xcat_takes_status_and_messages() {
    let ground =
        Ground::new(&[("proc/cmdline", "XCAT=10.0.0.3:4001 XCATIPORT=4002 LOGSERVER=10.0.0.4")]);
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    let (xcatd, port, log) = ("source.xcatd_port", "source.monitor_port", "log.syslog");
    let input = ground.read(&[]);
    assert_eq!(value(&ground, &input, port), pair("4002", "kernel command line, XCATIPORT="));
    assert_eq!(value(&ground, &input, xcatd), pair("4001", "kernel command line, XCAT="));
    let from = "kernel command line, LOGSERVER=";
    assert_eq!(value(&ground, &input, log), pair("\"udp://10.0.0.4\"", from));
    let xcat = input.usable().0.xcat.unwrap();
    assert_eq!((xcat.xcatd_port, xcat.monitor_port), (4001, 4002));
    ground.write("etc/provost.toml", "[log]\nsyslog = \"off\"\n");
    assert_eq!(value(&ground, &ground.read(&[]), log).0, "\"off\"", "the file wins");
    for nonsense in
        ["XCATIPORT=0 LOGSERVER=mn", "XCATIPORT=70000", "XCATIPORT=x", "XCAT=mn:0", "XCAT=fd00::1"]
    {
        let ground = Ground::new(&[("proc/cmdline", nonsense)]);
        let input = ground.read(&[]);
        for key in [xcatd, port, log] {
            assert_eq!(value(&ground, &input, key).1, "default", "{nonsense}");
        }
    }
}

#[test]
fn a_folder_of_xcats_is_one() {
    let text = "[source]\nkind = \"xcat\"\ninstall_dir = \"/install/../etc\"\n";
    let ground = Ground::new(&[("etc/provost.toml", text)]);
    let (settings, failures) = ground.read(&[]).usable();
    assert_eq!(settings.xcat.unwrap().install_dir, "", "it is xCAT's all the same");
    let messages: String = failures.iter().map(|failure| failure.message.clone()).collect();
    assert!(messages.contains("\"/install/../etc\" (from file"), "{messages}");
}

#[test]
fn a_node_has_a_name_whatever_is_said() {
    let ground = Ground::new(&[("opt/xcat/xcatinfo", "NODE=cn5\n")]);
    assert_eq!(ground.read(&[]).node(), "cn5");
    assert_eq!(ground.read(&[("PROVOST_NODE", "cn9")]).node(), "cn9");
    ground.write("opt/xcat/xcatinfo", "");
    let input = ground.read(&[]);
    assert_eq!(value(&ground, &input, "node").1, "host name");
    assert!(!input.node().is_empty());
}

#[test]
fn a_token_that_is_given_directly_is_no_value_that_is_shown() {
    let ground = Ground::new(&[("proc/cmdline", "provost.token=secret-k")]);
    let input = ground.read(&[("PROVOST_TOKEN", "secret-e")]);
    assert_eq!(input.token_origin().unwrap().to_string(), "environment PROVOST_TOKEN");
    assert_eq!(ground.read(&[]).token_origin(), Some(&Origin::Kernel));
    assert!(input.values().all(|(_, value, _)| !value.to_string().contains("secret")));
}

#[test]
fn drop_ins_add_to_the_file_and_mistakes_name_their_line() {
    let ground = Ground::new(&[
        ("etc/provost.toml", "node = \"a\"\n[fetch]\ndeadline = \"1m\"\nstall_timeout = \"2s\"\n"),
        ("etc/provost.d/10.toml", "[fetch]\ndeadline = \"2m\"\n"),
    ]);
    let input = ground.read(&[]);
    assert_eq!(input.fragment.fetch.deadline.to_string(), "2m");
    assert_eq!(input.fragment.fetch.stall_timeout.to_string(), "2s");
    for (text, part) in [
        ("\n[fetch]\ndeadlin = \"2m\"\n", "10.toml:3: fetch.deadlin: unknown field"),
        ("[fetch]\nstall_timeout = 3\n", "10.toml:2: fetch.stall_timeout: "),
        ("[guard]\nmax_attempts = 0\n", "10.toml:2: guard.max_attempts: "),
        ("fetch = 3\n", "10.toml:1: fetch: "),
        ("\n[fetsh]\n", "10.toml:2: fetsh: unknown field"),
        ("[run]\nslow = \"1s\"\nslow = \"2s\"\n", "10.toml:3: "),
        ("token = \"secret\"\n", "10.toml:1: token: unknown field"),
        ("[paths]\nstate = \"provost\"\n", "10.toml:2: paths.state: \"provost\" isn't an absolute"),
        ("[paths]\nlog = \"\"\n", "10.toml:2: paths.log: \"\" isn't an absolute path"),
        ("[paths]\nlog = \"x\"\n", "hint: write the path from / on"),
        ("\nnode = 2026-11-20\n", "10.toml:2: node: a date without quotes isn't a text"),
        ("servers = [2026-11-20]\n", "10.toml:1: servers: a date"),
    ] {
        ground.write("etc/provost.d/10.toml", text);
        let input = ground.read(&[]);
        let failure = input.mistakes.iter().map(ToString::to_string).collect::<String>();
        assert!(failure.contains(part) && failure.contains("hint: "), "{failure}");
        assert!(!failure.contains("expected struct"), "{failure}");
        let may_be_unknown = failure.contains("an unknown key may be a typing error");
        assert_eq!(may_be_unknown, failure.contains("unknown field"), "{failure}");
        assert!(!failure.contains("secret"), "{failure}");
        assert_eq!((input.mistakes.len(), input.node().as_str()), (1, "a"), "{text}");
    }
}

#[test]
fn a_key_with_a_typing_error_is_the_only_failure_and_not_also_that_its_value_is_missing() {
    for (text, part) in [
        (
            "node = \"a\"\nsevrers = [\"http://f\"]\n[trust]\nunsigned = true\n",
            ":2: sevrers: unknown",
        ),
        (
            "node = \"a\"\nservers = [\"http://f\"]\n[trust]\nkey = [\"RW\"]\n",
            ":4: trust.key: unknown",
        ),
    ] {
        let ground = Ground::new(&[("etc/provost.toml", text)]);
        let (_, failures) = ground.read(&[]).usable();
        let failures = failures.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(failures.len() == 1 && failures[0].contains(part), "{failures:?}");
    }
}

#[test]
fn the_other_lines_of_a_file_that_is_no_toml_are_used_and_only_its_first_mistake_is_reported() {
    let text = "node = \"a\"\nservers = [\"http://f\"]\n[trust\nkeys = []\n[run]\ngrace = \"3s\"\n";
    let ground = Ground::new(&[("etc/provost.toml", text)]);
    let input = ground.read(&[]);
    assert_eq!(input.mistakes.len(), 1);
    assert!(input.mistakes[0].message.contains("provost.toml:3: "), "{}", input.mistakes[0]);
    let (settings, failures) = input.usable();
    assert_eq!((settings.node.as_str(), settings.servers.len()), ("a", 1));
    assert_eq!(settings.run.grace.to_string(), "3s");
    assert_eq!(failures[0].message, input.mistakes[0].message);
}

#[test]
fn servers_of_which_none_can_be_asked_hide_no_others() {
    let ground = Ground::new(&[
        ("etc/provost.toml", "servers = [\"10.0.0.9\"]\n"),
        ("opt/xcat/xcatinfo", "XCATSERVER=10.0.0.1\n"),
    ]);
    let (settings, failures) = ground.read(&[]).usable();
    assert_eq!(settings.servers[0].as_str(), "http://10.0.0.1/");
    assert!(settings.xcat.is_some());
    let message = failures[0].to_string();
    assert!(
        message.contains("\"10.0.0.9\" (from file") && message.contains("write it as a URL"),
        "{message}"
    );
}

#[test]
fn a_servers_name_is_written_in_ascii() {
    let ground = Ground::new(&[(
        "etc/provost.toml",
        "servers = [\"http://xn--mller-kva.example\", \"http://müller.example\"]\n",
    )]);
    let (settings, failures) = ground.read(&[]).usable();
    let servers: Vec<&str> = settings.servers.iter().map(|url| url.as_str()).collect();
    assert_eq!(servers, ["http://xn--mller-kva.example/"]);
    let message = failures[0].to_string();
    assert!(message.contains("(from file") && message.contains("in ASCII"), "{message}");
}

#[test]
fn a_server_has_no_query_and_no_fragment_which_would_swallow_the_paths() {
    for wrong in ["http://10.0.0.1:8480/?x=1", "http://10.0.0.1:8480/#www"] {
        let text = format!("servers = [\"http://10.0.0.2\", {wrong:?}]\n");
        let (settings, failures) = Ground::new(&[("etc/provost.toml", &*text)]).read(&[]).usable();
        assert_eq!(settings.servers.len(), 1, "{wrong}");
        assert!(failures[0].message.contains("it has a `?` or a `#`"), "{}", failures[0]);
    }
}

#[test]
fn a_node_of_xcats_kernel_arguments_moves_by_an_argument_of_ours_and_what_does_not_count_is_known()
{
    let ground = Ground::new(&[
        ("proc/cmdline", "XCAT=10.0.0.1:3001 NODE=cn1"),
        ("etc/provost.toml", "node = \"cn1\"\nservers = [\"http://f\"]\n[run]\nslow = \"1s\"\n"),
        ("etc/provost.d/10.toml", "[run]\nslow = \"2s\"\n"),
    ]);
    let input = ground.read(&[]);
    assert_eq!(value(&ground, &input, "servers").0, "[\"http://10.0.0.1:80\"]");
    let overridden: Vec<_> =
        input.overridden().iter().map(|o| format!("{} {}", o.key, o.by)).collect();
    assert_eq!(overridden, ["servers kernel command line, XCAT="]);

    ground.write("proc/cmdline", "XCAT=10.0.0.1:3001 NODE=cn1 provost.server=http://k");
    let input = ground.read(&[]);
    assert_eq!(value(&ground, &input, "servers").0, "[\"http://k\"]");
    assert_eq!(value(&ground, &input, "source.kind").0, "\"provost\"");
    ground.write("proc/cmdline", "NODE=cn1");
    let input = ground.read(&[]);
    assert_eq!(value(&ground, &input, "servers").0, "[\"http://f\"]");
    assert!(input.overridden().is_empty());
}

#[test]
fn a_mistake_gives_no_token_to_whom_a_lease_names() {
    for text in ["servers = \"http://f\"\n", "[servers\n"] {
        let ground =
            Ground::new(&[("etc/provost.toml", text), ("run/systemd/netif/leases/2", LEASE)]);
        let (settings, failures) = ground.read(&[]).usable();
        assert!(settings.servers.is_empty() && !failures.is_empty(), "{text}");
    }
}

#[test]
fn one_mistake_hides_neither_the_others_nor_what_is_right() {
    let ground = Ground::new(&[(
        "etc/provost.toml",
        "node = \"a\"\nservers = \"http://f\"\n[fetch]\n[guard]\nmax_attempts = -1\nmax_reboots = 7\n",
    )]);
    let input = ground.read(&[]);
    assert_eq!(input.mistakes.len(), 2);
    assert_eq!(value(&ground, &input, "guard.max_reboots").0, "7");
    assert_eq!(value(&ground, &input, "guard.max_attempts").1, "default");
    assert!(!input.values().any(|(key, _, _)| key == "fetch"));
    assert_eq!(input.node(), "a");
}
