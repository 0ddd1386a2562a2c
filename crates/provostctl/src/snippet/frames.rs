//! The frame around the script, by installer.

use ct_codecs::{Base64, Encoder};

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

/// One command in one line: preseed has nothing else.
fn preseed(script: &str) -> String {
    let text = Base64::encode_to_string(script).unwrap_or_default();
    format!(
        "# The script is base64, because this has to be one line\n\
         d-i preseed/late_command string in-target sh -c 'echo {text} | base64 -d | sh'\n"
    )
}

/// sh runs each command; a command in the new root gets no standard input.
fn subiquity(script: &str) -> String {
    let indented: String = script
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("      {line}\n") })
        .collect();
    format!(
        "# in autoinstall:\n\
         late-commands:\n  - |\n      umask 077\n      \
         cat >/target/root/provost-install.sh <<'{MARK}'\n{indented}      {MARK}\n      \
         curtin in-target --target=/target -- sh /root/provost-install.sh\n      \
         status=$?\n      rm -f /target/root/provost-install.sh\n      exit \"$status\"\n"
    )
}
