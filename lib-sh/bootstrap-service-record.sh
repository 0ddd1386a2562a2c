# shellcheck shell=bash disable=SC2016,SC2064 # awk's own $0; traps with the values of now
# The interface of OpenShift's bootstrap services, for bash from 4.2 on. Source this in a script to
# record its start, its stages and its end in
#
#     ${SERVICE_RECORDS_DIR:-/var/log/openshift/}/SERVICE_NAME.json
#
# with `provost record` or, without provost, with this file alone: the same entries, slower.
# Errors in recording are printed on stderr; the script runs all the same.
#
# Set before you source it: SERVICE_NAME, the service's name (default: the systemd unit, else the
# script); PRE_COMMAND or POST_COMMAND, if the script is a command before or after the service.
#
# The script's own traps for EXIT, ERR, HUP, INT and TERM run as well. A SIGTERM to a service's bash
# alone ends it at once, also within a command in the foreground, unless the script traps it.
# A script that becomes another program by `exec` has no end: the next start closes it as
# interrupted. A service that systemd stops in order is recorded as interrupted as well.

#= OpenShift's service records
#
# `bootstrap-service-record.sh`, only for bash, is sourced alone. It records the script's start and,
# when the script ends, its end.

#: record_service_stage_start NAME
#: Records the start of a stage. Stages can't be nested.
#: Status: 0; ends the script with 1 if a stage is open or there is no name.
#: Example: record_service_stage_start etcd
record_service_stage_start() {
    if [[ $# -ne 1 || -z $1 ]]; then
        _provost_record_misuse "${FUNCNAME[0]} needs the name of a stage" "${FUNCNAME[0]} NAME"
    elif [[ -n $_provost_record_stage ]]; then
        _provost_record_misuse "the stage $1 starts before the stage $_provost_record_stage has ended" \
            "end it first: record_service_stage_success or record_service_stage_failure"
    fi
    _provost_record_stage=$1
    _provost_record_write stage-start --stage "$1"
}

#: record_service_stage_success [PATH]
#: Records that the open stage has succeeded, once what it wrote is on the disk: the file system of
#: PATH, by default of the working folder. So a marker that a power cut leaves stands for outputs
#: that it left as well.
#: Status: 0; ends the script with 1 if no stage is open.
#: Example: record_service_stage_success /opt/openshift
record_service_stage_success() {
    _provost_record_stage_end success "${1:-.}"
}

#: record_service_stage_failure
#: Records that the open stage has failed. It may be retried under the same name.
#: Status: 0; ends the script with 1 if no stage is open.
#: Example: record_service_stage_failure
record_service_stage_failure() {
    _provost_record_stage_end failure "${BASH_LINENO[0]} ${FUNCNAME[1]:-main} ${BASH_SOURCE[1]-}"
}

_provost_record_misuse() {
    printf 'bootstrap-service-record.sh: %s\nhint: %s\n' "$1" "$2" >&2
    _provost_record_place="${BASH_LINENO[1]} ${FUNCNAME[2]:-main} ${BASH_SOURCE[2]-}"
    _provost_record_command=${FUNCNAME[1]}
    builtin exit 1
}

# _provost_record_stage_end success [PATH] | failure [PLACE COMMAND [WORD…]]
_provost_record_stage_end() {
    local stage=$_provost_record_stage
    if [[ -z $stage ]]; then
        # Names the caller, not the function in between.
        printf 'bootstrap-service-record.sh: a stage ends, but none has started\nhint: %s\n' \
            'start it first: record_service_stage_start NAME' >&2
        _provost_record_place="${BASH_LINENO[1]} ${FUNCNAME[2]:-main} ${BASH_SOURCE[2]-}"
        _provost_record_command=${FUNCNAME[1]}
        builtin exit 1
    fi
    _provost_record_stage=
    if [[ $1 == success ]]; then
        _provost_record_write stage-end --stage "$stage" --result success ${2:+--sync "$2"}
    else
        _provost_record_failure "${2-}" "${3-}"
        _provost_record_write stage-end --stage "$stage" --result failure \
            ${_provost_record_words[@]+"${_provost_record_words[@]}"} "${@:4}"
    fi
}

# Sets _provost_record_words to the facts of a failure of the command $2 at the line $1.
_provost_record_failure() {
    local message=''
    if [[ -n ${INVOCATION_ID-} ]] && command -v journalctl >/dev/null; then
        # Neither what bash prints of a command that a signal ended, nor a hint, counts.
        message=$(journalctl --quiet --lines=12 --output=cat \
            _SYSTEMD_INVOCATION_ID="$INVOCATION_ID" 2>/dev/null |
            sed -E '/^(.*: line [0-9]+: +[0-9]+ )?Terminated( .*)?$/d; /^hint: /d' |
            tail -n 3) || message=''
    fi
    _provost_record_words=()
    [[ -z $1 ]] || _provost_record_words+=(--error-line "$1")
    [[ -z $message ]] || _provost_record_words+=(--error-message "$message")
    [[ -z $2 ]] || _provost_record_words+=(--command "$2")
    [[ -z $_provost_record_called ]] || _provost_record_words+=(--called-from "$_provost_record_called")
}

# _provost_record_write EVENT WORD…: one entry. Never fails.
_provost_record_write() {
    local status=0
    if [[ -n $_provost_record_program ]]; then
        "$_provost_record_program" record "$@" "${_provost_record_common[@]}" </dev/null >/dev/null ||
            status=$?
        # No permission to run it, or built for another architecture.
        ((status != 126 && status != 127)) || _provost_record_program=''
    fi
    if [[ -z $_provost_record_program ]]; then
        # In a subshell, without the script's options and traps.
        (
            trap - ERR EXIT HUP INT TERM
            set +eu +o pipefail +o noclobber -f
            _provost_record_by_shell "$@" "${_provost_record_common[@]}"
        ) </dev/null >/dev/null || status=$?
    fi
    if ((status != 0)); then
        printf 'bootstrap-service-record.sh: %s is not recorded; the script continues\n' "$1" >&2
    fi
    return 0
}

# The end of the script, with the status $1.
_provost_record_end() {
    # bash 4.2 joins arguments where it is empty.
    local status=$1 words=() IFS=$' \t\n'
    [[ -z $_provost_record_ended ]] || return 0
    _provost_record_ended=yes
    if [[ $status -eq 0 && -z $_provost_record_signal ]]; then
        [[ -z $_provost_record_stage ]] || _provost_record_stage_end success
        _provost_record_write service-end --result success
        return 0
    fi
    if [[ -n $_provost_record_signal ]]; then
        words=(--signal "SIG$_provost_record_signal")
        ! _provost_record_is_stopped || words+=(--cause interrupted)
    else
        words=(--exit-code "$status")
    fi
    if [[ -n $_provost_record_stage ]]; then
        _provost_record_stage_end failure "$_provost_record_place" "$_provost_record_command" \
            "${words[@]}"
    fi
    _provost_record_failure "$_provost_record_place" "$_provost_record_command"
    _provost_record_write service-end --result failure \
        ${_provost_record_words[@]+"${_provost_record_words[@]}"} "${words[@]}"
}

# Whether systemd stops the unit in order: by `systemctl stop`, a reboot or a restart, and not because it
# took too long.
_provost_record_is_stopped() {
    [[ $_provost_record_signal == TERM ]] && _provost_record_ask_systemd &&
        [[ $_provost_record_facts == *$'\nResult=success\n'* && $_provost_record_facts == *$'\nJob='[1-9]* ]]
}

# Sets _provost_record_facts to what systemd knows of the unit.
_provost_record_ask_systemd() {
    [[ -n $_provost_record_unit ]] || return 1
    _provost_record_facts=$(timeout 2 systemctl show --property=Result --property=Job \
        "$_provost_record_unit" 2>/dev/null) || return 1
    _provost_record_facts=$'\n'$_provost_record_facts$'\n'
}

# The EXIT trap: the script's own action first, because it may change the status. If that ends the
# shell, by exit or set -e, the end is recorded there. It finds the original $?, and isn't called
# from a function, because bash would then print a message if it fails.
_provost_record_exit='if _provost_record_leave "$?" "$BASH_COMMAND"; then
        eval "$_provost_record_own"
    else
        eval "$_provost_record_own"
    fi
    _provost_record_end "$_provost_record_at_exit"'

# Whether a SIGTERM ends the script, with the status $1 and the last command $2. bash then runs the EXIT trap, at once, and
# has no word for why; but its command in the foreground is still a job, it is in a function, or it
# hasn't read all of the script. Where nothing tells, systemd knows.
_provost_record_is_terminated() {
    local jobs=''
    [[ -n $_provost_record_unit && -z $_provost_record_signal$_provost_record_place ]] || return 1
    [[ $2 != *exit* ]] || return 1
    # The last one is that in the foreground, or it ends with a `&`.
    jobs=$(
        LC_ALL=C
        builtin jobs
    )
    [[ $jobs != *' Running '* || ${jobs##* Running } == *'&' ]] || return 0
    [[ $jobs != *" Terminated "*" $2" ]] || return 0
    [[ $1 -eq 0 ]] || return 1
    ((${#FUNCNAME[@]} < 4)) || return 0
    ! { IFS= read -r -N 1 -u 255 jobs; } 2>/dev/null || return 0
    _provost_record_ask_systemd &&
        [[ $_provost_record_facts != *$'\nResult=success\n'* || $_provost_record_facts == *$'\nJob='[1-9]* ]]
}

# Takes the last command that failed as that which ended the script: of a pipeline the one that made it
# fail, of what is in brackets the first line.
_provost_record_take_failed() {
    _provost_record_place=${_provost_record_failed[0]} _provost_record_command=${_provost_record_failed[1]}
    _provost_record_called=${_provost_record_failed[3]}
    ! _provost_record_look "${_provost_record_failed[4]}" || _provost_record_take_found
}

_provost_record_take_found() {
    _provost_record_place="${_provost_record_found[0]} ${_provost_record_place#* }"
    _provost_record_command=${_provost_record_found[1]}
}

# Of an exit with the status $1, of which the script's text shows that it passes on the status of a
# command before it, takes that command.
_provost_record_pass_on() {
    local line=${_provost_record_place%% *}
    _provost_record_look '' || return 0
    if [[ ${_provost_record_failed[2]} == "$1" && ${_provost_record_failed[5]} -le $line &&
        ${_provost_record_failed[5]} -ge ${_provost_record_found[0]} ]]; then
        _provost_record_take_failed
    else
        _provost_record_take_found
    fi
}

# Sets _provost_record_found to a line and a command: those that the script's text has for
# _provost_record_place and _provost_record_command, and for the statuses $1 of a pipeline.
_provost_record_look() {
    local line=${_provost_record_place%% *} file=${_provost_record_place#* * } text
    [[ $file == /* ]] || file=$_provost_record_folder/$file
    _provost_record_found=()
    [[ -f $file && -r $file ]] || return 1
    # In a subshell, without the script's traps and locale.
    text=$(
        trap - ERR EXIT
        LINE=$line COMMAND=$_provost_record_command STATUSES=$1 OPTIONS=$SHELLOPTS LC_ALL=C \
            awk "$_provost_record_text" "$file" 2>/dev/null
    ) || return 1
    [[ $text == *$'\n'* ]] || return 1
    _provost_record_found=("${text##*$'\n'}" "${text%$'\n'*}")
}

# Stores that the script ends with the status $1 after the command $2, and where; returns it.
_provost_record_leave() {
    if _provost_record_is_terminated "$@"; then
        _provost_record_signal=TERM _provost_record_command=$2
    fi
    # Now, because the script's trap may fail as well.
    # Without -e the script went on, unless that command was its last one.
    if [[ -z $_provost_record_place && ${_provost_record_failed[2]} -eq $1 &&
        ($- == *e* || $2 == "${_provost_record_failed[1]}") ]]; then
        _provost_record_take_failed
    fi
    _provost_record_at_exit=$1
    return "$1"
}

_provost_record_status() {
    return "$1"
}

# A signal that the script doesn't handle: it ends the script as usual, with the EXIT trap.
_provost_record_killed() {
    builtin trap - EXIT "$1"
    # bash knows the command, but not the line.
    _provost_record_signal=$1 _provost_record_command=$2
    # Under `set -e` the failure that the action finds would end it in the middle, in a signal's trap,
    # which can hang bash. After `||` it doesn't.
    _provost_record_status $((128 + $(builtin kill -l "$1"))) || eval "$_provost_record_exit" || :
    builtin kill -s "$1" "$$"
}

# Functions that replace the builtins, so that the script's later traps are combined with ours. In a
# subshell they only call the builtins.
trap() {
    if [[ $BASHPID != "$$" || $# -eq 0 || $1 == -[lpP]* ]]; then
        builtin trap "$@"
        return
    fi
    [[ $1 != -- ]] || shift
    local action=$1 signal rest=() status=0
    if (($# > 1)); then
        shift
    else
        action=-
    fi
    for signal in "$@"; do
        # An empty action ignores the signal, and children inherit that.
        case ${signal^^} in
        EXIT | 0)
            _provost_record_own=$action
            [[ $action != - ]] || _provost_record_own=
            ;;
        ERR)
            _provost_record_own_err=$action
            if [[ $action == - || -z $action ]]; then
                _provost_record_own_err=:
            elif [[ -n $_provost_record_errtrace ]]; then
                # It would also be called in functions, which the script doesn't expect.
                set +E
                _provost_record_errtrace=
            fi
            ;;
        HUP | SIGHUP | 1 | INT | SIGINT | 2 | TERM | SIGTERM | 15)
            signal=$(builtin kill -l "${signal#[Ss][Ii][Gg]}")
            [[ $signal == [0-9]* ]] && signal=$(builtin kill -l "$signal")
            if [[ $action == - ]]; then
                builtin trap "_provost_record_killed $signal \"\$BASH_COMMAND\"" "$signal"
            elif [[ -z $action ]]; then
                builtin trap '' "$signal"
            else
                # If the action ends the script, the signal did.
                builtin trap -- "_provost_record_signal=$signal"$'\n'"$action"$'\n'"_provost_record_signal=" \
                    "$signal"
            fi
            ;;
        *) rest+=("$signal") ;;
        esac
    done
    ((${#rest[@]} == 0)) || builtin trap -- "$action" "${rest[@]}" || status=$?
    return "$status"
}

exit() {
    local status=$?
    [[ $# -eq 0 ]] || status=$1
    if [[ $BASHPID == "$$" ]]; then
        # In an EXIT trap it mostly repeats the script's exit status.
        if [[ $_provost_record_at_exit != "$status" ]]; then
            _provost_record_place="${BASH_LINENO[0]} ${FUNCNAME[1]:-main} ${BASH_SOURCE[1]-}"
            _provost_record_command="exit${*:+ $*}"
            _provost_record_called=${FUNCNAME[2]:+"${BASH_LINENO[1]} ${FUNCNAME[2]} ${BASH_SOURCE[2]-}"}
            [[ $status == 0 ]] || _provost_record_pass_on "$status"
        fi
        [[ -z $_provost_record_at_exit ]] || _provost_record_end "$status"
    fi
    builtin exit "$@"
}

# Without provost: writes the entry $@, in the form of `provost record`, with bash and awk.
_provost_record_by_shell() {
    local event=$1 file='' key value phase='' cause='' pairs=() entry='' time run=''
    shift
    local -A given=()
    while (($# > 1)); do
        given[${1#--}]=$2
        shift 2
    done
    file=${given[file]} run=${given[run]-}
    phase=${event/-/ }
    [[ -z ${given["pre-command"]-} ]] || phase=${phase/service/pre-command}
    [[ -z ${given["post-command"]-} ]] || phase=${phase/service/post-command}
    if [[ ${given[result]-} == failure ]]; then
        cause='exit'
        [[ -z ${given[signal]-} ]] || cause=signal
        [[ -n ${given[signal]-}${given["exit-code"]-} ]] || cause=
        cause=${given[cause]-$cause}
    fi
    [[ -z ${given[sync]-} ]] || sync -f -- "${given[sync]}" 2>/dev/null || sync
    TZ=UTC0 printf -v time '%(%Y-%m-%dT%H:%M:%SZ)T' -1
    pairs=(timestamp "$time" preCommand "${given["pre-command"]-}" postCommand
        "${given["post-command"]-}" stage "${given[stage]-}" phase "$phase"
        result "${given[result]-}" errorLine "${given["error-line"]-}"
        errorMessage "${given["error-message"]-}" service "${given[service]}" run "$run"
        exitCode "${given["exit-code"]-}" signal "${given[signal]-}" cause "$cause"
        command "${given[command]-}" calledFrom "${given["called-from"]-}")
    set -- "${pairs[@]}"
    while (($# > 1)); do
        key=$1 value=$2
        shift 2
        [[ -n $value ]] || continue
        if [[ $key != exitCode ]]; then
            _provost_record_quote "$value"
            value=$_provost_record_quoted
        fi
        entry+="${entry:+,}\"$key\":$value"
    done
    # Of a step of provost: its runner reads them there.
    [[ -z ${PROVOST_RECORDS-} ]] || printf '{%s}\n' "$entry" >>"$PROVOST_RECORDS" || :
    _provost_record_append "$file" "{$entry}" "$event" "$time"
}

# Sets _provost_record_quoted to $1 as a JSON string.
_provost_record_quote() {
    local LC_ALL=C text=$1 out='' code
    # Text that isn't ASCII is kept if it is UTF-8.
    if [[ $text == *[^[:print:][:space:]]* ]]; then
        text=$(printf '%s' "$text" | iconv -c -f UTF-8 -t UTF-8 2>/dev/null) ||
            text=${1//[^[:print:][:space:]]/?}
    fi
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/\\n}
    text=${text//$'\t'/\\t}
    text=${text//$'\r'/\\r}
    while [[ $text == *[[:cntrl:]]* ]]; do
        out+=${text%%[[:cntrl:]]*}
        text=${text#"${text%%[[:cntrl:]]*}"}
        printf -v code '\\u%04x' "'${text:0:1}"
        out+=$code text=${text:1}
    done
    _provost_record_quoted="\"$out$text\""
}

# _provost_record_append FILE ENTRY EVENT TIME: under the same lock as `provost record`, to a copy
# that then replaces the file.
_provost_record_append() {
    local file=$1 entry=$2 event=$3 time=$4 lock='' new dead='' run
    umask 077
    mkdir -p -- "${file%/*}" || return
    # A folder that is shared with its group, as [paths] group has it.
    [[ ! -g ${file%/*} ]] || umask 027
    new="${file%/*}/.${file##*/}.$BASHPID"
    if [[ ! -e $file ]]; then
        # It appears whole; another writer's file is just as good.
        printf '[\n]\n' >"$new" && ln -- "$new" "$file" 2>/dev/null
        rm -f -- "$new"
    fi
    if command -v flock >/dev/null; then
        while :; do
            exec {lock}<>"$file" || return
            flock -w 60 "$lock" || return
            # Another writer may have replaced the file meanwhile.
            [[ /proc/self/fd/$lock -ef $file ]] && break
            exec {lock}>&-
        done
    else
        _provost_record_lock "$file.lock" || return
    fi
    tr -d '\000' <"$file" | LC_ALL=C awk "$_provost_record_entries" >"$new" || return
    # Runs whose process is gone.
    if [[ $event == service-start ]]; then
        while read -r run; do
            _provost_record_is_alive "$run" || dead+="$run "
        done < <(LC_ALL=C awk "$_provost_record_open" "$new")
    fi
    if [[ ! -s $new && -n $(LC_ALL=C tr -d '][ \n\t\r\000' <"$file") ]]; then
        cp -- "$file" "${file%.json}.damaged" || return
        printf 'the journal was damaged; the damaged file is %s\n' "${file%.json}.damaged" >&2
    fi
    DEAD=$dead ENTRY=$entry TIME=$time LC_ALL=C awk "$_provost_record_layout" "$new" >"$new.json" &&
        { sync "$new.json" 2>/dev/null || sync; } && mv -f -- "$new.json" "$file"
    local status=$?
    rm -f -- "$new" "$new.json"
    if [[ -n $lock ]]; then
        exec {lock}>&-
    else
        rm -f -- "$file.lock"
    fi
    return "$status"
}

# A lock file, which names its holder from the start.
_provost_record_lock() {
    local tries=0 own="$1.$BASHPID"
    _provost_record_process "$BASHPID"
    printf '%s\n' "$_provost_record_run" >"$own" || return
    until ln -- "$own" "$1" 2>/dev/null; do
        if _provost_record_is_left "$1"; then
            # Only one process removes it, after a second look: meanwhile it may be another's.
            if ln -- "$own" "$1.left" 2>/dev/null; then
                ! _provost_record_is_left "$1" || rm -f -- "$1"
                rm -f -- "$1.left"
                continue
            fi
            ! _provost_record_is_left "$1.left" || rm -f -- "$1.left"
        fi
        if ((++tries > 600)); then
            rm -f -- "$own"
            return 1
        fi
        sleep 0.1
    done
    rm -f -- "$own"
}

# Whether the lock $1 exists but not its holder; after a power cut it may be empty.
_provost_record_is_left() {
    local holder again
    { holder=$(cat -- "$1"); } 2>/dev/null || return 1
    [[ $holder != [0-9]*.*.* ]] || ! _provost_record_is_alive "$holder" || return 1
    # The holder may have released the lock before it ended.
    { again=$(cat -- "$1"); } 2>/dev/null && [[ $again == "$holder" ]]
}

# Sets _provost_record_run to an id of the process $1 that no other process ever has.
_provost_record_process() {
    local stat fields boot
    read -r boot </proc/sys/kernel/random/boot_id || boot=none
    read -r stat <"/proc/$1/stat" || return
    # The process name, which may contain anything, ends with the last parenthesis.
    read -r -a fields <<<"${stat##*)}"
    _provost_record_run="$1.${fields[19]}.$boot"
    [[ ${fields[0]} != Z ]]
}

_provost_record_is_alive() {
    local pid=${1%%.*} _provost_record_run=''
    [[ $1 == [0-9]*.*.* ]] || return 0
    { _provost_record_process "$pid"; } 2>/dev/null && [[ $_provost_record_run == "$1" ]]
}

# Finds the whole entries of an array in any layout, wherever it was cut off, and prints them one a
# line.
_provost_record_entries='
    depth == 0 && /^\{.*\},?[ \t\r]*$/ && !odd() { sub(/,?[ \t\r]*$/, ""); print; next }
    { scan($0) }
    function odd(    text) {
        # Only a line with balanced brackets is an entry as it is.
        text = $0
        gsub(/\\./, "", text); gsub(/"[^"]*"/, "", text)
        return text ~ /"/ || gsub(/[{\[]/, "", text) != gsub(/[}\]]/, "", text)
    }
    function scan(line,    i, c) {
        sub(/^[ \t\r]+/, "", line)
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            if (string) {
                if (escape) escape = 0
                else if (c == "\\") escape = 1
                else if (c == "\"") string = 0
            }
            else if (c == "\"") string = 1
            else if (c == "{") { if (depth == 0) entry = ""; depth++ }
            if (depth) entry = entry c
            if (!string && c == "}" && depth && --depth == 0) { print entry; entry = "" }
        }
        # No string continues on the next line: here the entry was cut off.
        if (string) { string = escape = depth = 0; entry = "" }
    }'

# Prints the ids of the runs without an end.
_provost_record_open='
    {
        id = value("run"); if (id == "") next
        if (!(id in phase)) order[++count] = id
        phase[id] = value("phase")
    }
    END { for (i = 1; i <= count; i++) if (phase[order[i]] !~ /^(service|pre-command|post-command) end$/) print order[i] }
    function value(key) {
        if (!match($0, "\"" key "\": ?\"[^\"\\\\]*\"")) return ""
        key = substr($0, RSTART, RLENGTH - 1); sub(/^"[^"]*": ?"/, "", key)
        return key
    }'

# Prints the array: the entries, the ends of runs that were cut off, and the new entry.
_provost_record_layout='
    BEGIN { printf "[\n" }
    { put($0); id = value("run") }
    id != "" { phase[id] = value("phase"); stage[id] = ""; last[id] = $0 }
    id != "" && phase[id] == "stage start" { stage[id] = value("stage") }
    END {
        dead = split(ENVIRON["DEAD"], ids, " ")
        for (i = 1; i <= dead; i++) {
            $0 = last[ids[i]]
            of = pair("preCommand") pair("postCommand")
            kind = of ~ /^"preC/ ? "pre-command" : of ~ /^"postC/ ? "post-command" : "service"
            during = stage[ids[i]] == "" ? "" : " during " stage[ids[i]]
            tail = ",\"result\":\"failure\",\"errorMessage\":\"the run was cut off" during \
                "; its end was never written\"," pair("service") pair("run") \
                "\"cause\":\"interrupted\"," \
                "\"hint\":\"look for a power cut, a reboot or a kill at that time\"}"
            head = "{\"timestamp\":\"" ENVIRON["TIME"] "\"," of
            if (during != "") put(head pair("stage") "\"phase\":\"stage end\"" tail)
            put(head "\"phase\":\"" kind " end\"" tail)
        }
        put(ENVIRON["ENTRY"])
        printf "\n]\n"
    }
    function put(entry) { printf "%s%s", separator, entry; separator = ",\n" }
    # The raw text of a string; and the same with its key and a comma.
    function value(key) {
        key = pair(key); sub(/^"[^"]*": ?"/, "", key); sub(/",$/, "", key)
        return key
    }
    function pair(key) {
        if (!match($0, "\"" key "\": ?\"([^\"\\\\]|\\\\.)*\"")) return ""
        return substr($0, RSTART, RLENGTH) ","
    }'

# Prints, for the failure of COMMAND in LINE of the script, the command and the line that its text
# shows: of a pipeline with these STATUSES the command that made it fail; of an exit the command right
# before it whose status it passes on; of what is in brackets the line where that begins. Nothing if
# the text doesn't show it.
_provost_record_text='
    { line[NR] = trim($0) }
    END {
        at = ENVIRON["LINE"] + 0; command = ENVIRON["COMMAND"]
        has_pipefail = ENVIRON["OPTIONS"] ~ /pipefail/
        if (command ~ /^exit( |$)/) exits()
        else if ((statuses = split(ENVIRON["STATUSES"], status, /[^0-9]+/)) && status[statuses] == "" && --statuses > 1) piped()
        else if (command ~ /[(]/ || line[at] ~ /^[)]/) bracketed()
    }
    function trim(text) { gsub(/^[ \t]+|[ \t\r]+$/, "", text); return text }
    function squeezed(text) { gsub(/[ \t\n;]/, "", text); return text }
    function quotes(text, what) { return gsub(what, "", text) }
    function is_whole(text) {
        return quotes(text, "\"") % 2 == 0 && quotes(text, "\047") % 2 == 0 &&
            quotes(text, "[(]") == quotes(text, "[)]") && text !~ /\\$/
    }
    function is_code(number) { return line[number] != "" && line[number] !~ /^#/ }
    function is_piped(i) { return op[i] ~ /^[|]&?$/ }
    function is_simple(i) {
        return text[i] != "" && is_whole(text[i]) && text[i] !~ /^(if|elif|while|until|for|case|!|fi|done|esac|[}])([ \t]|$)/
    }
    function unquoted(word) { word = trim(word); gsub(/^"+|"+$/, "", word); return word }
    # Sets op, open and text to the commands of a line, the operators and the words before them.
    function parts(from,    i, begin, c, before, after, last, ends, len, n, operator) {
        from = trim(from)
        if (match(from, /^(function [^(){}]+|[^(){} \t$]+[ \t]*\(\))[ \t]*[{].*[}]$/)) {
            from = substr(from, index(from, "{") + 1); sub(/[; \t]*[}]$/, "", from); from = trim(from)
        }
        for (i = begin = 1; i <= length(from); i += len) {
            c = substr(from, i, 1); before = i > 1 ? substr(from, i - 1, 1) : " "
            after = substr(from, i + 1, 1); last = substr(ends, length(ends)); len = 1
            if (last == c) ends = substr(ends, 1, length(ends) - 1)
            else if (last == "\047") continue
            else if (c == "\\") len = 2
            else if (c == "\"" || c == "`" || (c == "\047" && last != "\"")) ends = ends c
            else if (c == "(" && (before == "$" || last != "\"")) ends = ends ")"
            else if (c == "{" && before == "$") ends = ends "}"
            else if (last != "") continue
            else if (c == "#" && before ~ /[ \t]/) { from = substr(from, 1, i - 1); break }
            else if (c == "&" && (before ~ /[<>]/ || after == ">") || c == "|" && before == ">") continue
            else if (c ~ /[;&|]/) {
                if (after == c || c after == "|&") len = 2
                add(++n, operator, substr(from, begin, i - begin))
                operator = substr(from, i, len); begin = i + len
            }
        }
        add(++n, operator, substr(from, begin))
        return n > 1 && op[n] == ";" && text[n] open[n] == "" ? n - 1 : n
    }
    function add(i, operator, of) {
        op[i] = operator; open[i] = ""; text[i] = trim(of)
        if (!match(text[i], /^([{]|then|do|else)([ \t]|$)/)) return
        open[i] = trim(substr(text[i], 1, RLENGTH)); text[i] = trim(substr(text[i], RLENGTH + 1))
    }
    # Sets number to the line where a pipeline begins that goes on until this one, returns its text.
    function pipeline(until,    all, before) {
        all = line[until]
        for (number = until; number > 1; number--) {
            before = line[number - 1]
            if (before !~ /\\$/ && before !~ /\|$/ && line[number] !~ /^\|/) break
            sub(/[ \t]*\\$/, "", before); all = before " " all
        }
        return all
    }
    function say(where, what) { printf "%s\n%d", what, where }
    function piped(    n, i, j, first, found, failed, word) {
        n = parts(pipeline(at))
        for (i = 1; i <= n; i = j) {
            for (j = i + 1; j <= n && is_piped(j);) j++
            if (j - i == statuses && (!found++ || squeezed(text[j - 1]) == squeezed(command))) first = i
        }
        if (found > 1 && squeezed(text[first + statuses - 1]) != squeezed(command)) return
        for (i = statuses; i >= 1; i--) if (status[i] != 0) if (!failed || failed < statuses || has_pipefail) failed = i
        if (!found || !failed || !is_simple(first + failed - 1)) return
        found = text[first + failed - 1]; word = found; sub(/[ \t].*/, "", word)
        for (i = number; i < at && !index(line[i], word);) i++
        say(i, found)
    }
    # bash 4.2 names a command before the brackets.
    function bracketed(    i, all, code) {
        for (i = at; i >= 1; i--) {
            code = is_code(i) ? line[i] : ""; sub(/ #.*/, "", code); all = squeezed(code) all
            if (command !~ /[(]/ && quotes(all, "[(]") >= quotes(all, "[)]")) return say(i, "")
            if (command ~ /[(]/ && index(all, squeezed(command))) break
        }
        gsub(/[ \t]*\n[ \t]*/, " ", command)
        if (i >= 1) say(i, command)
    }
    function exits(    n, i, found, kind) {
        n = parts(line[at])
        for (i = 1; i <= n; i++) if (text[i] ~ /^exit([ \t]|$)/) found = found ? n + 1 : i
        if (!found || found > n) return
        kind = passed(unquoted(substr(text[found], 5)))
        if (kind ~ /^[A-Za-z_]/) assigned(kind)
        else if (kind != "") before(at, found, kind)
    }
    # What a word takes: "?" the last status, N that of the command N of a pipeline, or a variable.
    function passed(word,    name) {
        if (word ~ /^(\$\?|\$\{\?\})?$/) return "?"
        if (word !~ /^\$/) return ""
        name = substr(word, 2); if (name ~ /^\{.*\}$/) name = substr(name, 2, length(name) - 2)
        if (name ~ /^PIPESTATUS\[[0-9]+\]$/) return substr(name, 12, length(name) - 12)
        return name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ ? name : ""
    }
    # The only place where a variable gets a status, if it gets nothing else but 0.
    function assigned(name,    i, j, n, uses, value, kind, where, which, what) {
        for (i = 1; i <= NR; i++) {
            if (!is_code(i)) continue
            uses = used(line[i], name); n = parts(line[i])
            for (j = 1; j <= n; j++) {
                value = text[j]; sub(/^(local|declare|typeset|export|readonly) +/, "", value)
                if (index(value, name "=") != 1) continue
                uses--; value = unquoted(substr(value, length(name) + 2)); kind = passed(value)
                if (value == "" || value == "0") continue
                if (where || kind !~ /^[?0-9]/) return
                where = i; which = j; what = kind
            }
            if (uses > 0) return
        }
        if (where) before(where, which, what)
    }
    # How often a line has the name of a variable where it does not take its value.
    function used(from, name,    n, at, begin, head) {
        for (begin = 1; (at = index(substr(from, begin), name)); begin += at + length(name) - 1) {
            head = substr(from, 1, begin + at - 2)
            n += substr(from, begin + at - 1 + length(name), 1) !~ /[A-Za-z0-9_]/ &&
                head !~ /[A-Za-z0-9_$.\/-]$/ && head !~ /\$\{$/
        }
        return n
    }
    # Says which command came right before one of a line.
    function before(at, which, kind,    n, end, all, i, from, whole) {
        parts(line[at]); number = at; all = line[at]; end = which - 1
        if (which == 1) {
            for (i = at - 1; i >= 1 && !is_code(i);) i--
            if (i < 1 || open[1] != "") return
            all = pipeline(i); end = n = parts(all)
            if (op[n] == "||" && open[n] == "{" && text[n] == "") end--
            if (all !~ / /) for (i = 1; i <= NR; i++) if (line[i] ~ /<</ && index(line[i], all)) return
        }
        else if (op[which] open[which] !~ /^(;|[|][|][{]?)$/) return
        parts(all)
        for (from = end; from > 1 && is_piped(from);) from--
        if (end < 1 || (op[from] != "" && op[from] != ";")) return
        for (i = from; i <= end; whole = whole (i > from ? " | " : "") text[i++]) if (!is_simple(i)) return
        if (kind != "?" && from + kind > end) return
        say(number, kind != "?" ? text[from + kind] : has_pipefail ? whole : text[end])
    }'

# Sets _provost_record_name to the service's name.
_provost_record_set_name() {
    local line
    _provost_record_name=${SERVICE_NAME-} _provost_record_unit=''
    # A step is called as its script; its unit is provost's.
    if [[ -z ${PROVOST_STAGE-} ]]; then
        while read -r line; do
            line=${line##*/}
            # The unit of a session's manager contains everything that is started by hand.
            [[ $line != *.service || $line == user@*.service ]] || _provost_record_unit=$line
        done </proc/self/cgroup
    fi
    _provost_record_name=${_provost_record_name:-${_provost_record_unit%.service}}
    if [[ -z $_provost_record_name ]]; then
        _provost_record_name=${0##*/}
        _provost_record_name=${_provost_record_name%.sh}
        # OpenShift's reader doesn't accept a name with a dot.
        _provost_record_name=${_provost_record_name//./-}
        _provost_record_name=${_provost_record_name#-}
    fi
    _provost_record_name=${_provost_record_name//\//_}
}

_provost_record_begin() {
    local folder=${SERVICE_RECORDS_DIR:-/var/log/openshift}
    _provost_record_stage='' _provost_record_signal='' _provost_record_own=''
    _provost_record_ended='' _provost_record_at_exit='' _provost_record_words=()
    # Where the script called exit; and the last command that failed: line, text, exit status,
    # where the function was called that it is in, the statuses of its pipeline, in which line and
    # how deep the script was in functions when it failed last.
    _provost_record_place='' _provost_record_command='' _provost_record_called=''
    _provost_record_failed=('' '' 0 '' '' 0 0) _provost_record_folder=$PWD
    _provost_record_set_name
    _provost_record_run=''
    { _provost_record_process "$$"; } 2>/dev/null || :
    _provost_record_program=${PROVOST_BIN:-provost}
    command -v "$_provost_record_program" >/dev/null || _provost_record_program=''
    _provost_record_common=(--file "${folder%/}/$_provost_record_name.json"
        --service "$_provost_record_name" --run "$_provost_record_run")
    if [[ -n ${PRE_COMMAND-} ]]; then
        _provost_record_common+=(--pre-command "$PRE_COMMAND")
    elif [[ -n ${POST_COMMAND-} ]]; then
        _provost_record_common+=(--post-command "$POST_COMMAND")
    fi
    _provost_record_write service-start
    _provost_record_own_err=:
}

if [[ -z ${_provost_record_is_on-} || $_provost_record_is_on != "$$" ]]; then
    # The earlier traps; ours replace them.
    _provost_record_before=$(builtin trap -p EXIT HUP INT TERM ERR)
    _provost_record_begin
    # To see failures in functions as well.
    case $- in
    *E*) _provost_record_errtrace='' ;;
    *) _provost_record_errtrace=yes && set -E ;;
    esac
    # Not in a function, so that the script's own action finds everything unchanged.
    # And in one line, because lines of the trap would count as the script's. What fails in a function
    # fails again where that was called. bash 4 takes a `[[` here for the script's command.
    builtin trap '_provost_record_now=("$LINENO ${FUNCNAME[0]:-main} ${BASH_SOURCE[0]-}" "$BASH_COMMAND" "$?" "${FUNCNAME[1]:+${BASH_LINENO[0]} ${FUNCNAME[1]} ${BASH_SOURCE[1]-}}" "${PIPESTATUS[*]/%/ }" "$LINENO" "${#BASH_SOURCE[@]}"); if [ "${_provost_record_now[6]}" -lt "${_provost_record_failed[6]}" ] && [ "${_provost_record_now[2]}" -eq "${_provost_record_failed[2]}" ] && [ "${_provost_record_now[1]}" = "${_provost_record_failed[1]}" ]; then _provost_record_failed=("${_provost_record_failed[@]:0:5}" "${_provost_record_now[@]:5}"); else _provost_record_failed=("${_provost_record_now[@]}"); fi; [ -z "$_provost_record_at_exit" ] || [ "${-#*e}" = "$-" ] || _provost_record_end "${_provost_record_failed[2]}"; _provost_record_status "${_provost_record_failed[2]}" || eval "$_provost_record_own_err"' ERR
    # Trapped, a SIGTERM would wait for the command in the foreground, which systemd may leave alone
    # (KillMode=mixed, process).
    for _provost_record_word in HUP INT ${_provost_record_unit:-TERM}; do
        [[ $_provost_record_word == *.service ]] || trap - "$_provost_record_word"
    done
    builtin trap "$_provost_record_exit" EXIT
    # `trap -p` prints calls of trap, which now is our function.
    eval "$_provost_record_before"
    _provost_record_is_on=$$
    unset _provost_record_word _provost_record_before
fi
