# shellcheck shell=dash
#= Messages and ends

#: info MESSAGE…
#: Prints a message on stdout.
#: Status: 0.
#: Example: info "this node has $count disks"
info() {
    printf '%s\n' "$*"
}

#: warn MESSAGE…
#: Prints a message on stderr, with `warning: ` before it.
#: Status: 0.
#: Example: warn "no swap on this node"
warn() {
    printf 'warning: %s\n' "$*" >&2
}

#: die MESSAGE [HINT]
#: Prints what is wrong, and in a last line `hint: HINT` what to do about it, which also goes into
#: the record; then ends the script.
#: Status: ends the script with 1.
#: Example: die "MASTER is not set" 'give it in the env of site.toml, e.g. MASTER = "10.0.0.1"'
die() {
    printf '%s\n' "${1-it failed}" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

#: skip REASON
#: Ends the script successfully because it has nothing to do. The record has the reason.
#: Status: ends the script with 0.
#: Example: [ -e /dev/nvidia0 ] || skip "no GPU"
skip() {
    printf 'skipped: %s\n' "$*"
    if [ -n "${PROVOST_SKIP-}" ]; then
        _provost_one_line "$*"
        printf '%s\n' "$_provost_line" >"$PROVOST_SKIP" ||
            _provost_error skip "cannot write the reason to $PROVOST_SKIP"
    fi
    exit 0
}

#: reboot_and_continue [REASON]
#: Ends the script successfully and requests a reboot; after the reboot the run continues with the
#: next script. Outside a run it only asks the admin to reboot.
#: Status: ends the script with 0, or with 1 outside a run.
#: Example: reboot_and_continue "the new kernel is installed"
reboot_and_continue() {
    if [ -z "${PROVOST_REBOOT-}" ]; then
        die "a reboot is needed: ${*:-this script requests it}" \
            "reboot this machine, then run the scripts after this one"
    fi
    info "requesting a reboot: ${*:-no reason given}"
    _provost_one_line "$*"
    printf '%s\n' "$_provost_line" >"$PROVOST_REBOOT" ||
        die "cannot write the reboot request to $PROVOST_REBOOT" "free some disk space"
    exit 0
}

#: changed WHAT
#: Prints `changed: WHAT`, and remembers for `changes` that something was changed. The functions
#: of this library call it themselves.
#: Status: 0.
#: Example: mount /scratch && changed "mounted /scratch"
changed() {
    local pid=$$ _
    printf 'changed: %s\n' "$*"
    _provost_changes=yes
    # A variable set in a subshell, such as `… | file_write`, is lost with it; a file isn't.
    { read -r pid _ </proc/self/stat; } 2>/dev/null || :
    if [ "$pid" != $$ ]; then
        (
            set -C
            : >"$_provost_changes_file"
        ) 2>/dev/null || :
    fi
}

#: changes
#: Tests whether anything was changed since the script began, or since `changes_reset`.
#: Status: 0 if so, 1 if not.
#: Example: if changes; then service_restart chrony; fi
changes() {
    if [ -O "$_provost_changes_file" ]; then
        rm -f "$_provost_changes_file"
        _provost_changes=yes
    fi
    [ "$_provost_changes" = yes ]
}

#: changes_reset
#: Forgets all changes so far.
#: Status: 0.
#: Example: changes_reset
changes_reset() {
    changes || :
    _provost_changes=no
}

# _provost_error FUNCTION WHAT [HINT]: the form of every error in this library. Returns 1.
_provost_error() {
    printf 'provost.sh: %s: %s\n' "$1" "$2" >&2
    [ -z "${3-}" ] || printf 'hint: %s\n' "$3" >&2
    return 1
}

# _provost_misuse FUNCTION WHAT USAGE: the same for wrong arguments. Returns 2.
_provost_misuse() {
    _provost_error "$1" "$2" "usage: $3" || return 2
}

# Sets _provost_line to $1 with blanks for its line breaks.
_provost_one_line() {
    _provost_line="$1"
    while :; do
        case "$_provost_line" in
        *"$_provost_newline"*)
            _provost_line="${_provost_line%%"$_provost_newline"*} ${_provost_line#*"$_provost_newline"}"
            ;;
        *) return 0 ;;
        esac
    done
}

# Sets _provost_quoted to the arguments, quoted for a shell.
_provost_quote() {
    local word
    _provost_quoted=
    for word in "$@"; do
        case "$word" in
        '' | *[!A-Za-z0-9_./:=@%+,-]*)
            _provost_quoted="$_provost_quoted '"
            while :; do
                case "$word" in
                *\'*)
                    _provost_quoted="$_provost_quoted${word%%\'*}'\\''"
                    word="${word#*\'}"
                    ;;
                *) break ;;
                esac
            done
            _provost_quoted="$_provost_quoted$word'"
            ;;
        *) _provost_quoted="$_provost_quoted $word" ;;
        esac
    done
    _provost_quoted="${_provost_quoted# }"
}

_provost_newline='
'
_provost_changes=no
if [ -w /run ]; then
    _provost_changes_file="/run/.provost-changes.$$"
else
    _provost_changes_file="${TMPDIR:-/tmp}/.provost-changes.$$"
fi
# It may be left by an earlier script with the same process id.
if [ -O "$_provost_changes_file" ]; then
    rm -f "$_provost_changes_file"
fi
