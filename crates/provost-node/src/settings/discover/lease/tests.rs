use std::fs;

use super::*;

const NOW: &str = "2026-11-20T12:00:00Z";

/// ISC dhclient 4.4: two leases of one interface, the older one first.
const DHCLIENT: &str = r#"default-duid "\000\001\000\001+\256\264\243RT\000\022\064V";
lease {
  interface "eth0";
  fixed-address 10.0.0.17;
  filename "pxelinux.0; }";
  option subnet-mask 255.255.255.0;
  option routers 10.0.0.254;
  option dhcp-lease-time 43200;
  option dhcp-message-type 5;
  option domain-name-servers 10.0.0.1,10.0.0.2;
  option dhcp-server-identifier 10.0.0.9;
  option domain-name "cluster.example";
  renew 4 2026/11/19 14:10:02;
  rebind 4 2026/11/19 19:32:51;
  expire 4 2026/11/19 21:02:51;
}
lease {
  interface "eth0";
  fixed-address 10.0.0.17;
  next-server 10.0.0.2;
  option dhcp-server-identifier 10.0.0.1;
  renew 5 2026/11/20 14:10:02;
  rebind 5 2026/11/20 19:32:51;
  expire 5 2026/11/20 21:02:51;
}
"#;

/// systemd-networkd 252, /run/systemd/netif/leases/2.
const NETWORKD: &str = "# This is private data. Do not parse.\nADDRESS=10.0.0.17\n\
    NETMASK=255.255.255.0\nROUTER=10.0.0.254\nSERVER_ADDRESS=10.0.0.1\nNEXT_SERVER=10.0.0.1\n\
    T1=6h\nT2=10h 30min\nLIFETIME=12h\nDNS=10.0.0.1\nDOMAINNAME=cluster.example\n\
    CLIENTID=ffb6220feb00020000ab11\n";

/// NetworkManager 1.18, internal-UUID-eth0.lease.
const NETWORK_MANAGER: &str = "# This is private data. Do not parse.\nADDRESS=10.0.0.17\n\
    NETMASK=255.255.255.0\nROUTER=10.0.0.254\nSERVER_ADDRESS=10.0.0.3\nNEXT_SERVER=10.0.0.4\n\
    T1=21600\nT2=37800\nLIFETIME=43200\n";

/// NetworkManager, /run/NetworkManager/devices/2.
const NETWORK_MANAGER_DEVICE: &str = "[device]\nmanaged=true\n\
    connection-uuid=4a33d50f-6a2c-4bb8-9a4c-0d1f5a3f1f7b\nnm-owned=0\nroute-metric-default=100\n\
    next-server=10.0.0.5\n";

/// The first packet of RFC 2131, as dhcpcd 9 keeps it: siaddr 10.0.0.6, then its options.
fn dhcpcd(options: &[&[u8]]) -> Vec<u8> {
    let mut packet = vec![0; 236];
    packet[0] = 2;
    packet[20..24].copy_from_slice(&[10, 0, 0, 6]);
    packet.extend([99, 130, 83, 99]);
    packet.extend(options.concat());
    packet
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// Writes a file below `root`, `hours` before now.
fn write(root: &Path, name: &str, bytes: impl AsRef<[u8]>, hours: i64) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    let written = now().checked_sub(SignedDuration::from_hours(hours)).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(written.into()).unwrap();
}

fn found(root: &Path) -> Option<(String, Vec<String>)> {
    let lease = newest(root, now())?;
    let name = lease.path.strip_prefix(root).unwrap().display().to_string();
    Some((name, lease.servers.iter().map(ToString::to_string).collect()))
}

#[test]
fn each_clients_lease_names_its_servers() {
    let packet = dhcpcd(&[
        &[53, 1, 5, 0, 51, 4, 0, 0, 0xa8, 0xc0],
        &[54, 4, 10, 0, 0, 1, 12, 2, b'c', b'n', 255],
    ]);
    for (name, bytes, expected) in [
        ("var/lib/dhcp/dhclient.eth0.leases", DHCLIENT.as_bytes(), &["10.0.0.1", "10.0.0.2"][..]),
        ("var/lib/dhclient/dhclient.leases", DHCLIENT.as_bytes(), &["10.0.0.1", "10.0.0.2"]),
        ("run/systemd/netif/leases/2", NETWORKD.as_bytes(), &["10.0.0.1"]),
        (
            "var/lib/NetworkManager/internal-4a33d50f-eth0.lease",
            NETWORK_MANAGER.as_bytes(),
            &["10.0.0.3", "10.0.0.4"],
        ),
        ("run/NetworkManager/devices/2", NETWORK_MANAGER_DEVICE.as_bytes(), &["10.0.0.5"]),
        ("var/lib/dhcpcd/eth0.lease", &packet, &["10.0.0.1", "10.0.0.6"]),
        (
            "var/lib/dhcpcd/dhcpcd-eth0.info",
            b"IPADDR='10.0.0.17'\nDHCPSID='10.0.0.1'\nLEASETIME='43200'\n",
            &["10.0.0.1"],
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), name, bytes, 1);
        let expected = expected.iter().map(|&s| s.to_owned()).collect();
        assert_eq!(found(root.path()), Some((name.to_owned(), expected)));
    }
}

#[test]
fn the_newest_lease_that_holds_wins() {
    let root = tempfile::tempdir().unwrap();
    let servers = || found(root.path()).map(|(_, servers)| servers.join(" "));
    // 43200 s: these are over.
    write(root.path(), "var/lib/NetworkManager/internal-1-eth0.lease", NETWORK_MANAGER, 13);
    write(root.path(), "run/systemd/netif/leases/2", NETWORKD, 13);
    let over = dhcpcd(&[&[51, 4, 0, 0, 0, 60], &[54, 4, 10, 0, 0, 1, 255]]);
    write(root.path(), "var/lib/dhcpcd/eth0.lease", over, 1);
    assert_eq!(servers(), None);
    write(root.path(), "var/lib/dhclient/dhclient.leases", DHCLIENT, 3);
    assert_eq!(servers().as_deref(), Some("10.0.0.1 10.0.0.2"));
    write(root.path(), "var/lib/NetworkManager/internal-2-eth1.lease", NETWORK_MANAGER, 2);
    assert_eq!(servers().as_deref(), Some("10.0.0.3 10.0.0.4"));
    let for_ever = dhcpcd(&[&[51, 4, 255, 255, 255, 255], &[54, 4, 10, 0, 0, 7]]);
    write(root.path(), "var/lib/dhcpcd/eth1.lease", for_ever, 1);
    assert_eq!(servers().as_deref(), Some("10.0.0.7 10.0.0.6"));
}

#[test]
fn dhclient_writes_the_end_in_three_ways() {
    let expires = |end: &str| {
        dhclient(&format!("lease {{\n  expire {end}\n}}\n"))
            .remove(0)
            .expires
            .map(|t| t.to_string())
    };
    assert_eq!(expires("5 2026/11/20 21:02:51;").as_deref(), Some("2026-11-20T21:02:51Z"));
    assert_eq!(
        expires("epoch 1795208571; # Fri Nov 20 21:02:51 2026").as_deref(),
        Some("2026-11-20T21:02:51Z")
    );
    assert_eq!(expires("never;"), None);
}

#[test]
fn garbage_says_nothing() {
    let root = tempfile::tempdir().unwrap();
    let torn = DHCLIENT.split_once("lease {").unwrap().1;
    let torn = format!("lease {{{}", torn.split_once("option dhcp-lease-time").unwrap().0);
    let short = dhcpcd(&[&[54, 4, 10, 0]]);
    // The server's own file, which lies in the same folder.
    let dhcpd = "lease 10.0.0.17 {\n  starts 5 2026/11/20 09:00:00;\n  next-server 10.0.0.1;\n}\n";
    for (name, bytes) in [
        ("var/lib/dhcp/dhclient.leases", &b"\xff\xfe\0garbage{}}"[..]),
        ("var/lib/dhcp/dhclient.eth1.leases", torn.as_bytes()),
        ("var/lib/dhcp/dhclient6.leases", b"lease6 {\n  option dhcp6.server-id 0:1;\n}\n"),
        ("var/lib/dhcp/dhcpd.leases", dhcpd.as_bytes()),
        ("var/lib/dhcpcd/eth0.lease", &short[..239]),
        ("var/lib/dhcpcd/eth2.lease", &[0xff; 236]),
        ("run/systemd/netif/leases/3", b"SERVER_ADDRESS=\nNEXT_SERVER=0.0.0.0\n=\n"),
        ("run/systemd/netif/leases/4", b"SERVER_ADDRESS=localhost\nLIFETIME=-\n"),
    ] {
        write(root.path(), name, bytes, 1);
    }
    fs::create_dir_all(root.path().join("var/lib/dhclient/dhclient.leases")).unwrap();
    assert_eq!(found(root.path()), None);
}

#[test]
fn whatever_stands_there_is_read_without_harm() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let packet = dhcpcd(&[&[53, 1, 5, 51, 4, 0, 0, 0xa8, 0xc0], &[54, 4, 10, 0, 0, 1, 255]]);
    let samples =
        [DHCLIENT.as_bytes(), NETWORKD.as_bytes(), NETWORK_MANAGER_DEVICE.as_bytes(), &packet];
    println!("seed {seed}");
    for _ in 0..20_000 {
        let mut bytes = random.choice(samples).unwrap().to_vec();
        bytes.truncate(random.usize(..=bytes.len()));
        for _ in 0..random.usize(..4).min(bytes.len()) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        for terms in terms(&bytes, now()) {
            terms.holds(now());
            assert!(terms.servers().len() <= 2);
        }
    }
}
