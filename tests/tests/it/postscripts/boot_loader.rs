//! `serialconsole`, with the real grub-mkconfig.

use crate::postscripts::root::{Kind, Root};

/// Two kernels, and a menu. What grub-probe says of the disk of `/` can't be right here: `/` has none.
const SYSTEM: &str = r#"set -e
mkdir -p /boot/grub /etc/default/grub.d
for version in 6.1.0-30 6.1.0-31; do
    head -c 100000 /dev/zero >/boot/vmlinuz-$version-amd64
    echo x >/boot/initrd.img-$version-amd64
done
cat >/usr/sbin/grub-probe <<'END'
#!/bin/sh
case "$*" in
*target=device*) echo /dev/vda1 ;;
*target=fs_uuid*) echo 3f1c6a3e-1a52-4b11-9f1c-70c2b0f6a0aa ;;
*target=fs*) echo ext2 ;;
*target=partmap*) echo msdos ;;
*target=compatibility_hint*) echo hd0,msdos1 ;;
*target=drive*) echo '(hd0,msdos1)' ;;
esac
END
echo >/etc/default/grub
update-grub"#;

fn system() -> Root {
    let root = Root::new(Kind::Chroot);
    root.sh(SYSTEM, &[]).expect(0);
    root
}

/// Lines of the menu that begin with `command`, without it, its file and the root's disk.
fn lines(root: &Root, command: &str) -> Vec<String> {
    let menu = root.text("/boot/grub/grub.cfg");
    let lines = menu.lines().filter_map(|line| line.trim().strip_prefix(command));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let skip =
        |line: String| line.split_once(" root=/dev/vda1 ro ").map(|(_, rest)| rest.to_owned());
    words.map(|line| skip(line.clone()).unwrap_or(line)).collect()
}

#[test]
fn the_kernels_parameters_stay_as_they_are_but_for_the_console() {
    const CONSOLE: &str = "console=tty0 console=ttyS1,57600n8";
    let root = system();
    let env = [("SERIALPORT", "1"), ("SERIALSPEED", "57600")];
    for (file, parameters) in [
        // As Debian's package has it.
        ("GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"\n", "{} quiet"),
        ("GRUB_CMDLINE_LINUX_DEFAULT=\"quiet console=ttyS0,9600\"\n", "{} quiet"),
        (
            "GRUB_CMDLINE_LINUX='console=tty0 net.ifnames=0 console=ttyS9 a=b'\n",
            "net.ifnames=0 a=b {}",
        ),
        (
            "GRUB_CMDLINE_LINUX=\"dyndbg=\\\"file a.c +p\\\" quiet\"\n",
            "dyndbg=\"file a.c +p\" quiet {}",
        ),
        ("GRUB_CMDLINE_LINUX='x=\"y z\" netconsole=@/eth0'\n", "x=\"y z\" netconsole=@/eth0 {}"),
        ("A=nosmt\nGRUB_CMDLINE_LINUX=\"a $A\" # why\n", "a nosmt {}"),
        (
            "GRUB_CMDLINE_LINUX=\"a console=ttyS0\"\nGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX b\"\n",
            "a b {}",
        ),
        ("GRUB_CMDLINE_LINUX=\"a \\\nb\"\n", "{} a b"),
        ("GRUB_CMDLINE_LINUX=quiet\n", "quiet {}"),
        ("", "{}"),
    ] {
        root.write("/etc/default/grub", file);
        root.settles("serialconsole", &env);
        let parameters = parameters.replace("{}", CONSOLE);
        let kernels = lines(&root, "linux\t");
        assert_eq!(kernels[0], parameters, "{file}");
        // The last two are for a recovery, without GRUB_CMDLINE_LINUX_DEFAULT.
        assert!(kernels.iter().all(|line| line.contains(CONSOLE)), "{file}: {kernels:?}");
        assert_eq!(kernels.len(), 5, "{file}: {kernels:?}");
    }
    assert_eq!(lines(&root, "serial "), ["--unit=1 --speed=57600 --word=8 --parity=no --stop=1"]);
    for direction in ["input", "output"] {
        assert_eq!(lines(&root, &format!("terminal_{direction} ")), ["console serial"]);
    }
}

/// Images of clouds have their settings there.
#[test]
fn what_a_file_of_grub_d_sets_anew_is_set_there() {
    let root = system();
    let file = "/etc/default/grub.d/50-cloudimg-settings.cfg";
    root.write(
        file,
        "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\"\nGRUB_TERMINAL=console\n",
    );
    root.write(
        "/etc/default/grub.d/60-more.cfg",
        "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX more=1\"\n",
    );
    let env = [("SERIALPORT", "0")];
    root.settles("serialconsole", &env);
    assert_eq!(lines(&root, "linux\t")[0], "console=tty0 console=ttyS0,115200n8 more=1");
    assert_eq!(lines(&root, "terminal_input "), ["console serial"]);
    assert!(root.text(&format!("{file}.provost-orig")).contains("console=tty1"));

    root.write("/etc/default/grub.d/70-last.cfg", "GRUB_CMDLINE_LINUX=last=1\n");
    root.settles("serialconsole", &env);
    assert_eq!(lines(&root, "linux\t")[0], "last=1 console=tty0 console=ttyS0,115200n8");
}

/// GRUB's own driver is for the ports of PCs.
#[test]
fn grub_itself_uses_no_port_that_it_cannot_know() {
    let root = system();
    root.settles("serialconsole", &[("SERIALPORT", "ttyAMA0")]);
    assert_eq!(lines(&root, "linux\t")[0], "console=tty0 console=ttyAMA0,115200n8");
    assert_eq!(lines(&root, "serial"), [""; 0]);
}
