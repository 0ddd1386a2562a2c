//! A cluster of xCAT's with service nodes: which of two management nodes serves a node, and which one it asks
//! next time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use provost_tests::skip_part;
use provost_tests::xcat::monitor::{Habit as MonitorHabit, Monitor};
use provost_tests::xcat::{Habit, Web, WebKind, XcatNode, XcatServer, Xcatd, mypostscript};

/// Where the service node is. It has the management node's ports.
const SERVICE_NODE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const MANAGEMENT_NODE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A management node that hands its node the preamble `of_node`. Its script says which node it is of.
fn site(name: &str, of_node: &str) -> (XcatServer, Web) {
    let (server, web) = XcatServer::with_web(WebKind::Nginx);
    server.script("who", &format!("#!/bin/sh\necho {name} $MASTER $XCATSERVER >../who\n"));
    server.mypostscript("cn1", &mypostscript(of_node, &["who"], &[]));
    (server, web)
}

fn exported(master: IpAddr, name: &str) -> String {
    format!("export MASTER_IP='{master}' MASTER='{name}'")
}

fn port(web: &Web) -> u16 {
    web.address().parse::<SocketAddr>().unwrap().port()
}

/// Passes connections to `address` on to `to`. It lasts as long as the test.
fn pass_on(address: SocketAddr, to: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(to) else { continue };
            for (mut from, mut to) in [
                (stream.try_clone().unwrap(), server.try_clone().unwrap()),
                (server.try_clone().unwrap(), stream.try_clone().unwrap()),
            ] {
                std::thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    Ok(())
}

/// A node that knows only what xCAT has noted, and `more`.
fn finds_by_xcatinfo(node: &XcatNode, server: &str, port: u16, more: &str) {
    std::fs::create_dir_all(node.path("xcat")).unwrap();
    let noted = format!("XCATSERVER='{server}'\nHTTPPORT={port}\nNODE=cn1\n");
    std::fs::write(node.path("xcat/xcatinfo"), noted).unwrap();
    let monitor = if more.contains("monitor_port") { "" } else { "monitor_port = 1\n" };
    (**node).configure(&format!(
        "[source]\nkind = \"xcat\"\nxcatd_port = 1\n{monitor}{more}[trust]\nunsigned = true\n\
         [fetch]\ndeadline = \"5s\"\n[report]\ndeadline = \"2s\"\n[guard]\nmax_attempts = 100\n"
    ));
}

fn who(node: &XcatNode) -> String {
    std::fs::read_to_string(node.path("who")).unwrap().trim().to_owned()
}

fn noted(node: &XcatNode, key: &str) -> String {
    let text = std::fs::read_to_string(node.path("xcat/xcatinfo")).unwrap();
    let lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(key)).collect();
    assert_eq!(lines.len(), 1, "{text}");
    lines[0].trim_start_matches('=').trim_matches('\'').to_owned()
}

/// `xcatmaster` has changed: what is handed out names the service node, which is asked from then on.
#[test]
fn a_node_follows_its_xcatmaster_to_a_service_node_and_back() {
    let (management, web) = site("mn", &exported(SERVICE_NODE, "sn"));
    let (service, own) = site("sn", &exported(SERVICE_NODE, "sn"));
    let at = port(&web);
    pass_on((SERVICE_NODE, at).into(), own.address().parse().unwrap()).unwrap();
    let node = management.node("cn1", web.address());
    finds_by_xcatinfo(&node, "127.0.0.1", at, "");
    node.boot(0);
    assert_eq!(who(&node), "mn sn 127.0.0.1:1");
    assert_eq!(
        (noted(&node, "XCATSERVER"), noted(&node, "HTTPPORT")),
        ("127.0.0.2".into(), at.to_string())
    );
    // Its own /install, and its own scripts.
    node.boot(0);
    assert_eq!(who(&node), "sn sn 127.0.0.2:1");
    // `updatenode` names another server, and means this run alone.
    let update = ["xcatdsklspost", "1", "-m", web.address(), "who", "--tftp", "/tftpboot", "-c"];
    node.provost(&update).expect(0);
    assert_eq!(who(&node), "mn sn 127.0.0.1:1");
    assert_eq!(noted(&node, "XCATSERVER"), "127.0.0.2");
    // And back.
    let back = exported(MANAGEMENT_NODE, "mn");
    service.mypostscript("cn1", &mypostscript(&back, &["who"], &[]));
    management.mypostscript("cn1", &mypostscript(&back, &["who"], &[]));
    node.boot(0);
    assert_eq!(
        (who(&node), noted(&node, "XCATSERVER")),
        ("sn mn 127.0.0.2:1".into(), "127.0.0.1".into())
    );
    node.boot(0);
    assert_eq!(who(&node), "mn mn 127.0.0.1:1");
}

/// A pool of two service nodes (`servicenode=sn1,sn2`), one of which is dead, with and without
/// `precreatemypostscripts`.
#[test]
fn of_a_pool_the_one_that_lives_serves_scripts_and_mypostscript() {
    let (service, web) = site("sn", &exported(MANAGEMENT_NODE, "sn"));
    let monitor = Monitor::start(MonitorHabit::Right);
    let xcatd = Xcatd::start(
        &service.path("xcatd"),
        Habit::Serve(mypostscript("export MASTER='by-xcatd'", &["who"], &[])),
    );
    // Nobody is there.
    let dead = format!("127.0.0.3:{}", port(&web));
    let of_pool = [
        format!("{dead}\", \"http://{}", web.address()),
        format!("{}\", \"http://{dead}", web.address()),
    ];
    for (n, pool) in of_pool.iter().enumerate() {
        let node = service.node("cn1", pool);
        let ports = format!("monitor_port = {}\nxcatd_port = {}\n", monitor.port(), xcatd.port());
        node.configure(&format!(
            "{ports}[fetch]\ndeadline = \"10s\"\nconnect_timeout = \"1s\"\n[report]\ndeadline = \"5s\"\n"
        ));
        node.boot(0);
        assert_eq!(who(&node), format!("sn sn 127.0.0.1:{}", xcatd.port()));
        assert_eq!(xcatd.requests(), 0);
        // It is told of all of it.
        monitor.hears_so_much(n + 1);
        monitor.hears("installstatus booted");

        // Off: the web server has none, and the service node's own xcatd is asked, not the dead one's.
        let file = service.path("www/tftpboot/mypostscripts/mypostscript.cn1");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        node.boot(0);
        assert_eq!(who(&node), format!("sn by-xcatd 127.0.0.1:{}", xcatd.port()));
        assert_eq!(xcatd.requests(), 1);
        // On again.
        service.mypostscript("cn1", &text);
        node.boot(0);
        assert!(who(&node).starts_with("sn sn "), "{}", who(&node));
        assert_eq!(xcatd.requests(), 0);
    }
}

#[test]
fn a_manager_with_an_ipv6_address_is_found_noted_and_told() {
    let of_node = exported(Ipv6Addr::LOCALHOST.into(), "mn");
    let (management, web) = site("mn", &of_node);
    let monitor = Monitor::start(MonitorHabit::Right);
    let six = |port| SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    let passes = |port| pass_on(six(port), (MANAGEMENT_NODE, port).into());
    if passes(port(&web)).and_then(|()| passes(monitor.port())).is_err() {
        return skip_part("no IPv6");
    }
    let node = management.node("cn1", web.address());
    let told = format!("monitor_port = {}\n", monitor.port());
    // As xCAT writes it, and as a URL has it.
    for server in ["::1", "[::1]"] {
        finds_by_xcatinfo(&node, server, port(&web), &told);
        node.boot(0);
        assert_eq!(who(&node), "mn mn [::1]:1");
        assert_eq!(noted(&node, "XCATSERVER"), "::1");
        // The next boot finds it by what was noted.
        node.boot(0);
    }
    monitor.hears_so_much(4);
    assert!(
        monitor.said().iter().all(|said| said.starts_with("installstatus ")),
        "{:?}",
        monitor.said()
    );
}
