# shellcheck shell=dash
#= Running commands

#: run COMMAND [ARG]…
#: Prints the command as `+ COMMAND`, runs it, and prints its exit status and duration if it
#: fails. Its output passes through.
#: Status: the command's.
#: Example: run mkfs.xfs -q "$disk"
run() {
    _provost_quote "$@"
    _provost_run_as "$_provost_quoted" "$@" || return
}

# _provost_run_as SHOWN CMD…: the same for a function of this library, shown as the command that it
# runs.
_provost_run_as() {
    local shown="$1" status=0 began
    shift
    printf '+ %s\n' "$shown"
    _provost_clock
    began="$_provost_now"
    "$@" || status=$?
    [ "$status" -ne 0 ] || return 0
    _provost_clock
    _provost_tenths $(((_provost_now - began) / 10))
    printf '%s: exit status %s after %s s\n' "$shown" "$status" "$_provost_seconds" >&2
    return "$status"
}

#: retry TRIES COMMAND [ARG]…
#: Runs the command until it succeeds, at most TRIES times, with random pauses of about 1, 2, 4 …
#: 30 seconds.
#: Status: that of the last try; 2 for wrong use.
#: Example: retry 5 mount /scratch
retry() {
    local tries="${1-}" try=1 status pause=10 rest left
    if ! _provost_is_count "$tries" || [ "$tries" -eq 0 ] || [ $# -lt 2 ]; then
        _provost_misuse retry "needs a number of tries and a command" "retry TRIES COMMAND [ARG]…"
        return
    fi
    shift
    while :; do
        status=0
        "$@" || status=$?
        if [ "$status" -eq 0 ] || [ "$try" -ge "$tries" ]; then
            break
        fi
        _provost_random
        rest=$((pause / 2 + _provost_random * pause / 65536))
        _provost_tenths "$rest"
        _provost_quote "$@"
        left=$((tries - try))
        if [ $left -eq 1 ]; then left='1 retry'; else left="$left retries"; fi
        printf '%s: exit status %s; retrying in %s s (%s left)\n' \
            "$_provost_quoted" "$status" "$_provost_seconds" "$left" >&2
        sleep "$_provost_seconds"
        try=$((try + 1))
        pause=$((pause < 150 ? pause * 2 : 300))
    done
    if [ "$status" -ne 0 ]; then
        _provost_quote "$@"
        _provost_error retry "$_provost_quoted: exit status $status in each of $tries tries" || :
    fi
    return "$status"
}

#: wait_until SECONDS MESSAGE COMMAND [ARG]…
#: Runs the command until it succeeds, for at most SECONDS: again after 0.1 seconds, then with
#: longer pauses, up to 5 seconds. MESSAGE says what it waits for. The command itself must not
#: hang; see `with_timeout`.
#: Status: 0 when it has succeeded, 124 after the time-out; 2 for wrong use.
#: Example: wait_until 60 "the address of ib0" test -s /sys/class/net/ib0/address
wait_until() {
    local limit="${1-}" message="${2-}" pause=1 left end
    if ! _provost_is_count "$limit" || [ $# -lt 3 ]; then
        _provost_misuse wait_until "needs a number of seconds, a message and a command" \
            "wait_until SECONDS MESSAGE COMMAND [ARG]…"
        return
    fi
    shift 2
    _provost_clock
    end=$((_provost_now + limit * 100))
    if "$@"; then
        return 0
    fi
    printf 'waiting up to %s s for %s\n' "$limit" "$message"
    while :; do
        _provost_clock
        left=$(((end - _provost_now) / 10))
        if [ "$left" -le 0 ]; then
            _provost_quote "$@"
            _provost_error wait_until "still no $message after $limit s" \
                "see why this fails: $_provost_quoted" || return 124
        fi
        _provost_tenths $((pause < left ? pause : left))
        sleep "$_provost_seconds"
        if "$@"; then
            return 0
        fi
        pause=$((pause < 25 ? pause * 2 : 50))
    done
}

#: with_timeout SECONDS COMMAND [ARG]…
#: Runs the command, which may be a function, for at most SECONDS. Then it gets SIGTERM and, 5
#: seconds later, SIGKILL.
#: Status: the command's; 124 after a time-out; 2 for wrong use.
#: Example: with_timeout 30 umount /scratch
with_timeout() {
    local limit="${1-}" status=0 began pid dog
    if ! _provost_is_count "$limit" || [ "$limit" -eq 0 ] || [ $# -lt 2 ]; then
        _provost_misuse with_timeout "needs a number of seconds and a command" \
            "with_timeout SECONDS COMMAND [ARG]…"
        return
    fi
    shift
    _provost_clock
    began="$_provost_now"
    # In the background, so that a function can be killed too; with the script's own stdin.
    { "$@" <&9 9<&- & } 9<&0
    pid=$!
    # The watchdog doesn't hold the script's output open, and ends its own sleep.
    (
        trap 'kill "$nap" 2>/dev/null; exit 0' TERM
        for nap in "$limit:TERM" 5:KILL; do
            signal="${nap#*:}"
            sleep "${nap%:*}" &
            nap=$!
            wait "$nap"
            _provost_kill_tree "$signal" "$pid"
        done
    ) </dev/null >/dev/null 2>&1 &
    dog=$!
    # Some shells print here that it was killed.
    { wait "$pid"; } 2>/dev/null || status=$?
    { kill "$dog" && wait "$dog"; } 2>/dev/null || :
    _provost_clock
    if [ "$status" -gt 128 ] && [ $((_provost_now - began)) -ge $((limit * 100)) ]; then
        _provost_quote "$@"
        _provost_error with_timeout "$_provost_quoted: killed after $limit s" ||
            return 124
    fi
    return "$status"
}

#: fetch URL SHA256 DEST
#: Fetches a file by HTTP with Provost's own client and its time-outs, and writes it to DEST only
#: if its SHA-256 matches. A DEST that already matches isn't fetched. Missing folders are made.
#: Status: 0 if DEST matches, else 1; 2 for wrong use.
#: Example: fetch http://10.0.0.1/fw.bin "$sha256" /opt/fw.bin
fetch() {
    local sum
    if [ $# -ne 3 ]; then
        _provost_misuse fetch "needs three arguments, got $#" "fetch URL SHA256 DEST"
        return
    fi
    _provost_path "$3"
    if [ -f "$_provost_path" ]; then
        sum="$(sha256sum <"$_provost_path")" || sum=
        [ "${sum%% *}" != "$2" ] || return 0
    fi
    if ! command -v "${PROVOST_BIN:-provost}" >/dev/null 2>&1; then
        _provost_error fetch "cannot fetch $1: no program provost" \
            "install provost, or add its folder to PATH"
        return
    fi
    mkdir -p "${_provost_path%/*}/" ||
        _provost_error fetch "cannot make the folder of $3" "see the line above" || return
    "${PROVOST_BIN:-provost}" fetch --sha256 "$2" --to "$_provost_path" -- "$1" || return 1
    changed "fetched $3"
}

# _provost_kill_tree SIGNAL PID: a process and its visible descendants. It is stopped first, so that
# it starts no more children and doesn't end before them.
_provost_kill_tree() {
    local child children task IFS=' '
    kill -s STOP "$2" 2>/dev/null || return 0
    # Each thread has its own children.
    for task in "/proc/$2/task/"*; do
        children=
        { read -r children <"$task/children"; } 2>/dev/null || :
        for child in $children; do
            _provost_kill_tree "$1" "$child"
        done
    done
    kill -s "$1" "$2" 2>/dev/null || :
    kill -s CONT "$2" 2>/dev/null || :
}

# Sets _provost_now to the time since the boot, in hundredths of a second.
_provost_clock() {
    local up=0.00 _
    { read -r up _ </proc/uptime; } 2>/dev/null || up="$(date +%s).00"
    # The 1 before the decimals keeps 08 from being an octal number.
    _provost_now=$((${up%.*} * 100 + 1${up#*.} - 100))
}

# Sets _provost_seconds to $1 tenths of a second, as a decimal number.
_provost_tenths() {
    _provost_seconds="$(($1 / 10)).$(($1 % 10))"
}

# Sets _provost_random to a number from 0 to 65535.
_provost_random() {
    local uuid=
    { read -r uuid </proc/sys/kernel/random/uuid; } 2>/dev/null || uuid=0000
    uuid="${uuid%"${uuid#????}"}"
    _provost_random=$((0x${uuid:-0}))
}

_provost_is_count() {
    case "$1" in
    '' | *[!0-9]* | 0[0-9]* | ??????????*) return 1 ;;
    esac
}
