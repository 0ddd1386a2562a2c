#!/bin/sh
# What follows in every script after the values that it needs: PROVOST_…, which provost itself reads; again,
# which makes such a script; console, where an installer shows what failed; and sha256, chosen by the
# architecture. No comment of this file gets there. The script goes through the templates of installers and
# other tools, and so has no brace next to a brace, % or #, and no % next to < or >.
# shellcheck disable=SC2013,SC2016,SC2154,SC3057
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY

have() { command -v "$1" >/dev/null 2>&1; }

# Asks for the URL $1, by POST of the text $3 if there is one, and writes the answer to the file $2.
ask() {
    if have curl; then
        curl -fsS --connect-timeout 5 --speed-limit 1 --speed-time 15 -m 120 \
            ${3:+--data-binary "$3"} -o "$2" "$1"
    elif have wget; then
        timeout 120 wget -nv -t 1 -T 15 ${3:+--post-data="$3"} -O "$2" "$1"
    elif have python3; then
        timeout 120 python3 -c '
import shutil, sys, urllib.request
url, to, text = sys.argv[1:]
with urllib.request.urlopen(url, text.encode() or None, timeout=15) as answer, open(to, "wb") as file:
    shutil.copyfileobj(answer, file)' "$1" "$2" "$3"
    else
        timeout 120 bash -c '
            url=${1#http://} at=${url%%/*} host=${url%%/*} method=${3:+POST}
            host=${host%:*} host=${host#[}
            exec 3<>"/dev/tcp/${host%]}/${at##*:}" || exit
            length=$(printf %s "$3" | wc -c)
            printf "%s /%s HTTP/1.0\r\nHost: %s\r\nContent-Length: %s\r\n\r\n%s" \
                "${method:-GET}" "${url#*/}" "$at" "$length" "$3" >&3
            read -r _ status _ <&3
            while read -r line <&3 && [ "${line%?}" ]; do
                case ${line,,} in content-length:*) size=${line//[!0-9]/} ;; esac
            done
            [ "$status" = 200 ] || { echo "the server responded $status" >&2; exit 1; }
            head -c "${size:-100000000}" <&3 >"$2"' bash "$1" "$2" "$3"
    fi
}

is_right() { [ "$(sha256sum <"$program")" = "$sha256  -" ]; }

fetch_program() {
    for wait in 1 2 4 8 0; do
        for server in $(echo "$PROVOST_SERVER" | tr , ' '); do
            reason=$(ask "$server/bin/$sha256/provost" "$program" '' 2>&1) && status=0 || status=$?
            if [ "$status" = 0 ]; then
                is_right && return
                reason='what came has another one'
            fi
            reason=$(printf '%s\n' "$reason" | tail -n 1 | LC_ALL=C tr -cd ' -~')
            reason="$server did not give the program with the sha256 $sha256: $reason (exit status $status)"
            echo "provost: $reason" >&2
        done
        sleep "$wait"
    done
    return 1
}

digest() {
    set -- "$(printf %s "$1" | sha256sum)"
    echo "${1%% *}"
}

# Says failed to the management node, for the program that can't. The token proves who says it, and isn't
# sent: others on the network could use it.
say_failed() {
    for word in $(cat /proc/cmdline); do
        value=${word#*=}
        case $word in
        provost.node=*) : "${PROVOST_NODE:=$value}" ;;
        provost.join=*) : "${PROVOST_JOIN:=$value}" ;;
        provost.token=*) : "${PROVOST_TOKEN:=$value}" ;;
        esac
    done
    text="$(cat /proc/sys/kernel/random/uuid) $sha256
$1"
    proof=$(digest "$(digest "${PROVOST_JOIN:-$PROVOST_TOKEN}") $(digest "$text")")
    for server in $(echo "$PROVOST_SERVER" | tr , ' '); do
        ask "$server/v1/nodes/${PROVOST_NODE:-$(uname -n)}/not-begun" /dev/null "$proof
$text" >/dev/null 2>&1 && return
    done
}

# A console that takes nothing must not hold up the installer.
fail() {
    printf 'provost: %s\n' "$1" >&2
    [ -e "$console" ] && printf '\nprovost: %s\n' "$1" | timeout 5 tee "$console" >/dev/null
    exit "$2"
}

# Ends the script for the reason $1, with the hint $2 if there is one.
not_begun() {
    say_failed "$1"
    fail "$1: nothing has run${2:+
hint: $2}" 1
}

# Runs provost with the arguments.
run() {
    "$program" "$@" && return
    status=$?
    fail "the $1 FAILED with exit status $status; for more: provostctl show
$("$program" status 2>&1)" "$status"
}

# A program of another architecture is never run.
case $sha256 in
none-for-*)
    arch=$(uname -m)
    not_begun "this script has no program for $arch" "on the management node, put the static provost \
for $arch where [node] programs of provostd.toml says; then, for this script anew: $again"
    ;;
esac

# Where nothing is mounted that forbids to run it. Systems whose /usr is read-only have /opt/bin.
program=$(mktemp /usr/bin/.provost.XXXXXX 2>/dev/null) || {
    mkdir -p /opt/bin && program=$(mktemp /opt/bin/.provost.XXXXXX)
} || not_begun 'no file can be made in /usr/bin or /opt/bin'
trap 'rm -f "$program"' EXIT
fetch_program || not_begun "$reason"
chmod 755 "$program"
run kickstart
