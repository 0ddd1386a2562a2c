# Makes docs/shell-library.md of the comments in lib-sh:
#
#     awk -f docs/shell-library.awk lib-sh/*.sh >docs/shell-library.md
#
# `#= TITLE` begins a section, whose text goes on to the end of the comment. `#: USAGE` begins what
# is said of a function; `Status:` and `Example:` begin its last parts.

BEGIN {
    print "# The shell library"
    print ""
    print "Made from the comments in `lib-sh/` by `docs/shell-library.awk`; edit them there."
    print ""
    print "```sh"
    print ". provost.sh"
    print "```"
    print ""
    print "gives a script these functions, in bash from 4.2 on, dash and busybox ash, under `set -eu`, too."
    print "Under the runner it is on `PATH`; by hand, source it by its path. A function says `changed: …`"
    print "where it changed something; an error is `provost.sh: FUNCTION: WHAT` and a `hint:`, on stderr."
    print "[writing-postscripts.md](writing-postscripts.md) shows how they are used."
}
/^#= / { section = 1; print ""; print "## " substr($0, 4); next }
/^#: / && !open { open = 1; part = ""; print ""; print "### `" substr($0, 4) "`"; print ""; next }
/^#: Status: / { print ""; print "Status: " substr($0, 12); part = "status"; next }
/^#: Example: / { print ""; print "Example: `" substr($0, 13) "`"; next }
/^#: / { print substr($0, 4); next }
section && /^#$/ { print ""; next }
section && /^# / { print substr($0, 3); next }
{ section = open = 0 }
