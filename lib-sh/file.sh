# shellcheck shell=dash
#= Files
#
# Each function changes only what differs, prints `changed: …` if it changed something, and
# never leaves half a file: it writes the new one beside the old one, syncs and renames it. Only a
# file that is itself a mount point, as on xCAT's statelite nodes, is written in place, and
# `changed: …` says so. The SELinux label is kept; a new file gets the policy's. Paths don't get
# PROVOST_ROOT as a prefix. A symbolic link is replaced, not followed.

#: file_write PATH [MODE [OWNER]]
#: Writes stdin to a file, with the given mode and owner (`USER` or `USER:GROUP`). Without them
#: an old file keeps its own; a new file has mode 0644. Missing folders are made.
#: Status: 0 if the file is right, else 1; 2 for wrong use.
#: Example: printf '%s\n' "$NODE" | file_write /etc/hostname
file_write() {
    local path tmp
    _provost_file file_write "PATH [MODE [OWNER]]" 1 3 "$@" || return
    _provost_begin file_write || return
    (exec cat >"$tmp") || _provost_give_up file_write || return
    _provost_commit file_write "wrote" "${2-}" "${3-}"
}

#: file_block PATH NAME
#: Writes stdin to a block of the file between the lines `# begin NAME` and `# end NAME`; in its
#: old place, else at the end of the file. The rest of the file doesn't change.
#: Status: 0 if the block is there, else 1; 2 for wrong use.
#: Example: printf '10.0.0.1 mn\n' | file_block /etc/hosts "management node"
file_block() {
    local path tmp
    _provost_file file_block "PATH NAME" 2 2 "$@" || return
    _provost_word file_block name "$2" "PATH NAME" || return
    _provost_begin file_block || return
    _provost_old
    (
        # The operand `-` is stdin to each awk; `getline < "-"` isn't to that of busybox.
        export BLOCK="$2"
        exec awk 'function block(    i) {
            if (done) return
            done = 1
            print "# begin " ENVIRON["BLOCK"]
            for (i = 1; i <= count; i++) print new[i]
            print "# end " ENVIRON["BLOCK"]
        }
        from_stdin { new[++count] = $0; next }
        $0 == "# begin " ENVIRON["BLOCK"] { inside = 1; block(); next }
        $0 == "# end " ENVIRON["BLOCK"] && inside { inside = 0; next }
        !inside { print }
        END { block() }' from_stdin=1 - from_stdin= "$_provost_old" >"$tmp"
    ) || _provost_give_up file_block || return
    _provost_commit file_block "wrote the block $2 of"
}

#: file_unblock PATH NAME
#: Removes a block that `file_block` wrote.
#: Status: 0 if there is no such block, else 1; 2 for wrong use.
#: Example: file_unblock /etc/hosts "management node"
file_unblock() {
    local path tmp
    _provost_file file_unblock "PATH NAME" 2 2 "$@" || return
    [ -f "$path" ] || return 0
    _provost_begin file_unblock || return
    _provost_old
    _provost_awk BLOCK="$2" '$0 == "# begin " ENVIRON["BLOCK"] { inside = 1; next }
        $0 == "# end " ENVIRON["BLOCK"] && inside { inside = 0; next }
        !inside { print }' || _provost_give_up file_unblock || return
    _provost_commit file_unblock "removed the block $2 of"
}

#: file_line PATH LINE
#: Adds a line at the end of the file unless the file already has it.
#: Status: 0 if the line is there, else 1; 2 for wrong use.
#: Example: file_line /etc/shells /bin/zsh
file_line() {
    local path tmp
    _provost_file file_line "PATH LINE" 2 2 "$@" || return
    _provost_word file_line line "$2" "PATH LINE" || return
    _provost_begin file_line || return
    _provost_old
    _provost_awk LINE="$2" '{ print } $0 == ENVIRON["LINE"] { there = 1 }
        END { if (!there) print ENVIRON["LINE"] }' || _provost_give_up file_line || return
    _provost_commit file_line "added the line '$2' to"
}

#: file_set PATH KEY VALUE
#: Sets a key in a file of lines KEY=VALUE. Blanks around `=`, `export` and the kind of quotes are
#: kept; a value that needs quotes gets them. The line keeps its place; of several lines the last
#: one, which counts, is changed.
#: Status: 0 if the key has that value, else 1; 2 for wrong use.
#: Example: file_set /etc/default/grub GRUB_TIMEOUT 5
file_set() {
    local path tmp
    _provost_file file_set "PATH KEY VALUE" 3 3 "$@" || return
    _provost_word file_set key "$2" "PATH KEY VALUE" || return
    _provost_one file_set value "$3" || return
    _provost_begin file_set || return
    _provost_old
    _provost_awk KEY="$2" VALUE="$3" "$_provost_ini_functions"'
        { lines[NR] = $0; if (is_key($0)) at = NR }
        END {
            for (i = 1; i <= NR; i++) print (i == at ? with_value(lines[i]) : lines[i])
            if (!at) print ENVIRON["KEY"] "=" quoted("", ENVIRON["VALUE"])
        }' || _provost_give_up file_set || return
    _provost_commit file_set "set $2 in"
}

#: ini_set PATH SECTION KEY VALUE
#: Sets a key in a section of an ini file; adds either if it is missing. An empty SECTION means
#: the lines before the first section.
#: Status: 0 if the key has that value, else 1; 2 for wrong use.
#: Example: ini_set /etc/NetworkManager/NetworkManager.conf main dns none
ini_set() {
    local path tmp
    _provost_file ini_set "PATH SECTION KEY VALUE" 4 4 "$@" || return
    _provost_one ini_set section "$2" || return
    _provost_word ini_set key "$3" "PATH SECTION KEY VALUE" || return
    _provost_one ini_set value "$4" || return
    _provost_begin ini_set || return
    _provost_old
    _provost_awk SECTION="$2" KEY="$3" VALUE="$4" RAW=1 "$_provost_ini_functions"'
        BEGIN { here = ENVIRON["SECTION"] == "" }
        here && !end { first = first ? first : NR }
        { lines[NR] = $0 }
        /^[ \t]*\[.*\][ \t\r]*$/ {
            name = $0
            sub(/^[ \t]*\[/, "", name); sub(/\][ \t\r]*$/, "", name)
            here = name == ENVIRON["SECTION"]
            if (here) { seen = 1; last = NR }
            next
        }
        here && is_key($0) { at = NR }
        here && /[^ \t\r]/ { last = NR }
        END {
            line = ENVIRON["KEY"] "=" ENVIRON["VALUE"]
            if (!at && !seen && ENVIRON["SECTION"] == "" && !last) { print line; done = 1 }
            for (i = 1; i <= NR; i++) {
                print (i == at ? with_value(lines[i]) : lines[i])
                if (!at && i == last) { print line; done = 1 }
            }
            if (!at && !done) {
                if (NR) print ""
                print "[" ENVIRON["SECTION"] "]"
                print line
            }
        }' || _provost_give_up ini_set || return
    _provost_commit ini_set "set $3 in [$2] of"
}

#: file_backup PATH
#: Copies the file to PATH.provost-orig, once: an existing copy isn't replaced. On a read-only file
#: system no copy is made, because the image has the file.
#: Status: 0 if there is a copy, or no file to copy; else 1; 2 for wrong use.
#: Example: file_backup /etc/chrony.conf
file_backup() {
    local path tmp why
    _provost_file file_backup PATH 1 1 "$@" || return
    if [ ! -f "$path" ] || [ -e "$path.provost-orig" ]; then
        return 0
    fi
    tmp="$path.provost-orig.$$"
    if ! why="$({ rm -f "$tmp" && LC_ALL=C cp -p "$path" "$tmp" && mv -f "$tmp" "$path.provost-orig"; } 2>&1)"; then
        case "$why" in
        *Read-only*)
            info "no copy of $1: its folder is read-only"
            return 0
            ;;
        esac
        printf '%s\n' "$why" >&2
        rm -f "$tmp"
        _provost_error file_backup "cannot copy $path" "see the line above: is the disk full?"
        return
    fi
    file_label "$path.provost-orig"
    changed "kept $1 as $1.provost-orig"
}

#: link_to TARGET PATH
#: Makes PATH a symbolic link to TARGET. An existing file is replaced, a folder isn't.
#: Status: 0 if the link is right, else 1; 2 for wrong use.
#: Example: link_to ../usr/share/zoneinfo/Europe/Berlin /etc/localtime
link_to() {
    local path tmp why target="${1-}"
    if [ $# -ne 2 ] || [ -z "$target" ]; then
        _provost_misuse link_to "needs a target and a path" "link_to TARGET PATH"
        return
    fi
    shift
    _provost_file link_to "TARGET PATH" 1 1 "$@" || return
    if [ -L "$path" ]; then
        # The x keeps line breaks at the end of the target.
        tmp="$(readlink "$path" && printf x)" || tmp=
        [ "$tmp" != "$target${_provost_newline}x" ] || return 0
    fi
    _provost_begin link_to || return
    if ! why="$({ LC_ALL=C ln -s -- "$target" "$tmp" && LC_ALL=C mv -fT -- "$tmp" "$path"; } 2>&1)"; then
        _provost_give_up link_to "$why"
        return
    fi
    changed "linked $1 to $target"
}

#: file_remove PATH
#: Removes a file or a link. A folder is an error.
#: Status: 0 if nothing is there, else 1; 2 for wrong use.
#: Example: file_remove /etc/nologin
file_remove() {
    local path tmp='' why
    _provost_file file_remove PATH 1 1 "$@" || return
    if [ ! -e "$path" ] && [ ! -L "$path" ]; then
        return 0
    fi
    if [ -d "$path" ] && [ ! -L "$path" ]; then
        _provost_error file_remove "$path is a folder" "remove it with rm -r"
        return
    fi
    why="$(LC_ALL=C rm -f "$path" 2>&1)" || _provost_give_up file_remove "$why" || return
    changed "removed $1"
}

#: make_folder PATH
#: Makes a folder and those above it, with mode 0777 less the umask.
#: Status: 0 if the folder is there, else 1; 2 for wrong use.
#: Example: make_folder /var/crash
make_folder() {
    local folder why
    if [ $# -ne 1 ] || [ -z "$1" ]; then
        _provost_misuse make_folder "needs a path" "make_folder PATH"
        return
    fi
    _provost_path "${1%/}"
    folder="$_provost_path"
    [ ! -d "$folder/" ] || return 0
    why="$(_provost_make_folder 2>&1)" ||
        _provost_refused make_folder "cannot make the folder $folder" "$why" || return
    changed "made the folder $1"
}

#: file_label [-R] PATH…
#: Gives files that other commands made the SELinux label that the policy has for their names; with
#: `-R` also what is below them. The other functions do that themselves. Without SELinux, and with
#: PROVOST_ROOT, it does nothing.
#: Status: 0; 2 for wrong use.
#: Example: file_label /etc/ssh/ssh_host_*
file_label() {
    case "${1-} ${2-}" in
    ' '* | '-R ')
        _provost_misuse file_label "needs a path" "file_label [-R] PATH…"
        return
        ;;
    esac
    # In another root the policy, and the names that it knows, are that root's own.
    if [ -z "${PROVOST_ROOT-}" ] && [ -e /sys/fs/selinux/enforce ] && command -v restorecon >/dev/null 2>&1; then
        # Its domain may not read whatever this function reads.
        restorecon "$@" </dev/null || :
    fi
}

# _provost_file FUNCTION USAGE LEAST MOST ARG…: checks the number of arguments, and that the first
# can be the path of a file; sets `path` of the caller.
_provost_file() {
    local name="$1" usage="$1 $2" least="$3" most="$4"
    shift 4
    if [ $# -lt "$least" ] || [ $# -gt "$most" ]; then
        _provost_misuse "$name" "got $# arguments" "$usage"
        return
    fi
    case "$1" in
    '' | */ | . | .. | */. | */..)
        _provost_misuse "$name" "'$1' is not the path of a file" "$usage"
        return
        ;;
    esac
    _provost_path "$1"
    path="$_provost_path"
}

# Sets _provost_path to $1, but so that no command takes it for an option.
_provost_path() {
    case "$1" in
    /*) _provost_path="$1" ;;
    *) _provost_path="./$1" ;;
    esac
}

# _provost_one FUNCTION WHAT TEXT: refuses a text that isn't one line.
_provost_one() {
    case "$3" in
    *"$_provost_newline"*)
        _provost_error "$1" "the $2 has more than one line" "use file_block for several lines" ||
            return 2
        ;;
    esac
}

# The same for a text that must not be empty.
_provost_word() {
    if [ -z "$3" ]; then
        _provost_misuse "$1" "the $2 is empty" "$1 $4"
        return
    fi
    _provost_one "$1" "$2" "$3"
}

# Sets `tmp` of the caller to the name of a new file beside `path`, and makes the folder.
_provost_begin() {
    local folder="${path%/*}" why
    if [ -d "$path" ] && [ ! -L "$path" ]; then
        _provost_error "$1" "$path is a folder" "give the path of a file"
        return
    fi
    if [ -n "$folder" ] && [ ! -d "$folder" ]; then
        why="$(_provost_make_folder 2>&1)" ||
            _provost_refused "$1" "cannot make the folder $folder" "$why" || return
    fi
    tmp="$folder/.${path##*/}.provost.$$"
    if [ "$1" = link_to ]; then
        rm -f "$tmp"
        return
    fi
    why="$(_provost_create)" && return 0
    case "$why" in
    *Read-only*)
        # A file that is mounted over one of a read-only folder can be written all the same.
        if [ -f "$path" ] && [ ! -L "$path" ]; then
            tmp="${_provost_changes_file%/*}/.${path##*/}.provost.$$"
            why="$(_provost_create)" && return 0
        fi
        ;;
    esac
    _provost_give_up "$1" "$why"
}

# Makes `folder` and those above it. A new one has the label of the one above it until the policy's is set.
_provost_make_folder() {
    local top="$folder" above="${folder%/*}"
    while [ -n "$above" ] && [ "$above" != "$top" ] && [ ! -d "$above" ]; do
        top="$above" above="${above%/*}"
    done
    LC_ALL=C mkdir -p "$folder" || return
    file_label -R "$top"
}

# Makes `tmp` anew, or prints why it can't be made. Nobody else may read it yet, and noclobber follows
# no link.
_provost_create() {
    # shellcheck disable=SC2030 # the language of this subshell's own messages
    (
        if [ -e "$tmp" ] || [ -L "$tmp" ]; then
            rm -f "$tmp"
        fi
        LC_ALL=C
        umask 077
        set -C
        : >"$tmp"
    ) 2>&1
}

# Sets _provost_old to the file that awk reads: the old one, or an empty one.
_provost_old() {
    _provost_old=/dev/null
    if [ -f "$path" ]; then
        _provost_old="$path"
    fi
}

# _provost_awk NAME=VALUE… PROGRAM: from the old file to the new one. Values are passed in the
# environment, because there awk doesn't interpret backslashes.
_provost_awk() {
    (
        while [ $# -gt 1 ]; do
            export "${1?}"
            shift
        done
        exec awk "$1" "$_provost_old" >"$tmp"
    )
}

# _provost_give_up FUNCTION [WHY]: the error of a file that can't be written; WHY is what a command
# has printed about it, if that isn't on stderr already.
_provost_give_up() {
    [ -z "$tmp" ] || rm -f "$tmp"
    case "$1" in
    file_remove) _provost_refused "$1" "cannot remove $path" "${2-}" ;;
    *) _provost_refused "$1" "cannot write $path" "${2-}" ;;
    esac
}

# _provost_refused FUNCTION WHAT WHY: an error of the file system, with the hint that WHY calls for.
_provost_refused() {
    case "$3" in
    *Read-only*)
        _provost_error "$1" "$2: the file system is read-only" \
            "change it in the image, or make it writable, such as by a line of xCAT's table litefile"
        return
        ;;
    *busy*)
        _provost_error "$1" "$2: it is a mount point" "unmount it first: umount $path"
        return
        ;;
    esac
    [ -z "$3" ] || printf '%s\n' "$3" >&2
    _provost_error "$1" "$2" "see the line above: is the disk full?"
}

# _provost_commit FUNCTION DONE [MODE [OWNER]]: replaces `path` by `tmp`, unless they are equal.
_provost_commit() {
    local is='' why label mode="${3-}" owner="${4-}"
    case "$mode" in
    *[!0-7]* | ??????*)
        rm -f "$tmp"
        _provost_misuse "$1" "'$mode' is not a mode" "give an octal mode, such as 0644"
        return
        ;;
    esac
    while :; do
        case "$mode" in
        0?*) mode="${mode#0}" ;;
        *) break ;;
        esac
    done
    if [ -f "$path" ] && [ ! -L "$path" ]; then
        if [ -z "$mode$owner" ] && cmp -s "$tmp" "$path"; then
            rm -f "$tmp"
            return 0
        fi
        is="$(stat -c '%a %U:%G %u:%g' "$path")" || _provost_give_up "$1" || return
        case "${owner:+ ${is#* } }" in
        '' | *" $owner "* | *" $owner:"*)
            if [ "${mode:-"${is%% *}"}" = "${is%% *}" ] && cmp -s "$tmp" "$path"; then
                rm -f "$tmp"
                return 0
            fi
            ;;
        esac
        mode="${mode:-"${is%% *}"}" owner="${owner:-"${is##* }"}"
    fi
    case "$owner" in
    '' | "$(id -u):$(id -g)") ;;
    *)
        chown -- "$owner" "$tmp" || _provost_give_up "$1" || return
        ;;
    esac
    if ! { chmod -- "${mode:-644}" "$tmp" && _provost_sync "$tmp"; }; then
        _provost_give_up "$1"
        return
    fi
    if [ "${tmp%/*}" = "${path%/*}" ]; then
        label=policy
        [ -z "$is" ] || ! _provost_same_label || label=same
        if why="$(LC_ALL=C mv -fT -- "$tmp" "$path" 2>&1)"; then
            [ $label = same ] || file_label "$path"
            changed "$2 ${path#./}"
            return
        fi
        case "$why" in
        *busy*) ;;
        *)
            _provost_give_up "$1" "$why"
            return
            ;;
        esac
    fi
    # A mount point can't be replaced.
    if ! why="$(_provost_write_in_place)"; then
        _provost_give_up "$1" "$why"
        return
    fi
    rm -f "$tmp"
    changed "$2 ${path#./} in place, because it is a mount point"
}

# From `tmp` to `path`, with `mode` and `owner`; or prints why not.
_provost_write_in_place() {
    # shellcheck disable=SC2031
    (
        export LC_ALL=C
        chmod -- "$mode" "$path" && chown -- "$owner" "$path" && cat "$tmp" >|"$path" &&
            _provost_sync "$path"
    ) 2>&1
}

# Gives `tmp` the SELinux label of `path`, which it replaces.
_provost_same_label() {
    [ -e /sys/fs/selinux/enforce ] && chcon --reference="$path" -- "$tmp" 2>/dev/null
}

_provost_sync() {
    # An old sync has no argument, and syncs everything.
    sync "$1" 2>/dev/null || sync
}

# For files of lines KEY=VALUE: whether a line has the key, and the line with the new value. With RAW
# quotes are part of the value.
_provost_ini_functions='
    function is_key(line,    key) {
        if (line !~ /=/) return 0
        key = substr(line, 1, index(line, "=") - 1)
        sub(/^[ \t]*(export[ \t]+)?/, "", key); sub(/[ \t]+$/, "", key)
        return key == ENVIRON["KEY"]
    }
    function escaped(text, chars,    i, c, out) {
        out = ""
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            out = out (index(chars, c) ? "\\" : "") c
        }
        return out
    }
    function quoted(quote, value) {
        if (ENVIRON["RAW"]) return value
        if (quote == "" && value !~ /[^A-Za-z0-9_.:\/@%+,-]/) return value
        if (quote == "\047" && value !~ /\047/) return quote value quote
        return "\"" escaped(value, "\\\"$`") "\""
    }
    function with_value(line,    head, tail, quote) {
        head = substr(line, 1, index(line, "="))
        tail = substr(line, index(line, "=") + 1)
        match(tail, /^[ \t]*/)
        head = head substr(tail, 1, RLENGTH)
        quote = substr(tail, RLENGTH + 1, 1)
        if (quote != "\"" && quote != "\047") quote = ""
        # With blanks around the sign, values have no quotes, as in sysctl.conf.
        if (quote == "" && head ~ /[ \t]$/) return head ENVIRON["VALUE"]
        return head quoted(quote, ENVIRON["VALUE"])
    }'
