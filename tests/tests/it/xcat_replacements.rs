//! docs/xcat-scripts.md: its table has each of xCAT's scripts, and no other.

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/xcat-scripts.md");

/// The files in the folder `xCAT/postscripts` of xCAT 2.19.0.
const XCATS: &str = "\
    HPCbootstatus HPCbootstatus.aix HPCbootstatus.linux HPCbootstatus.linuxinit addcudakey \
    addsiteyum aixlitesetup aixremoteshell aixswupdate aixvgsetup allowcred.awk bmcsetup \
    check_mlnx_firmware chef-client cleanup_nvm.sh confGang config_bootnicsea config_chef_client \
    config_chef_server config_chef_workstation config_cuda config_puppet_client config_puppet_server \
    configbond configefi configeth configeth_aix configfirewall confighfi configib configinterface \
    confignetwork confignics confignimsh createFS cuda_power9_setup cumulusztp cvs_template.pl \
    cvs_template.sh db2install disableconsistentNICrename documulusdiscovery efibootmgr enablecapi \
    enabledebug enablekdump enablesnmp enablesysreq getcredentials.awk getinv getipmi \
    getmypostscript.cumulus getpostscript.awk hardeths injectservice install_chef_client \
    install_chef_server install_chef_workstation install_lsf install_puppet_client \
    install_puppet_server joindomain killsyslog locktftpdir.awk lsf_startup make_sn_fs makeinitrd \
    mkhyperv mkresolvconf mountinstall nicutils.sh odbcsetup ospkgs otherpkgs reboot redirectps \
    remoteshell replace_byid_device resyslog routeop runxcatpost serialconsole servicenode \
    setbootfromdisk setbootfromnet setiscsiparms.awk setroute setupLDAP setupesx \
    setupnfsv4replication setupntp setupntp.traditional setuppostbootscripts setupscratch \
    startsyncfiles startsyncfiles.aix startsyncfiles.awk sudoer syncfiles syscloneimgupdate syslog \
    umountpost unlocktftpdir.awk update_mlnx_adapter_firmware update_nvme_firmware updateflag.awk \
    updatenetwork upflagx64.exe upflagx86.exe uploadboot xcataixpost xcataixscript xcatclient \
    xcatdsklspost xcatflowrequest xcatinstallpost xcatlib.sh xcatpostinit xcatpostinit.service \
    xcatpostinit1 xcatpostinit1.install xcatpostinit1.netboot xcatpostinit1.service \
    xcatpostinit1.service.yast2 xcatserver";

/// The table's rows: the names of xCAT's scripts, and what replaces them.
fn rows() -> Vec<(Vec<&'static str>, &'static str)> {
    let section = PAGE.split_once("\n## Replacements of xCAT's scripts\n").unwrap().1;
    let table = section.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = table.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [names, replacement] = cells[..] else { panic!("two cells: {row}") };
        let names = names.split(' ').map(|name| {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            name.unwrap_or_else(|| panic!("names alone, each in ``: {row}"))
        });
        (names.collect(), replacement)
    })
    .collect()
}

#[test]
fn each_of_xcats_scripts_is_in_the_table_once_and_no_other() {
    let xcats: BTreeSet<&str> = XCATS.split_whitespace().collect();
    let mut named = BTreeSet::new();
    for (names, replacement) in rows() {
        assert!(!replacement.is_empty(), "{names:?}");
        for name in names {
            assert!(xcats.contains(name), "xCAT has no {name}");
            assert!(named.insert(name), "{name} is there twice");
        }
    }
    assert_eq!(xcats.difference(&named).collect::<Vec<_>>(), Vec::<&&str>::new(), "not there");
}

#[test]
fn each_script_of_the_same_name_is_there() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts");
    let (same, _) = rows().swap_remove(0);
    assert!(same.contains(&"syncfiles"), "{same:?}");
    for name in same {
        assert!(ours.join(name).is_file(), "{name}");
    }
}
