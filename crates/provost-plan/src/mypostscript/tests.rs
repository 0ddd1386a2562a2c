use super::*;

const GOOD: &str = "\
## made by xCAT
SITEMASTER='10.0.0.1'
export SITEMASTER
PATH=`dirname $0`:/bin:$PATH
export PATH # that isn't all
NOTE='two
lines'

# postscripts-start-here
# defaults-postscripts-start-here
syslog
#defaults-postscripts-end-here
# osimage-postscripts-start-here
# osimage-postscripts-end-here
#  node-postscripts-start-here
## mount, l\u{fffd}ter
t \"a b\" c
t *
# node-postscripts-end-here
# postscripts-end-here
# postbootscripts-start-here
# defaults-postbootscripts-start-here
otherpkgs
# defaults-postbootscripts-end-here
# postbootscripts-end-here
";

fn steps(read: &MyPostscript, list: List, group: Option<Group>) -> Vec<Step> {
    let steps = read.steps(list, group, &BTreeMap::new());
    steps.into_iter().collect::<Result<_, _>>().unwrap()
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(Step::to_string).collect()
}

#[test]
fn lists_are_read_and_the_preamble_is_left_to_bash() {
    let read = MyPostscript::parse(GOOD).unwrap();
    assert!(read.preamble.ends_with("lines'\n\n"));
    let all = steps(&read, List::Postscripts, None);
    assert_eq!(names(&all), ["syslog", "t '\"a' 'b\"' c", "t '*'"]);
    assert_eq!(steps(&read, List::Postscripts, Some(Group::Node)).len(), 2);
    let of_boot = steps(&read, List::Postbootscripts, Some(Group::Defaults));
    assert_eq!(names(&of_boot), ["otherpkgs"]);
    assert!(steps(&read, List::Postbootscripts, Some(Group::Node)).is_empty());
    assert_eq!(read.scripts().collect::<Vec<_>>(), ["syslog", "t", "t", "otherpkgs"]);
    let group = Some(Group::Osimage);
    assert_eq!(section("osimage-postbootscripts-start-here"), Some((List::Postbootscripts, group)));
    assert_eq!(section("postscripts-start-here"), Some((List::Postscripts, None)));
    assert_eq!(section("syslog"), None);
}

#[test]
fn what_a_site_has_added_to_the_preamble_is_left_to_bash() {
    for own in [
        "NOTE='two\nlines'; export NOTE\n",
        "awk '\n{ print \"it is\" }\n' /etc/hosts >/dev/null\n",
        "NOTE=$(sed '\ns/a/b/' /etc/issue)\n",
        "greet() {\n  echo 'good\n  morning' you\n}\nexport -f greet\n",
        "cat <<EOF >/dev/null\nit's\nEOF\n",
        "X=$'it\\'s'\nexport X\n",
        "X=\"$(echo \"it's\")\"\nexport X\n",
        "X='a\nb' Y='c'\nexport X Y\n",
        "X='a\nY=b c\nZ='\nY=1 Z='2'\nexport Y\n",
        "X='it'\\''s' # it's\nexport X\n",
        "X='/opt/bin':$PATH\nexport X\n",
        "X='/opt/bin':'/opt/sbin'\nexport X\n",
        "X='a'; Y='b'\nexport X Y\n",
        "X=1; echo $X >/dev/null\nexport X\n",
        "X=(a 'b c')\nexport X\n",
        "X=a\\ b\nexport X\n",
        "LC_ALL=C sort /etc/hosts >/dev/null\nexport X\n",
    ] {
        let text = GOOD.replacen("NOTE='two\nlines'\n", own, 1);
        assert!(MyPostscript::parse(&text).unwrap().preamble.contains(own));
    }
}

#[test]
fn a_long_preamble_is_read_once() {
    let own = "A=1\nB='\n'\n".repeat(100_000) + "C='it's'\nexport C\n";
    let error = MyPostscript::parse(&(own + GOOD)).unwrap_err();
    assert_eq!(error.line, 300_001);
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    for (from, to, line, what) in [
        ("'10.0.0.1'", "'it's'", 2, "value of SITEMASTER has a ' in it"),
        ("'10.0.0.1'", "'it's'\nexport X='that's'", 2, "value of SITEMASTER has a ' in it"),
        ("'10.0.0.1'", "it's", 2, "value of SITEMASTER has a ' in it"),
        ("'10.0.0.1'", "'the nodes' admin's'", 2, "value of SITEMASTER has more than one word"),
        ("'10.0.0.1'", "'nodes'; touch x; echo 's phone'", 2, "more than one word"),
        ("'10.0.0.1'", "'rock 'n' roll'", 2, "value of SITEMASTER has a ' in it"),
        ("'10.0.0.1'", "\"a\"\"", 2, "value of SITEMASTER has a \" in it"),
        ("'10.0.0.1'", "a b", 2, "value of SITEMASTER has more than one word"),
        ("# postbootscripts-end-here\n", "", 21, "no end"),
        ("#defaults-postscripts-end-here\n", "", 12, "doesn't belong here"),
        ("'10.0.0.1'", "'caf\u{fffd}'", 2, "value of SITEMASTER isn't UTF-8"),
        ("two\nlines", "two\nlin\u{fffd}s", 7, "this line isn't UTF-8"),
        (GOOD, "<html>\nNot here\n</html>\n", 3, "isn't a mypostscript"),
        (GOOD, "", 0, "isn't a mypostscript"),
    ] {
        let bad = GOOD.replacen(from, to, 1);
        let error = MyPostscript::parse(&bad).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn a_list_that_is_cut_off_is_a_mistake_of_that_list_alone() {
    let (cut, _) = GOOD.split_once("# postbootscripts-start-here").unwrap();
    let read = MyPostscript::parse(cut).unwrap();
    let error = read.cut_short(List::Postbootscripts).unwrap();
    assert!(error.to_string().contains("line 20: there is no list of postbootscripts"));
    assert_eq!(read.cut_short(List::Postscripts), None);
}

#[test]
fn a_line_that_makes_no_sense_is_a_mistake_of_its_step_alone() {
    for (to, script, what) in [
        ("syslog; rm -rf /\n", "syslog", "`;`"),
        ("syslog `id`\n", "syslog", "for a shell"),
        ("../../bin/sh\n", "mypostscript", "`..`"),
        ("tell caf\u{fffd}\n", "tell", "this line isn't UTF-8"),
    ] {
        let read = MyPostscript::parse(&GOOD.replacen("syslog\n", to, 1)).unwrap();
        let steps = read.steps(List::Postscripts, None, &BTreeMap::new());
        let Err(error) = &steps[0] else { panic!("{to}") };
        assert_eq!(error.script, script);
        assert!(error.message.contains("line 11: ") && error.message.contains(what), "{error:?}");
        assert!(steps[1..].iter().all(Result::is_ok));
    }
}
