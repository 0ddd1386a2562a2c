//! Node names, and the texts in which people write many of them, as ClusterShell reads them:
//! `cn[001-512,600]`, `@compute!cn007`.

mod expression;
mod folded;

use std::collections::BTreeSet;

pub use expression::NodesError;
pub use expression::{Expression, SetName};

/// The names that `text` stands for, in its order, each once. Leading zeros are
/// kept. Groups (`@name`) are unknown here.
pub fn expand(text: &str) -> Result<Vec<String>, NodesError> {
    let unknown =
        |set: &SetName| Err(NodesError::new(&set.to_string(), "no groups are known here"));
    match text.parse::<Expression>()?.nodes(unknown)? {
        names if names.is_empty() => Err(NodesError::new(text, "nothing is left of it")),
        names => Ok(names),
    }
}

/// The names, folded: the reverse of [`expand`], each once.
pub fn fold(names: &[String]) -> String {
    // A name without a letter could be read as a range.
    let has_letter = |name: &&str| name.contains(|c: char| c.is_ascii_alphabetic());
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (foldable, rest): (Vec<&str>, Vec<&str>) = names.into_iter().partition(has_letter);
    let mut text = folded::fold(&foldable);
    text.extend(rest.into_iter().map(str::to_owned));
    text.join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expanded(text: &str) -> String {
        expand(text).unwrap().join(" ")
    }

    #[test]
    fn ranges_are_written_as_people_write_them() {
        assert_eq!(expanded("cn[001-003,600]"), "cn001 cn002 cn003 cn600");
        assert_eq!(expanded("b, a ,cn[9-10],a"), "b a cn9 cn10");
        assert_eq!(expanded("r[1-2]n[01-02]-ib"), "r1n01-ib r1n02-ib r2n01-ib r2n02-ib");
        assert_eq!(expanded("cn[1-5/2]"), "cn1 cn3 cn5");
        assert_eq!(
            expanded("login-1,10,1-5,node20261120170001123"),
            "login-1 10 1-5 node20261120170001123"
        );
        assert_eq!(expand("cn[00001-99999]").unwrap().len(), 99_999);
    }

    #[test]
    fn operators_apply_from_left_to_right() {
        assert_eq!(expanded("cn[1-5]!cn3"), "cn1 cn2 cn4 cn5");
        assert_eq!(expanded("cn[1-5]!cn[2-3],cn3"), "cn1 cn4 cn5 cn3");
        assert_eq!(expanded("a,b !a"), "b");
        assert_eq!(expanded("cn[1-4]&cn[3-9]"), "cn3 cn4");
        assert_eq!(expanded("cn[1-3]^cn[3-4]"), "cn1 cn2 cn4");
        assert_eq!(expanded("  cn1 cn2\tcn3\n! cn2 "), "cn1 cn3");
    }

    #[test]
    fn many_small_terms_take_no_longer_than_their_nodes() {
        let but = (1..=20_000).map(|n| format!("!cn{n:05}")).collect::<String>();
        let text = format!("cn[00001-60000]{but}");
        assert_eq!(expand(&text).unwrap().len(), 40_000);
        assert_eq!(expand(&format!("{text}{}", "&cn60000".repeat(1000))).unwrap(), ["cn60000"]);
    }

    #[test]
    fn what_names_no_nodes_is_refused() {
        for bad in [
            "",
            " , ",
            "@compute",
            "@*",
            "cn[1-3]@x",
            "cn[1-",
            "cn]1[",
            "cn[[1]]",
            "cn[]",
            "cn[3-1]",
            "cn[1-5/0]",
            "cn[1-010]",
            "cn[a-b]",
            "cn[1-999999999]",
            "r[1-1000]c[1-1000]",
            "cn[1-2]0000000000",
            "999999999[1-2]",
            "cn1!cn1",
            "cn[1-2]&cn3",
            "!cn1",
            "cn1!",
            "cn1,!cn2",
            "cn1!&cn2",
            "a - b",
            "-cn1",
            ".cn",
            "../x",
            "cn/1",
            "cn[1]/2",
            "ä",
            "a;b",
            "cn[1-100001]",
            "cn[1-99999],cn[200001-300000]",
        ] {
            assert!(expand(bad).is_err(), "{bad:?} gives {:?}", expand(bad));
        }
    }

    #[test]
    fn names_are_folded() {
        let fold = |text: &str| fold(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(fold("cn001 cn003 cn002 cn002"), "cn[001-003]");
        assert_eq!(fold("cn9 cn10 login"), "cn[9-10],login");
        assert_eq!(fold("1-5 cn1"), "cn1,1-5");
        assert_eq!(fold("n99999999999999999999 n1"), "n1,n99999999999999999999");
        assert_eq!(fold("a3 a04"), "a04,a3");
        assert_eq!(fold("n1 n01 n10 n2"), "n[01,10],n[1-2]");
        assert_eq!(fold("r1n1.x r1n2.x r2n1.x r2n2.x r3n1.x"), "r3n1.x,r[1-2]n[1-2].x");
        assert_eq!(super::fold(&[]), "");
        assert_eq!(super::fold(&expand("cn[00001-99999]").unwrap()), "cn[00001-99999]");
    }

    proptest! {
        #[test]
        fn folding_loses_nothing(names in prop::collection::btree_set("[a-c]{0,1}[0-9]{1,3}(-[a-b][0-9]{1,2})?", 1..30)) {
            let folded = fold(&names.iter().cloned().collect::<Vec<_>>());
            let back: BTreeSet<String> = expand(&folded).unwrap().into_iter().collect();
            prop_assert_eq!(back, names);
        }

        #[test]
        fn no_text_brings_it_down(text in r"[a-b0-9,\[\]/@!& ().-]{0,24}") {
            let _ = expand(&text);
        }
    }
}
