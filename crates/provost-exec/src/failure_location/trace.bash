# Tells provost where a bash script fails. Bash reads this before the script (BASH_ENV); it
# costs nothing while all goes well. The script's own traps for ERR and EXIT run after these where
# `trap` is watched, else instead of them.
# Where stderr is /dev/null, it is so that `set -x` doesn't show what runs here.
# The traps call no function, because a script may send all functions to another shell. They have no
# `[[`, `((`, `case` and `for`, which before bash 5.1 take the place of BASH_COMMAND.

# Traps are put together from quoted code.
# shellcheck disable=SC2016,SC2064,SC2089,SC2090

# Where notes go, how many there are, the options and $_ that the script begins with, what is to
# be watched. An array, which `set -a` doesn't export.
{
    __provost=("$PROVOST_NOTES" 0 "$-" "$_" "$PROVOST_TRACE")
    set +x
} 2>/dev/null
if [[ ${PROVOST_BASH_ENV+set} ]]; then BASH_ENV=$PROVOST_BASH_ENV; else unset BASH_ENV; fi
unset PROVOST_NOTES PROVOST_TRACE PROVOST_BASH_ENV

# A note has eleven fields, each ended by NUL: kind, status, flags, line (0 if it isn't known),
# function, file, depth, command, statuses of the pipeline, caller, working directory. What $_ is to
# stay follows. One assignment takes them all, because each command changes some.
# Where it can't be noted, that is no failure of the script's.
__provost[7]='builtin printf "%s\0" "${__provost_note[@]:0:11}" >>"${__provost[0]}" || :; '
__provost[7]+='__provost[1]=$((__provost[1] + 1)); '

if [[ ${__provost[4]} == *exit* ]]; then
    # A function, because no trap tells where exit was called.
    exit() {
        {
            __provost[2]=$?
            set +x
        } 2>/dev/null
        __provost[5]="exit $*"
        if [[ $# -gt 1 || ($# -eq 1 && ($1 == '' || $1 == *[!0-9]* || ${#1} -gt 18)) ]]; then
            # Bash would name this file as the place of a bad argument. Its message may be in any
            # language: what stands around the line's number stays.
            __provost[3]=0 __provost[4]=$(builtin exit "$@" 2>&1) || __provost[3]=$?
            if [[ ${__provost[4]} == *": exit: "* ]]; then
                __provost[11]=${__provost[4]%%: exit: *}
                __provost[11]=${__provost[11]#"${BASH_SOURCE[0]}"}
                builtin printf '%s%s%s%s: exit: %s\n' "${BASH_SOURCE[1]}" \
                    "${__provost[11]%%[0-9]*}" "${BASH_LINENO[0]}" "${__provost[11]##*[0-9]}" \
                    "${__provost[4]#*: exit: }" >&2
                # Of too many, bash ends nothing.
                [[ $# -lt 2 || $1 != ?([-+])+([0-9]) ]] || return "${__provost[3]}"
                set -- "${__provost[3]}"
            fi
        fi
        # Where the shell library ends the script, the place is its caller.
        __provost[11]=1
        while [[ ${PROVOST_LIB-} && ${BASH_SOURCE[__provost[11]]-} == "$PROVOST_LIB"/* ]]; do
            __provost[5]=${FUNCNAME[__provost[11]]}
            __provost[11]=$((__provost[11] + 1))
        done 2>/dev/null
        # A subshell's notes aren't the script's: what it ends with shows in its parent.
        if [[ $BASH_SUBSHELL -eq 0 ]]; then
            __provost_note=(exit "${1-${__provost[2]}}" "$-" "${BASH_LINENO[__provost[11] - 1]}"
                "${FUNCNAME[__provost[11]]:-main}" "${BASH_SOURCE[__provost[11]]}"
                "${#BASH_SOURCE[@]}" "${__provost[5]}" ""
                "${FUNCNAME[__provost[11] + 1]:+${BASH_LINENO[__provost[11]]} ${FUNCNAME[__provost[11] + 1]} ${BASH_SOURCE[__provost[11] + 1]-}}"
                "${PWD-}")
            builtin eval "${__provost[7]}"
            __provost[10]=noted
        fi 2>/dev/null
        [[ $# -gt 0 ]] || set -- "${__provost[2]}"
        builtin exit "$@"
    }
fi

if [[ ${__provost[4]} == *functions* ]]; then set -o errtrace; fi
# What is noted at a failure and at the end. The script's action follows in the same line, because
# lines of a trap count, and finds $?, $_ and the stack as without it.
# A script that goes on after 200 failures has from then on its own trap alone, for its speed and for
# the disk. A subshell's notes aren't the script's.
__provost[8]='{ __provost_note=(err "$?" "$-" "$LINENO" "${FUNCNAME[0]:-main}" "${BASH_SOURCE[0]}"'
__provost[8]+=' "${#BASH_SOURCE[@]}" "$BASH_COMMAND" "${PIPESTATUS[*]/%/ }"'
__provost[8]+=' "${FUNCNAME[1]:+${BASH_LINENO[0]} ${FUNCNAME[1]} ${BASH_SOURCE[1]-}}"'
__provost[8]+=' "${PWD-}" "$_"); builtin test "$BASH_SUBSHELL" -ne 0 || { '
__provost[8]+='builtin test "${__provost[1]}" -lt 200 -o -z "${__provost_note[2]##*e*}" || '
__provost[8]+="__provost_note[0]=gap; ${__provost[7]}}; "
__provost[8]+='builtin test "${__provost[1]}" -le 200 || builtin trap -- "${__provost[6]}" ERR; '
__provost[6]=-
# A job that is killed before it has begun still has the trap, and takes itself for the script.
# An `exit` of a library that took the place of ours is still on the stack, and so is its caller.
__provost[9]='{ __provost_note=(end "$?" "$-" 0 "${FUNCNAME[0]:-main}" "${BASH_SOURCE[0]}" 0'
__provost[9]+=' "$BASH_COMMAND" "${PIPESTATUS[*]/%/ }" "" "${PWD-}" "$_"); '
__provost[9]+='builtin test "$BASHPID" -ne $$ || { '
__provost[9]+='builtin test "${FUNCNAME[0]-}" != exit -o "${__provost[10]-}" = noted || { '
__provost[9]+='__provost[11]=1; while builtin test "${FUNCNAME[__provost[11]]-}" = exit; do '
__provost[9]+='__provost[11]=$((__provost[11] + 1)); done; builtin printf "%s\0" exit '
__provost[9]+='"${__provost_note[@]:1:2}" "${BASH_LINENO[__provost[11] - 1]}" '
__provost[9]+='"${FUNCNAME[__provost[11]]:-main}" "${BASH_SOURCE[__provost[11]]-}" '
__provost[9]+='"${#BASH_SOURCE[@]}" exit "" '
__provost[9]+='"${FUNCNAME[__provost[11] + 1]:+${BASH_LINENO[__provost[11]]} ${FUNCNAME[__provost[11] + 1]} ${BASH_SOURCE[__provost[11] + 1]-}}" '
__provost[9]+='"${PWD-}" >>"${__provost[0]}" || :; }; '
__provost[9]+="${__provost[7]}}; "
__provost[5]=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))
if [[ ${__provost[5]} -lt 403 ]]; then
    # There, a function can't set a trap for ERR where one is set; and with a trap for EXIT, a script
    # that assigns to a readonly variable ends with 0.
    if [[ ${__provost[4]} == *own* ]]; then __provost[8]=''; fi
    __provost[9]='' __provost[4]=''
    # Of a function that returns a failure, it gives the line within, in the file of the call.
    __provost[10]='builtin test "${__provost_note[7]%% *}" != return || __provost_note[3]=0; '
    __provost[8]=${__provost[8]/builtin/${__provost[10]}builtin}
fi
if [[ ${__provost[8]} ]]; then
    trap "${__provost[8]}: \"\${__provost_note[11]}\"; } 2>/dev/null" ERR
fi
# With a trap for EXIT, bash before 5.2 doesn't end with the status of an `exec` that failed.
if [[ ${__provost[9]} && (${__provost[4]} != *exec* || ${__provost[5]} -ge 502) ]]; then
    trap "${__provost[9]}} 2>/dev/null" EXIT
fi

if [[ ${__provost[4]} == *traps* ]]; then
    __provost_status() { return "$1"; }
    # The status after `&&` is nobody's: under `set -e` the script would end here, and its EXIT trap
    # would print to /dev/null.
    __provost[8]+='__provost_status "${__provost_note[1]}" "${__provost_note[11]}"'
    __provost[8]+=' && : "${__provost_note[11]}"; } 2>/dev/null; '
    if [[ ${__provost[4]} == *stack* ]]; then
        # After a call of a function, the script's trap wouldn't see FUNCNAME.
        __provost[9]+='__provost[3]=$(builtin exit "${__provost_note[1]}")'
    else
        __provost[9]+='__provost_status "${__provost_note[1]}" "${__provost_note[11]}"'
    fi
    __provost[9]+=' && : "${__provost_note[11]}"; } 2>/dev/null; '
    # Keeps the notes in front of what a trap of the script, or of a library, does.
    trap() {
        if builtin test "$BASH_SUBSHELL" -ne 0 -o $# -eq 0 || builtin test "$1" != "${1#-[lp]}"; then
            builtin trap "$@"
            return
        fi
        builtin test "$1" != -- || shift
        # Without an action, the first word is a signal.
        builtin test $# -gt 1 -a "x$1" = x -o $# -gt 1 -a "x${1//[0-9]/}" != x || set -- - "$@"
        __provost[4]=$1
        builtin test "$1" != - || __provost[4]=
        __provost[3]=0
        while builtin test $# -gt 1; do
            if builtin test "${2^^}" = ERR -o "${2^^}" = SIGERR; then
                __provost[6]=$1
                builtin trap -- "${__provost[8]}${__provost[4]}" ERR
            elif builtin test "${2^^}" = EXIT -o "${2^^}" = SIGEXIT -o "$2" = 0; then
                builtin trap -- "${__provost[9]}${__provost[4]}" EXIT
            else
                builtin trap -- "$1" "$2" || __provost[3]=1
            fi
            set -- "$1" "${@:3}"
        done
        return "${__provost[3]}"
    }
fi

# What bash would have read first. From here on, `set -x` and $_ are as the script would have them.
if [[ ${BASH_ENV-} && -f $BASH_ENV ]]; then
    { case ${__provost[2]} in *x*) set -x ;; *) : "${__provost[3]}" ;; esac } 2>/dev/null
    # shellcheck source=/dev/null
    . "$BASH_ENV"
else
    { case ${__provost[2]} in *x*) set -x ;; *) : "${__provost[3]}" ;; esac } 2>/dev/null
fi
