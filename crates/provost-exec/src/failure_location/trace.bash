# Tells provost where a bash script fails. Bash reads this before the script (BASH_ENV); it
# costs nothing while all goes well. The script's own traps for ERR and EXIT run after these where
# `trap` is watched, else instead of them.
# Where stderr is /dev/null, it is so that `set -x` doesn't show what runs here.

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

# Ends with the status $1, so that nobody sees that it ran. The rest is the note, eleven fields,
# each ended by NUL: kind, status, flags, line, function, file, depth, command, the statuses of the
# pipeline, the caller, working directory; then what $_ is to stay. A subshell's notes aren't the script's: what
# it ends with shows in its parent.
__provost_note() {
    if [[ $BASH_SUBSHELL -ne 0 && ${FUNCNAME[1]} != __provost_end ]]; then
        return "$1"
    fi
    if [[ $2 != err || ${__provost[1]} -le 200 || $4 == *e* ]]; then
        if [[ $2 == err && ${__provost[1]} -ge 200 && $4 != *e* ]]; then
            set -- "$1" gap 0 "" 0 "" "" 0 "" "" "" ""
        fi
        # Where it can't be noted, that is no failure of the script's.
        builtin printf '%s\0' "${@:2:11}" >>"${__provost[0]}" || :
        __provost[1]=$((__provost[1] + 1))
    fi
    return "$1"
}

# Of the end with the status $1, the options $2, in the function $3 of the file $4, after the command
# $5; $_ is to stay $6. An `exit` of a library that took the place of ours is still on the stack, and
# so is its caller.
__provost_end() {
    if [[ ${FUNCNAME[1]-} == exit && -z ${__provost[7]-} ]]; then
        __provost[6]=2
        while [[ ${FUNCNAME[__provost[6]]-} == exit ]]; do
            __provost[6]=$((__provost[6] + 1))
        done
        __provost_note 0 exit "$1" "$2" "${BASH_LINENO[__provost[6] - 1]}" \
            "${FUNCNAME[__provost[6]]:-main}" "${BASH_SOURCE[__provost[6]]-}" \
            "${#BASH_SOURCE[@]}" exit "" \
            "${FUNCNAME[__provost[6] + 1]:+${BASH_LINENO[__provost[6]]} ${FUNCNAME[__provost[6] + 1]} ${BASH_SOURCE[__provost[6] + 1]-}}" \
            "${PWD-}"
    fi
    __provost_note 0 end "$1" "$2" 0 "$3" "$4" 0 "$5" "" "" "${PWD-}"
    [[ $BASH_SUBSHELL -eq 0 ]] || builtin exit "$1"
    return "$1"
}

if [[ ${__provost[4]} == *exit* ]]; then
    # A function, because no trap tells where exit was called.
    exit() {
        {
            __provost[2]=$?
            set +x
        } 2>/dev/null
        __provost[5]="exit${*:+ $*}"
        if [[ $# -gt 1 || ($# -eq 1 && ($1 == '' || $1 == *[!0-9]* || ${#1} -gt 18)) ]]; then
            # Bash would name this file as the place of a bad argument.
            __provost[3]=0 __provost[4]=$(builtin exit "$@" 2>&1) || __provost[3]=$?
            if [[ ${__provost[4]} == *": exit: "* ]]; then
                builtin printf '%s: line %s: exit: %s\n' "${BASH_SOURCE[1]}" "${BASH_LINENO[0]}" \
                    "${__provost[4]#*: exit: }" >&2
                # Of too many, bash ends nothing.
                [[ ${__provost[4]} != *"too many"* ]] || return "${__provost[3]}"
                set -- "${__provost[3]}"
            fi
        fi
        # Where the shell library ends the script, the place is its caller.
        __provost[6]=1
        while [[ ${PROVOST_LIB-} && ${BASH_SOURCE[__provost[6]]-} == "$PROVOST_LIB"/* ]]; do
            __provost[5]=${FUNCNAME[__provost[6]]}
            __provost[6]=$((__provost[6] + 1))
        done 2>/dev/null
        __provost_note "${__provost[2]}" exit "${1-${__provost[2]}}" "$-" \
            "${BASH_LINENO[__provost[6] - 1]}" "${FUNCNAME[__provost[6]]:-main}" \
            "${BASH_SOURCE[__provost[6]]}" "${#BASH_SOURCE[@]}" "${__provost[5]}" "" \
            "${FUNCNAME[__provost[6] + 1]:+${BASH_LINENO[__provost[6]]} ${FUNCNAME[__provost[6] + 1]} ${BASH_SOURCE[__provost[6] + 1]-}}" \
            "${PWD-}" 2>/dev/null || builtin exit "$@"
        __provost[7]=noted
        builtin exit "$@"
    }
fi

if [[ ${__provost[4]} == *functions* ]]; then set -o errtrace; fi
# What is noted at a failure and at the end. The script's action follows in the same line, because
# lines of a trap count, and finds $?, $_ and the stack as without it. The status after `&&` is
# nobody's: under `set -e` the script would end here, and its EXIT trap would print to /dev/null.
__provost[8]='{ __provost_note "$?" err "$?" "$-" "$LINENO" "${FUNCNAME[0]:-main}"'
__provost[8]+=' "${BASH_SOURCE[0]}" "${#BASH_SOURCE[@]}" "$BASH_COMMAND" "${PIPESTATUS[*]/%/ }"'
__provost[8]+=' "${FUNCNAME[1]:+${BASH_LINENO[0]} ${FUNCNAME[1]} ${BASH_SOURCE[1]-}}"'
__provost[8]+=' "${PWD-}" "$_" && : "$_"; '
__provost[9]='"${FUNCNAME[0]:-main}" "${BASH_SOURCE[0]}" "$BASH_COMMAND" "$_"'
# A script that goes on after so many failures is asked no more, for its speed and for the disk.
trap "${__provost[8]}[[ \${__provost[1]} -le 200 ]] || builtin trap - ERR; } 2>/dev/null" ERR
__provost[8]+='} 2>/dev/null; '
if [[ ${__provost[4]} == *stack* ]]; then
    # After a call of a function, the script's trap wouldn't see FUNCNAME. A substitution has no -e.
    __provost[9]='"${__provost[3]}" "${__provost[6]}" '"${__provost[9]}"
    __provost[9]="__provost[3]=\$? __provost[6]=\$-; __provost[3]=\$(__provost_end ${__provost[9]})"
else
    __provost[9]="__provost_end \"\$?\" \"\$-\" ${__provost[9]}"
fi
__provost[9]="{ ${__provost[9]} && : \"\$_\"; } 2>/dev/null; "
trap "${__provost[9]}" EXIT

if [[ ${__provost[4]} == *traps* ]]; then
    # Keeps the notes in front of what a trap of the script, or of a library, does.
    trap() {
        if [[ $BASH_SUBSHELL -ne 0 || $# -eq 0 || $1 == -[lp]* ]]; then
            builtin trap "$@"
            return
        fi
        [[ $1 != -- ]] || shift
        # Without an action, the first word is a signal.
        [[ $# -gt 1 && ($1 == *[!0-9]* || -z $1) ]] || set -- - "$@"
        __provost[4]=$1
        [[ $1 != - ]] || __provost[4]=
        __provost[3]=0
        while [[ $# -gt 1 ]]; do
            case ${2^^} in
            ERR | SIGERR) builtin trap -- "${__provost[8]}${__provost[4]}" ERR ;;
            EXIT | SIGEXIT | 0) builtin trap -- "${__provost[9]}${__provost[4]}" EXIT ;;
            *) builtin trap -- "$1" "$2" || __provost[3]=1 ;;
            esac
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
