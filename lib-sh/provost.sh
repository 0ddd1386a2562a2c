# shellcheck shell=dash
# Provost's shell library, for bash from 4.2 on, dash and busybox ash:
#
#     . provost.sh
#
# under the runner, which adds it to PATH. By hand: `. /usr/share/provost/lib-sh/provost.sh`, or
# `PATH=$PATH:/usr/share/provost/lib-sh` first. Only `fetch` needs provost on the machine.
# docs/shell-library.md is the reference.
#
# Names that begin with _provost_ are internal. Functions print changes on stdout and errors on
# stderr, and return a status; only `die`, `skip` and `reboot_and_continue` end the script.

# A function rather than a variable, because `set -a` would export that to other scripts.
if command -v _provost_is_loaded >/dev/null 2>&1; then
    return 0
fi

# Sets _provost_lib to the folder of this file.
_provost_find() {
    local fd
    # In bash this file's name; unset in other shells.
    # shellcheck disable=SC3028,SC3054
    set -- "${PROVOST_LIB-}" "${BASH_SOURCE-}"
    _provost_lib="$1"
    if [ -n "$_provost_lib" ] && [ -f "$_provost_lib/provost.sh" ]; then
        return 0
    fi
    case "$2" in
    */*) _provost_lib="${2%/*}" ;;
    *) _provost_lib=. ;;
    esac
    if [ -n "$2" ] && [ -f "$_provost_lib/log.sh" ]; then
        return 0
    fi
    # Other shells have the file open while they read it.
    for fd in "/proc/$$/fd/"*; do
        fd="$(readlink "$fd" 2>/dev/null)" || continue
        case "$fd" in
        */provost.sh | */xcatlib.sh | */bootstrap-service-record.sh)
            _provost_lib="${fd%/*}"
            return 0
            ;;
        esac
    done
    local IFS=:
    for _provost_lib in ${PATH-} /usr/share/provost/lib-sh /opt/provost/lib-sh; do
        if [ -f "$_provost_lib/provost.sh" ] && [ -f "$_provost_lib/log.sh" ]; then
            return 0
        fi
    done
    printf '%s\n' 'provost.sh: cannot find its own folder' \
        'hint: set PROVOST_LIB to the folder that has provost.sh and log.sh' >&2
    return 1
}

_provost_find || return 1
for _provost_module in log command os file package service net; do
    # shellcheck source=/dev/null
    . "$_provost_lib/$_provost_module.sh" || return 1
done
unset _provost_module
unset -f _provost_find

_provost_is_loaded() { :; }
