# shellcheck shell=dash
#= Telling and ending

#: info MESSAGE…
#: Says something, on stdout.
#: Status: 0.
#: Example: info "this node has $count disks"
info() {
    printf '%s\n' "$*"
}

#: warn MESSAGE…
#: Says something that deserves attention, on stderr, with `warning: ` before it.
#: Status: 0.
#: Example: warn "no swap on this node"
warn() {
    printf 'warning: %s\n' "$*" >&2
}

#: die MESSAGE [HINT]
#: Says what is wrong, and in a last line `hint: HINT` what to do about it, which the record of
#: the run takes over; then ends the script.
#: Status: ends the script with 1.
#: Example: die "MASTER is not set" 'give it in the env of site.toml, e.g. MASTER = "10.0.0.1"'
die() {
    printf '%s\n' "${1-it failed}" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

#: skip REASON
#: Ends the script as a success that had nothing to do. The record says why.
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
#: Ends the script as a success and has the runner reboot the node; the run goes on after it with
#: the next script. Outside of a run it asks for the reboot only.
#: Status: ends the script with 0, or with 1 where there is nobody who could reboot.
#: Example: reboot_and_continue "the new kernel is installed"
reboot_and_continue() {
    if [ -z "${PROVOST_REBOOT-}" ]; then
        die "a reboot is needed: ${*:-this script asks for it}" \
            "reboot this machine, then go on with what comes after this script"
    fi
    info "asking for a reboot: ${*:-no reason given}"
    _provost_one_line "$*"
    printf '%s\n' "$_provost_line" >"$PROVOST_REBOOT" ||
        die "cannot write the wish for a reboot to $PROVOST_REBOOT" "is its disk full?"
    exit 0
}

#: changed WHAT
#: Says that something was changed, as `changed: WHAT`, and remembers it for `changes`. The
#: functions of this library that change something call it themselves.
#: Status: 0.
#: Example: mount /scratch && changed "mounted /scratch"
changed() {
    local pid=$$ _
    printf 'changed: %s\n' "$*"
    _provost_changes=yes
    # A variable set in a subshell, as in `… | file_write`, is lost with it; a file isn't.
    { read -r pid _ </proc/self/stat; } 2>/dev/null || :
    if [ "$pid" != $$ ]; then
        (
            set -C
            : >"$_provost_changes_file"
        ) 2>/dev/null || :
    fi
}

#: changes
#: Asks whether anything was changed since the script began, or since `changes_reset`.
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
#: Forgets what was changed so far.
#: Status: 0.
#: Example: changes_reset
changes_reset() {
    changes || :
    _provost_changes=no
}

# _provost_error FUNCTION WHAT [HINT]: the form of every error in here. Returns 1.
_provost_error() {
    printf 'provost.sh: %s: %s\n' "$1" "$2" >&2
    [ -z "${3-}" ] || printf 'hint: %s\n' "$3" >&2
    return 1
}

# _provost_misuse FUNCTION WHAT USAGE: the same for wrong arguments. Returns 2.
_provost_misuse() {
    _provost_error "$1" "$2" "usage: $3" || return 2
}

# Sets _provost_line to $1 with its line breaks as blanks.
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

# Sets _provost_quoted to the arguments as a shell would read them.
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
# Of an earlier script that had this process's number.
if [ -O "$_provost_changes_file" ]; then
    rm -f "$_provost_changes_file"
fi
