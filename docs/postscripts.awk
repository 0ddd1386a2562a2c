# Makes the table of docs/postscripts.md from what the scripts say of themselves: their first comment,
# the policy in their header, and the variables in their help:
#
#     awk -f docs/postscripts.awk postscripts/*

BEGIN {
    runs["always"] = "always"
    runs["change"] = "on change"
    runs["once"] = "once"
    print "| script | what it does | environment and files of the bundle | runs |"
    print "|---|---|---|---|"
}
FNR == 1 { row(); name = FILENAME; sub(/.*\//, "", name); what = when = variables = ""; inside = 0 }
FNR == 2 { what = tolower(substr($0, 3, 1)) substr($0, 4); sub(/\.$/, "", what) }
/^# when = / { when = runs[substr($4, 2, length($4) - 2)] }
/^usage: / { name = substr($0, 8); inside = 1; next }
$0 == "END" { inside = 0 }
# Names, separated by a comma, and no example.
inside && /^  [A-Z_]/ && !/ -> / && !/^  [A-Z]*:/ {
    rest = substr($0, 3)
    gap = " "
    while (match(rest, /^[A-Z_][A-Za-z0-9_<>\/.]*/)) {
        word = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        if (word != "PROVOST_ROOT") variables = variables gap "`" word "`"
        gap = " "
        # A range of names, or all the further ones.
        if (sub(/^ …/, "", rest)) {
            variables = variables "…"
            gap = ""
        }
        if (!sub(gap == "" ? "^ " : "^, ", "", rest)) break
    }
}
END { row() }

# Files that scripts only share have no policy.
function row() {
    if (when != "") print "| `" name "` | " what " |" variables " | " when " |"
}
