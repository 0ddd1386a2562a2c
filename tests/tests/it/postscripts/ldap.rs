//! `setupldap`, with the real sssd's own check of its configuration.

use crate::postscripts::root::{Kind, Root};

const BASE: (&str, &str) = ("LDAP_BASE", "dc=cluster,dc=example");
const URI: (&str, &str) = ("LDAP_URI", "ldaps://ldap1.cluster.example, ldap://[fd00::1]:3890/");
const CA: (&str, &str) = ("LDAP_CA", "ldap/ca.pem");
const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/// A Debian where sssd is installed, and nothing uses it.
fn system(kind: Kind) -> Root {
    let root = Root::new(kind);
    let unused = "set -e; sed -i '/^[a-z]*:/s/ sss$//' /etc/nsswitch.conf
        pam-auth-update --disable sss; systemctl --quiet disable sssd; ! grep -r sss /etc/nsswitch.conf /etc/pam.d/common-auth";
    root.sh(unused, &[]).expect(0);
    root.write("ldap/ca.pem", PEM);
    root
}

#[test]
fn users_come_from_ldap_by_encrypted_connections() {
    let root = system(Kind::Chroot);
    root.write("/etc/sssd/sssd.conf", "[sssd]\ndomains = old\n");
    root.settles("setupldap", &[URI, BASE, CA]);
    let conf = root.text("/etc/sssd/sssd.conf");
    for line in [
        "ldap_uri = ldaps://ldap1.cluster.example,ldap://[fd00::1]:3890",
        "ldap_search_base = dc=cluster,dc=example",
        "ldap_id_use_start_tls = true",
        "ldap_tls_reqcert = demand",
        "ldap_tls_cacert = /etc/sssd/ldap-ca.pem",
    ] {
        assert!(conf.lines().any(|is| is == line), "{line} isn't in\n{conf}");
    }
    assert_eq!(root.text("/etc/sssd/ldap-ca.pem"), PEM);
    assert_eq!(root.mode("/etc/sssd/sssd.conf"), 0o600);
    assert!(root.text("/etc/sssd/sssd.conf.provost-orig").contains("domains = old"));
    let check = root.sh("sssctl config-check", &[]).expect(0);
    assert!(check.stdout.contains("Issues identified by validators: 0"), "{check:?}");
    let names = root.text("/etc/nsswitch.conf");
    for database in ["passwd", "group", "shadow"] {
        let mut lines = names.lines().filter(|line| line.starts_with(&format!("{database}:")));
        assert!(lines.next().is_some_and(|line| line.ends_with("files sss")), "{names}");
    }
    assert!(root.text("/etc/pam.d/common-auth").contains("pam_sss.so"));
    assert!(root.path("/etc/systemd/system/multi-user.target.wants/sssd.service").is_symlink());

    // A password stands in that file alone.
    let bind = [("LDAP_BIND_DN", "cn=node,dc=cluster"), ("LDAP_BIND_PASSWORD", "gehe$im '1")];
    let out = root.settles("setupldap", &[URI, BASE, bind[0], bind[1]]);
    assert!(root.text("/etc/sssd/sssd.conf").contains("\nldap_default_authtok = gehe$im '1\n"));
    assert!(!root.text("/etc/sssd/sssd.conf").contains("cacert"));
    assert!(!format!("{out:?}").contains("gehe"), "{out:?}");

    // From 2.10 on sssd's unit gives its group the file: that stays.
    root.sh("groupadd sssd; chgrp sssd /etc/sssd/sssd.conf; chmod 640 /etc/sssd/sssd.conf", &[])
        .expect(0);
    let out = root.script("setupldap", &[URI, BASE, bind[0], bind[1]]).expect(0);
    assert!(!out.stdout.contains("changed: "), "{out:?}");
}

/// A service manager that only notes what it is asked.
const SYSTEMCTL: &str = r#"mkdir -p /run/systemd/system
mv /usr/bin/systemctl /usr/bin/systemctl.real
cat >/usr/bin/systemctl <<'X'
#!/bin/sh
case $1 in
--quiet | enable) SYSTEMD_OFFLINE=1 exec systemctl.real "$@" ;;
is-active) [ -e /run/active ] ;;
daemon-reload) ;;
*) echo "$1" >>/run/asked; >/run/active ;;
esac
X
chmod +x /usr/bin/systemctl"#;

#[test]
fn a_server_that_nobody_reaches_is_said_on_a_machine() {
    let root = system(Kind::Machine);
    root.sh(SYSTEMCTL, &[]).expect(0);
    let server = root.listener();
    let address = server.local_addr().unwrap();
    let uri = format!("ldap://127.0.0.1:1 ldaps://{address}");
    root.settles("setupldap", &[("LDAP_URI", &uri), BASE, CA]);
    assert_eq!(root.text("/run/asked"), "restart\n");
    drop(server);
    root.refuses("setupldap", &[("LDAP_URI", &uri), BASE, CA], &["no LDAP server can be reached"]);
}

#[test]
fn with_authselect_its_profile_is_selected() {
    let root = system(Kind::Chroot);
    root.write(
        "/usr/bin/authselect",
        "#!/bin/sh\ncase $1 in current) cat /run/profile ;; *) [ ! -e /run/by-hand ] && echo $2 >/run/profile ;; esac\n",
    );
    root.sh("chmod +x /usr/bin/authselect; echo minimal >/run/profile; >/run/by-hand", &[])
        .expect(0);
    root.refuses("setupldap", &[URI, BASE], &["authselect cannot select sssd", "--force"]);
    root.sh("rm /run/by-hand", &[]).expect(0);
    root.settles("setupldap", &[URI, BASE]);
    assert_eq!(root.text("/run/profile"), "sssd\n");
    assert!(!root.text("/etc/nsswitch.conf").contains("sss"));
}

#[test]
fn on_suse_pam_config_lets_logins_use_it() {
    let root = system(Kind::Chroot);
    root.write("/usr/sbin/pam-config", "#!/bin/sh\n[ \"$*\" = '--add --sss' ] && echo 'auth sufficient pam_sss.so' >>/etc/pam.d/common-auth\n");
    root.sh("chmod +x /usr/sbin/pam-config; rm /usr/sbin/pam-auth-update", &[]).expect(0);
    root.settles("setupldap", &[URI, BASE]);
    assert!(root.text("/etc/pam.d/common-auth").ends_with("\nauth sufficient pam_sss.so\n"));
}

#[test]
fn what_is_no_directory_is_refused_and_nothing_is_written() {
    let root = system(Kind::Chroot);
    root.write("key.pem", &format!("{PEM}-----BEGIN PRIVATE KEY-----\n"));
    root.write("der", "0\u{82}");
    let before = root.changes();
    for (env, says) in [
        (("LDAP_URI", "http://ldap1"), "LDAP_URI has an invalid address: 'http://ldap1'"),
        (("LDAP_URI", "ldap://"), "LDAP_URI has an invalid address"),
        (("LDAP_URI", "ldap://a:b"), "LDAP_URI has an invalid address"),
        (("LDAP_URI", "ldaps://ldap://a"), "LDAP_URI has an invalid address"),
        (("LDAP_URI", "ldap://$(touch /x)"), "LDAP_URI has an invalid address"),
        (("LDAP_URI", ""), "LDAP_URI is not set"),
        (("LDAP_BASE", "cluster.example"), "LDAP_BASE is not a distinguished name"),
        (("LDAP_BASE", "dc=a\nid_provider = x"), "LDAP_BASE is not a distinguished name"),
        (("LDAP_BASE", ""), "LDAP_BASE is not set"),
        (("LDAP_CA", "/etc/passwd"), "LDAP_CA is not in the bundle"),
        (("LDAP_CA", "ldap/../../x"), "LDAP_CA is not in the bundle"),
        (("LDAP_CA", "none.pem"), "there is no none.pem in the bundle"),
        (("LDAP_CA", "key.pem"), "has a private key"),
        (("LDAP_CA", "der"), "has no certificate"),
        (("LDAP_BIND_DN", "cn=node"), "LDAP_BIND_PASSWORD is not set"),
    ] {
        // Of one name the last value counts.
        root.refuses("setupldap", &[URI, BASE, CA, env], &[says]);
    }
    assert_eq!(root.changes(), before);
    root.sh("rm /usr/sbin/sssd", &[]).expect(0);
    root.refuses("setupldap", &[URI, BASE, CA], &["sssd is not installed"]);
}
