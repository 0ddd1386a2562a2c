//! The frame around the script, by installer.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::json;

use super::installer::Installer;

/// Ends the script in a here-document.
const MARK: &str = "PROVOST";

/// `script` as a piece of the installer's file.
pub(super) fn frame(installer: Installer, script: &str) -> String {
    match installer {
        Installer::Kickstart => kickstart(script),
        Installer::Autoyast => autoyast(script),
        Installer::Preseed => preseed(script),
        Installer::Subiquity => subiquity(script),
        Installer::Agama => agama(script),
        Installer::Sh => format!("#!/bin/sh\n{script}"),
        Installer::CloudInit => cloud_init(script),
        Installer::Ignition => ignition(script),
    }
}

/// <https://pykickstart.readthedocs.io>: runs in the new root; the log's path is there, too.
fn kickstart(script: &str) -> String {
    format!("%post --erroronfail --log=/var/log/provost/post.log\n{script}%end\n")
}

/// A script of the new root, with its network, before the reboot.
fn autoyast(script: &str) -> String {
    format!(
        "<!-- in <profile> -->\n\
         <scripts>\n  <chroot-scripts config:type=\"list\">\n    <script>\n      \
         <filename>provost.sh</filename>\n      \
         <chrooted config:type=\"boolean\">true</chrooted>\n      \
         <interpreter>shell</interpreter>\n      <source><![CDATA[\n{script}]]></source>\n    \
         </script>\n  </chroot-scripts>\n</scripts>\n"
    )
}

/// One command in one line, which a backslash continues; the shell of the installer runs it. A
/// command in the new root gets no standard input.
fn preseed(script: &str) -> String {
    let lines: String =
        script.lines().map(|line| format!("  '{}' \\\n", line.replace('\'', "'\\''"))).collect();
    format!(
        "d-i preseed/late_command string umask 077; printf '%s\\n' \\\n{lines}  \
         >/target/root/provost-install.sh; in-target sh /root/provost-install.sh; status=$?; \\\n  \
         rm -f /target/root/provost-install.sh; exit $status\n"
    )
}

/// sh runs each command; a command in the new root gets no standard input.
fn subiquity(script: &str) -> String {
    let indented = indented(script, "      ");
    format!(
        "# in autoinstall:\n\
         late-commands:\n  - |\n      umask 077\n      \
         cat >/target/root/provost-install.sh <<'{MARK}'\n{indented}      {MARK}\n      \
         curtin in-target --target=/target -- sh /root/provost-install.sh\n      \
         status=$?\n      rm -f /target/root/provost-install.sh\n      exit \"$status\"\n"
    )
}

/// <https://agama-project.github.io>: a script of the new root, before the reboot.
fn agama(script: &str) -> String {
    let content = format!("#!/bin/sh\n{script}");
    let post = json!({ "name": "provost.sh", "chroot": true, "content": content });
    json_text(&json!({ "scripts": { "post": [post] } }))
}

/// <https://docs.cloud-init.io>: one command, whose failure is the one of `cloud-init status`.
fn cloud_init(script: &str) -> String {
    format!("#cloud-config\nruncmd:\n  - |\n{}", indented(script, "    "))
}

/// <https://coreos.github.io/ignition>: a file and a unit that runs it, which the file's absence ends.
fn ignition(script: &str) -> String {
    let file = "/etc/provost/install.sh";
    let unit = format!(
        "[Unit]\nDescription=Install Provost and run the node's postscripts\n\
         Wants=network-online.target\nAfter=network-online.target\nConditionPathExists={file}\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh {file}\n\
         ExecStartPost=/bin/rm {file}\n\n[Install]\nWantedBy=multi-user.target\n"
    );
    let source = format!("data:,{}", utf8_percent_encode(script, NOT_IN_URL));
    let file = json!({ "path": file, "mode": 0o600, "contents": { "source": source } });
    let unit = json!({ "name": "provost-install.service", "enabled": true, "contents": unit });
    json_text(&json!({
        "ignition": { "version": "3.3.0" },
        "storage": { "files": [file] },
        "systemd": { "units": [unit] },
    }))
}

/// What a URL can't have after its scheme; the rest stays readable.
const NOT_IN_URL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// No two braces stand side by side in it.
fn json_text(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

fn indented(script: &str, by: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        _ => format!("{by}{line}\n"),
    };
    script.lines().map(line).collect()
}
