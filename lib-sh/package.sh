# shellcheck shell=dash
#= Packages
#
# With dnf, yum, zypper or apt, in PROVOST_ROOT if that is set. They wait for another process's lock
# for up to PROVOST_LOCK_TIMEOUT seconds (300), and try a failed download 3 times.

#: package_manager
#: Prints `dnf`, `yum`, `zypper` or `apt`: the system's own, or PROVOST_PACKAGE_MANAGER if that is
#: set.
#: Status: 0; 1 if there is none.
#: Example: [ "$(package_manager)" = apt ]
package_manager() {
    _provost_manager package_manager && printf '%s\n' "$_provost_manager"
}

#: package_is_installed NAME…
#: Tests whether all these packages are installed.
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
    # A group, a pattern or a virtual package may be installed already.
    before="$(_provost_list | cksum)"
    _provost_change package_install install "$@" || return
    [ "$before" = "$(_provost_list | cksum)" ] || changed "installed $*"
}

#: package_remove NAME…
#: Removes the packages that are installed.
#: Status: 0 if none of them is installed, else 1; 2 for wrong use.
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
#: Updates all installed packages.
#: Status: 0 if they are up to date, else 1.
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
        _provost_misuse "$function" "needs a package" "$usage"
        return
    fi
    for name in "$@"; do
        case "$name" in
        '' | -* | *- | *[!A-Za-z0-9_.+:=~@/^-]*)
            _provost_misuse "$function" "'$name' is not the name of a package" "$usage"
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
    _provost_error "$function" "found no package manager" \
        "set PROVOST_PACKAGE_MANAGER to dnf, yum, zypper or apt"
}

# Whether all these packages are installed, with one process for all.
_provost_has() {
    local state word
    if [ "$_provost_manager" = apt ]; then
        for word in "$@"; do
            # With `=VERSION` it must be that version.
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

# _provost_change FUNCTION install|remove|update NAME…: waits for locks and retries.
_provost_change() {
    local function="$1" verb="$2" status try=1 pause=2 end tool="$_provost_manager"
    shift 2
    [ "$tool" != apt ] || tool=apt-get
    if [ -d "$_provost_root/usr" ] && [ ! -w "$_provost_root/usr" ]; then
        _provost_error "$function" "cannot $verb ${*:-all packages}: /usr is read-only" \
            "change the packages of the image instead"
        return
    fi
    _provost_clock
    end=$((_provost_now + ${PROVOST_LOCK_TIMEOUT:-300} * 100))
    while :; do
        status=0
        if [ "$_provost_manager" = apt ]; then
            _provost_apt_lists "$try" "$verb" "$@" || status=$?
        fi
        if [ $status -eq 2 ]; then
            _provost_error "$function" "apt doesn't know ${*:-any package}" \
                "add its repository to $_provost_root/etc/apt/sources.list.d"
            return
        fi
        _provost_quote "$verb" "$@"
        [ $status -ne 0 ] ||
            _provost_run_as "$tool $_provost_quoted" "_provost_$_provost_manager" "$verb" "$@" ||
            status=$?
        [ $status -ne 0 ] || return 0
        _provost_clock
        case "$_provost_manager:$status" in
        # Another process has the lock.
        zypper:7 | dnf:200 | yum:200 | apt:3)
            if [ "$_provost_now" -ge $end ]; then
                _provost_error "$function" \
                    "another process has locked $_provost_manager for too long" \
                    "find it: ps -ef | grep -e zypp -e dnf -e yum -e apt"
                return
            fi
            ;;
        # No such package: a retry won't help.
        zypper:104) try=4 ;;
        *) try=$((try + 1)) ;;
        esac
        if [ $try -gt 3 ]; then
            _provost_error "$function" "$_provost_manager cannot $verb ${*:-all packages}" \
                "see the lines above: is a repository missing or unreachable?"
            return
        fi
        sleep $pause
    done
}

# _provost_apt_lists TRY VERB NAME…: updates apt's lists as far as that is needed, because an image has
# old ones or none. Status: 1 if a repository can't be read, 2 if apt doesn't know the packages, 3 if
# another process has locked the lists.
_provost_apt_lists() {
    local try="$1" verb="$2" file
    shift
    case "$verb" in
    remove) return 0 ;;
    update)
        _provost_apt_update
        return
        ;;
    esac
    # The site's own repositories may have newer packages than the lists that are here.
    for file in "$_provost_root/etc/apt/sources.list.d"/provost-*.list; do
        [ -f "$file" ] || continue
        _provost_apt_update -o "Dir::Etc::SourceList=${file#"$_provost_root"}" \
            -o Dir::Etc::SourceParts=/dev/null -o APT::Get::List-Cleanup=0 || return
    done
    # Lists that are older than their repository name files that it no longer has.
    if [ "$try" -eq 1 ] && _provost_apt "$@" --simulate >/dev/null 2>&1; then
        return 0
    fi
    # A system's repository that can't be reached doesn't matter if the packages are known.
    _provost_apt_update || [ $? -ne 3 ] || return 3
    _provost_apt "$@" --simulate >/dev/null || return 2
}

# Updates apt's lists; without options, all of them.
_provost_apt_update() {
    local out status=0
    printf '%s\n' '+ apt-get update'
    out="$(_provost_apt lists "$@" 2>&1)" || status=1
    printf '%s\n' "$out"
    case "$out" in
    # It doesn't wait for this lock by itself.
    *'Could not get lock'*) status=3 ;;
    # A repository that can't be read is only a warning of apt-get, which uses old lists.
    *'index files failed to download'*) status=1 ;;
    esac
    return "$status"
}

_provost_apt() {
    local verb="$1"
    shift
    case "$verb" in
    lists) set -- update "$@" ;;
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
    # It would wait for the lock forever.
    "$_provost_manager" -y --setopt=exit_on_lock=True \
        ${_provost_root:+"--installroot=$_provost_root"} "$@" </dev/null
}

_provost_yum() {
    _provost_dnf "$@"
}
