//! What tools look for.

use super::Site;

#[test]
fn f16_the_log_has_the_lines_of_each_variant() {
    let site = Site::new(&[(
        "bad",
        "#!/bin/bash\n# /// provost\n# on_failure = \"continue\"\n# ///\nexit 4\n",
    )]);
    site.node.provost(&["boot"]).expect(1);
    let log = site.node.path("xcat_log/xcat.log");
    let log = std::fs::read_to_string(log).unwrap();
    for line in [
        "start..: last",
        "end...: last return with 0",
        "Running postbootscript: last",
        "postbootscript last return with 0",
        "end...: bad return with 4",
    ] {
        assert!(log.contains(line), "no {line:?} in\n{log}");
    }
}
