//! What distinguishes a node from another: its kernel, its system, its model. When a few nodes fail, it says what they
//! have in common.

use std::path::Path;

use provost_fs::read_given;
use provost_record::Facts;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// What is known of the node whose root is `root`. What can't be read is left out.
pub(super) fn read(root: &Path) -> Facts {
    let text = |path: &str| {
        let bytes = read_given(&root.join(path), LONGEST).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let first = |paths: &[&str]| {
        // A device tree's texts end with a NUL.
        let texts = paths.iter().map(|path| text(path).trim_matches(['\0', '\n', ' ']).to_owned());
        texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    };
    let (release, xcat) = (text("etc/os-release"), text("opt/xcat/xcatinfo"));
    let pair = |name: &str, version: &str| {
        format!("{} {}", value(&release, name), value(&release, version)).trim().to_owned()
    };
    let image = Some(pair("IMAGE_ID", "IMAGE_VERSION")).filter(|image| !image.is_empty());
    let kernel = rustix::system::uname();
    let number = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    Facts::from_iter([
        ("kernel", kernel.release().to_string_lossy().into_owned()),
        ("arch", kernel.machine().to_string_lossy().into_owned()),
        ("os", pair("ID", "VERSION_ID")),
        ("model", first(&["sys/class/dmi/id/product_name", "proc/device-tree/model"])),
        (
            "firmware",
            first(&[
                "sys/class/dmi/id/bios_version",
                "proc/device-tree/openprom/ibm,fw-vernum_encoded",
            ]),
        ),
        ("cpus", number(count(&text("sys/devices/system/cpu/online")))),
        ("memoryMiB", number(memory_mib(&text("proc/meminfo")))),
        ("image", image.unwrap_or_else(|| value(&xcat, "IMAGENAME"))),
    ])
}

/// The value of the last line `NAME=VALUE`, without its quotes (os-release(5)).
fn value(text: &str, name: &str) -> String {
    let of = |line: &str| Some(line.trim().strip_prefix(name)?.strip_prefix('=')?.to_owned());
    let value = text.lines().filter_map(of).next_back().unwrap_or_default();
    value.trim().trim_matches(['\'', '"']).to_owned()
}

/// How many numbers a list such as `0-3,8` has (cpulist, in Linux's words). It is the machine's, whatever this process
/// may use.
fn count(list: &str) -> u64 {
    let of = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.trim().split(',').filter_map(of).sum()
}

/// The machine's memory, of /proc/meminfo.
fn memory_mib(meminfo: &str) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The facts of a root with such files, but for those of this machine's kernel.
    fn facts(files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let facts = read(root.path());
        let facts = facts.iter().filter(|(name, _)| !["kernel", "arch"].contains(name));
        facts.map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_server_says_its_system_model_firmware_processors_and_memory() {
        let files = [
            (
                "etc/os-release",
                "NAME=\"Rocky Linux\"\nID=\"rocky\"\nVERSION_ID='8.10'\nIMAGE_ID=compute\n",
            ),
            ("sys/class/dmi/id/product_name", "PowerEdge R650\n"),
            ("sys/class/dmi/id/bios_version", "2.3.1\n"),
            ("sys/devices/system/cpu/online", "0-31,64-95\n"),
            ("proc/meminfo", "MemTotal:       263856128 kB\nMemFree: 1 kB\n"),
            ("opt/xcat/xcatinfo", "IMAGENAME='other'\n"),
        ];
        let expected = "cpus=64; firmware=2.3.1; image=compute; memoryMiB=257672; model=PowerEdge R650; os=rocky 8.10";
        assert_eq!(facts(&files), expected);
    }

    #[test]
    fn power_has_a_device_tree_and_xcat_names_the_image() {
        let files = [
            ("proc/device-tree/model", "IBM,8335-GTH\0"),
            (
                "opt/xcat/xcatinfo",
                "XCATSERVER=10.0.0.1\nIMAGENAME='rhels8.10-ppc64le-netboot-compute'\n",
            ),
        ];
        let expected = "image=rhels8.10-ppc64le-netboot-compute; model=IBM,8335-GTH";
        assert_eq!(facts(&files), expected);
    }

    #[test]
    fn nonsense_is_left_out() {
        let files = [
            ("etc/os-release", "ID\n=x\n"),
            ("sys/devices/system/cpu/online", "9-3,x,18446744073709551615-0\n"),
            ("proc/meminfo", "MemTotal: none\n"),
        ];
        assert_eq!(facts(&files), "");
    }
}
