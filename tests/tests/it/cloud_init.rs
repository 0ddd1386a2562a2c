//! What `provostctl snippet cloud-init` prints, run by Debian's cloud-init in a root that it finds at its first
//! boot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Chroot, Cluster, Out, skip};
use tempfile::TempDir;

use crate::kickstart::management_node;
use crate::postscripts::root::make_base;

/// What an image for clouds has more than the root of the postscripts' tests.
const PACKAGES: &str = "cloud-init curl";

/// Installs `$3…` in the root `$1`; what that adds is in `$2/layer`.
const INSTALL: &str = r#"set -e
base=$1 folder=$2; shift 2
mkdir -p "$folder/layer" "$folder/work" "$folder/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$folder/layer,workdir=$folder/work" "$folder/root"
mount -t proc proc "$folder/root/proc"
mount -t tmpfs tmpfs "$folder/root/run"
mkdir -p "$folder/root/var/cache/apt/archives/partial"
export DEBIAN_FRONTEND=noninteractive
chroot "$folder/root" apt-get -q update
chroot "$folder/root" apt-get -q -y --no-install-recommends install "$@"
rm -rf "$folder"/root/var/cache/apt/archives/*.deb"#;

/// As the four units of cloud-init start it, on a machine with a name of its own.
const BOOT: &str = "exec unshare --uts sh -c 'cloud-init init --local
cloud-init init
cloud-init modules --mode=config
cloud-init modules --mode=final
cloud-init status --long'";

/// The image's own: where its data is, and that it has no disk and no network of its own. One kind of ssh's
/// keys, and no locale, are soon made.
const IMAGE: &str = "datasource_list: [NoCloud]\nnetwork: {config: disabled}\n\
                     growpart: {mode: 'off'}\nresize_rootfs: false\n\
                     ssh_genkeytypes: [ed25519]\nlocale: false\n";

/// A root with cloud-init; the test ends where none can be made.
fn image(folder: &TempDir) -> Chroot {
    let lower = with_cloud_init().and_then(|lower| Chroot::of(&lower, folder.path()));
    lower.unwrap_or_else(|why| skip(&format!("no root with cloud-init: {why}")))
}

/// Its layers, which are made once.
fn with_cloud_init() -> Result<PathBuf, String> {
    let base = make_base()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cloud-init");
    let lock = fs::File::create(folder.with_extension("lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let made = format!("{PACKAGES}, on {}", text(base.join("etc/made-of")));
    if text(folder.join("made-of")) != made {
        let _ = fs::remove_dir_all(&folder);
        let mut install = Command::new("unshare");
        install.args(["--mount", "--propagation", "private", "sh", "-c", INSTALL, "sh"]);
        install.args([&base, &folder]).args(PACKAGES.split(' '));
        let out = Out::from(install.output().map_err(|e| format!("unshare: {e}"))?);
        if out.code != Some(0) {
            return Err(format!(
                "installing it: {}",
                out.stderr.lines().last().unwrap_or_default()
            ));
        }
        fs::write(folder.join("made-of"), made).map_err(|e| e.to_string())?;
    }
    Ok(format!("{}:{}", folder.join("layer").display(), base.display()).into())
}

/// The image's first boot with `data` as the user's or the vendor's; that of the other one is empty.
fn boot(root: &Chroot, (kind, data): (&str, &str)) -> Out {
    let seed = root.path("/var/lib/cloud/seed/nocloud");
    fs::create_dir_all(&seed).unwrap();
    fs::write(root.path("/etc/cloud/cloud.cfg.d/99_image.cfg"), IMAGE).unwrap();
    fs::write(seed.join("meta-data"), "instance-id: i-1\nlocal-hostname: cn001\n").unwrap();
    for one in ["user-data", "vendor-data"] {
        let text = if one == kind { data } else { "#cloud-config\n{}\n" };
        fs::write(seed.join(one), text).unwrap();
    }
    root.sh(BOOT)
}

fn snippet(cluster: &Cluster) -> String {
    cluster.ctl(&["snippet", "cloud-init", "cn001", "--token"]).expect(0).stdout
}

#[test]
fn it_installs_and_boots_the_node_by_the_vendors_data_which_are_a_template() {
    let folder = TempDir::new().unwrap();
    let root = image(&folder);
    let cluster = management_node("#!/bin/sh\necho ran >/root/set-up\n");
    let data = format!("## template: jinja\n{}", snippet(&cluster));
    let out = boot(&root, ("vendor-data", &data)).expect(0);
    assert!(out.stdout.contains("status: done"), "{}", out.stdout);
    assert_eq!(root.text("/root/set-up") + &root.text("/root/greeted"), "ran\nran\n");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn it_says_that_it_failed_where_a_script_has_failed() {
    let folder = TempDir::new().unwrap();
    let root = image(&folder);
    let cluster = management_node("#!/bin/sh\necho no scratch here >&2\nexit 7\n");
    let out = boot(&root, ("user-data", &snippet(&cluster))).expect(1);
    let why = "\ndetail:\n('scripts-user', ";
    assert!(out.stdout.contains("status: error") && out.stdout.contains(why), "{}", out.stdout);
    let log = root.text("/var/log/cloud-init-output.log");
    assert!(
        log.contains("no scratch here") && log.contains("the kickstart FAILED with exit status 1"),
        "{log}"
    );
    let node = cluster.status("cn001");
    assert_eq!((&node["status"], &node["exitCode"]), (&"failed".into(), &7.into()), "{node}");
}
