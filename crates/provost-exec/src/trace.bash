# Tells provost where a bash script fails. Bash reads this before the script (BASH_ENV); it
# costs nothing while all goes well. The script's own traps take the place of these.
__provost_notes=$PROVOST_NOTES
unset BASH_ENV PROVOST_NOTES

# A note is nine fields, each ended by NUL: kind, status, flags, line, function, file, depth,
# command, statuses of the pipeline. A subshell's notes aren't the script's: what it ends with shows in its parent.
__provost_note() {
    [ "$BASH_SUBSHELL" -gt 0 ] || printf '%s\0' "$@" 2>/dev/null >>"$__provost_notes" || :
}

__provost_status() { return "$1"; }

# A function, since no trap tells where exit was called.
exit() {
    local __provost_last=$?
    __provost_note exit "${1:-$__provost_last}" "$-" "${BASH_LINENO[0]}" \
        "${FUNCNAME[1]:-main}" "${BASH_SOURCE[1]}" "${#BASH_SOURCE[@]}" "exit${*:+ $*}" ""
    [ $# -eq 0 ] || builtin exit "$@"
    __provost_status "$__provost_last" && builtin exit || builtin exit
}

set -o errtrace
trap '__provost_note err "$?" "$-" "$LINENO" "${FUNCNAME[0]:-main}" "${BASH_SOURCE[0]}" "${#BASH_SOURCE[@]}" "$BASH_COMMAND" "${PIPESTATUS[*]}"' ERR
trap '__provost_note end "$?" "$-" 0 "" "" 0 "$BASH_COMMAND" ""' EXIT
