//! Scripts that can't be published.

use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use provost_tests::Cluster;

use super::{SITE, publish, publish_with};
use crate::cli_contract::HELLO;

#[test]
fn of_files_that_cannot_be_published() {
    assert_snapshot!(publish_with("empty", ""), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/empty: it is empty
      hint: write it, or remove it
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("dos", "#!/bin/sh\r\n"), @r"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/dos: line 1 ends in CRLF, as under Windows
      hint: sed -i 's/\r$//' [DIR]/scripts/dos
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("bare", "echo\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/bare: its first line doesn't begin with #!
      hint: begin it with #!/bin/sh, or, if it is data: chmod a-x [DIR]/scripts/bare
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("bom", "\u{feff}#!/bin/sh\n"), @r"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/bom: its first line doesn't begin with #!
      hint: remove the byte-order mark: sed -i '1s/^\xEF\xBB\xBF//' [DIR]/scripts/bom
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("fetch", HELLO), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/fetch: this name is reserved for the stage that fetches the scripts
      hint: rename it
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("-rf", HELLO), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/-rf: "-rf" can't be a script's name: a part of it begins with `-`, like an option
      hint: give the file a plain name, such as syslog or site/syslog
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(publish_with("new\nline", HELLO), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/new
    line: "new\nline" can't be a script's name: it has a control character
      hint: give the file a plain name, such as syslog or site/syslog
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
}

#[test]
fn of_wrong_headers() {
    let header = |line: &str| {
        publish_with("header", &format!("#!/bin/sh\n# /// provost\n# {line}\n# ///\n"))
    };
    assert_snapshot!(header("timout = \"5m\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unknown field `timout`, expected one of `timeout`, `when`, `inputs`, `retries`, `on_failure`, `resume`, `leak`, `trace`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("timeout = \"none\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: `none` isn't a time limit: every limit has to be finite
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("timeout = \"30\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: `30` isn't a time limit: the unit is missing
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("when = \"never\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unknown variant `never`, expected one of `always`, `once`, `change`, `manual`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("retries = -1"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: invalid value: integer `-1`, expected u32
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("= 3"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(publish_with("open", "#!/bin/sh\n# /// provost\n# retries = 1\necho\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/open:2: the header that begins here isn't closed by a line `# ///`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
}

#[test]
fn of_a_file_that_others_cannot_read() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).script("secret", HELLO).site(SITE);
    let mode = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(cluster.scripts().join("secret"), mode).unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/secret: others can't read it, and what is published is readable by all
      hint: remove it, or, if nothing in it is secret: chmod a+r [DIR]/scripts/secret
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
}

#[test]
fn of_links() {
    let link = |to: &str| {
        let cluster = Cluster::new();
        cluster.script("hello", HELLO).site(SITE);
        symlink(to, cluster.scripts().join("link")).unwrap();
        publish(&cluster)
    };
    assert_snapshot!(link("nowhere"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leads to nowhere, which isn't there
      hint: put the file there, or remove the link
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(link("/etc/passwd"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leaves the scripts' folder, to /etc/passwd
      hint: copy the file itself to its place
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(link("link"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leads back to itself
      hint: remove the link
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
}
