# shellcheck shell=dash
#= Packages
#
# Over dnf, yum, zypper and apt, within PROVOST_ROOT if that is set. Another process that holds the
# package manager's lock is waited for, up to PROVOST_LOCK_TIMEOUT seconds (300); a download that
# fails is tried 3 times.

#: package_manager
#: Prints `dnf`, `yum`, `zypper` or `apt`: what suits the system, or PROVOST_PACKAGE_MANAGER if
#: that is set.
#: Status: 0; 1 if there is none.
#: Example: [ "$(package_manager)" = apt ]
package_manager() {
    _provost_manager package_manager && printf '%s\n' "$_provost_manager"
}

#: package_is_installed NAME…
#: Asks whether all these packages are installed.
#: Status: 0 if so, 1 if not; 2 for wrong use.
#: Example: package_is_installed chrony || skip "no chrony in this image"
package_is_installed() {
    _provost_packages package_is_installed "$@" || return
    _provost_has "$@"
}

#: package_install NAME…
#: Installs the packages that are missing.
#: Status: 0 if all are installed, else 1; 2 for wrong use.
#: Example: package_install chrony rsyslog
package_install() {
    local name count before
    _provost_packages package_install "$@" || return
    if _provost_has "$@"; then
        return 0
    fi
    count=$#
    for name in "$@"; do
        _provost_has "$name" || set -- "$@" "$name"
    done
    shift "$count"
    # A group, a pattern or another name for something may be there already.
    before="$(_provost_list | cksum)"
    _provost_change package_install install "$@" || return
    [ "$before" = "$(_provost_list | cksum)" ] || changed "installed $*"
}

#: package_remove NAME…
#: Removes the packages that are installed.
#: Status: 0 if none is installed any more, else 1; 2 for wrong use.
#: Example: package_remove firewalld
package_remove() {
    local name count=$#
    _provost_packages package_remove "$@" || return
    for name in "$@"; do
        ! _provost_has "$name" || set -- "$@" "$name"
    done
    shift "$count"
    [ $# -gt 0 ] || return 0
    _provost_change package_remove remove "$@" && changed "removed $*"
}

#: package_update_all
#: Brings all installed packages up to date.
#: Status: 0 if they are, else 1.
#: Example: package_update_all
package_update_all() {
    local before
    _provost_manager package_update_all || return
    before="$(_provost_list | cksum)"
    _provost_change package_update_all update || return
    [ "$before" = "$(_provost_list | cksum)" ] || changed "updated the packages"
}

# Checks the names and finds the manager.
_provost_packages() {
    local usage="$1 NAME…" function="$1" name
    shift
    if [ $# -eq 0 ]; then
        _provost_misuse "$function" "no package was given" "$usage"
        return
    fi
    for name in "$@"; do
        case "$name" in
        '' | -* | *- | *[!A-Za-z0-9_.+:=~@/^-]*)
            _provost_misuse "$function" "'$name' is no package's name" "$usage"
            return
            ;;
        esac
    done
    _provost_manager "$function"
}

# Sets _provost_manager and _provost_root.
_provost_manager() {
    _provost_os_family
    _provost_root
    case "${PROVOST_PACKAGE_MANAGER-}:$_provost_family" in
    dnf:* | yum:* | zypper:* | apt:*)
        _provost_manager="$PROVOST_PACKAGE_MANAGER"
        return 0
        ;;
    *:debian) set -- "$1" apt ;;
    *:suse) set -- "$1" zypper ;;
    *:rhel) set -- "$1" dnf yum ;;
    *) set -- "$1" dnf yum zypper apt ;;
    esac
    local function="$1"
    shift
    for _provost_manager in "$@"; do
        case "$_provost_manager" in
        apt) [ ! -x "$_provost_root/usr/bin/apt-get" ] || return 0 ;;
        *) ! command -v "$_provost_manager" >/dev/null 2>&1 || return 0 ;;
        esac
    done
    _provost_error "$function" "there is no package manager here" \
        "it knows dnf, yum, zypper and apt; name one as PROVOST_PACKAGE_MANAGER"
}

# Whether all these packages are installed: one process, however many there are.
_provost_has() {
    local state word
    if [ "$_provost_manager" = apt ]; then
        for word in "$@"; do
            # With `=VERSION` it has to be that one.
            case "$word" in
            *=*)
                state="$(dpkg-query --admindir="$_provost_root/var/lib/dpkg" -W \
                    -f='${db:Status-Status}=${Version}' -- "${word%%=*}" 2>/dev/null)" || return 1
                [ "$state" = "installed=${word#*=}" ] || return 1
                shift
                ;;
            *)
                shift
                set -- "$@" "$word"
                ;;
            esac
        done
        [ $# -gt 0 ] || return 0
        state="$(dpkg-query --admindir="$_provost_root/var/lib/dpkg" -W \
            -f='${db:Status-Status}\n' -- "$@" 2>/dev/null)" || return 1
        local IFS="$_provost_newline"
        for word in $state; do
            [ "$word" = installed ] || return 1
        done
    else
        rpm ${_provost_root:+"--root=$_provost_root"} -q --quiet --whatprovides "$@" \
            >/dev/null 2>&1
    fi
}

_provost_list() {
    if [ "$_provost_manager" = apt ]; then
        dpkg-query --admindir="$_provost_root/var/lib/dpkg" -W
    else
        rpm ${_provost_root:+"--root=$_provost_root"} -qa | sort
    fi
}

# _provost_change FUNCTION install|remove|update NAME…: waits for locks and tries again.
_provost_change() {
    local function="$1" verb="$2" status try=1 pause=2 end tool="$_provost_manager"
    shift 2
    [ "$tool" != apt ] || tool=apt-get
    _provost_clock
    end=$((_provost_now + ${PROVOST_LOCK_TIMEOUT:-300} * 100))
    if [ "$_provost_manager" = apt ]; then
        _provost_know_names "$verb" "$@" || _provost_error "$function" "apt knows no ${*:-packages}" \
            "add the repository that has it to $_provost_root/etc/apt/sources.list.d" || return
    fi
    while :; do
        status=0
        _provost_quote "$verb" "$@"
        _provost_run_as "$tool $_provost_quoted" "_provost_$_provost_manager" "$verb" "$@" ||
            status=$?
        [ $status -ne 0 ] || return 0
        _provost_clock
        case "$_provost_manager:$status" in
        # The lock is another's.
        zypper:7 | dnf:200 | yum:200)
            if [ "$_provost_now" -ge $end ]; then
                _provost_error "$function" \
                    "$_provost_manager is locked by another process for too long" \
                    "see which: ps -ef | grep -e zypp -e dnf -e yum"
                return
            fi
            ;;
        # No such package, which another try won't change.
        zypper:104) try=4 ;;
        *) try=$((try + 1)) ;;
        esac
        if [ $try -gt 3 ]; then
            _provost_error "$function" "$_provost_manager cannot $verb ${*:-all packages}" \
                "the lines above say why: is a repository missing, or out of reach?"
            return
        fi
        sleep $pause
    done
}

# Whether apt could do it; its lists are fetched anew if not, since an image has old ones or none.
_provost_know_names() {
    if [ "$1" != update ] && _provost_apt "$@" --simulate >/dev/null 2>&1; then
        return 0
    fi
    _provost_run_as 'apt-get update' _provost_apt lists || return
    [ "$1" = update ] || _provost_apt "$@" --simulate >/dev/null
}

_provost_apt() {
    local verb="$1"
    shift
    case "$verb" in
    lists) set -- update ;;
    update) set -- dist-upgrade ;;
    *) set -- "$verb" "$@" ;;
    esac
    _provost_in_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
        -o "DPkg::Lock::Timeout=${PROVOST_LOCK_TIMEOUT:-300}" \
        -o Acquire::Retries=2 -o Dpkg::Use-Pty=0 -o APT::Get::Assume-Yes=true \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" </dev/null
}

_provost_zypper() {
    local verb="$1"
    shift
    case "$verb" in
    install) set -- install --auto-agree-with-licenses -- "$@" ;;
    remove) set -- remove -- "$@" ;;
    update) set -- update --auto-agree-with-licenses ;;
    esac
    zypper --non-interactive ${_provost_root:+--root "$_provost_root"} "$@" </dev/null
}

_provost_dnf() {
    local verb="$1"
    shift
    case "$verb" in
    update) set -- upgrade ;;
    *) set -- "$verb" -- "$@" ;;
    esac
    # It would wait for another's lock without a limit.
    "$_provost_manager" -y --setopt=exit_on_lock=True \
        ${_provost_root:+"--installroot=$_provost_root"} "$@" </dev/null
}

_provost_yum() {
    _provost_dnf "$@"
}
