# shellcheck shell=dash
#= Services
#
# With systemd or SysV init, by any of a service's names. In a chroot, and with PROVOST_ROOT, they
# enable and disable services; starting one is left to the next boot, with a message.

#: service_start NAME
#: Starts a service unless it is running.
#: Status: 0 if it is running, or will be after the boot; else 1; 2 for wrong use.
#: Example: service_start chronyd
service_start() {
    local name
    _provost_service service_start "$@" || return
    if _provost_is_later service_start; then
        info "$name will start at the next boot: nothing can be started here"
        return 0
    fi
    if _provost_is_active; then
        return 0
    fi
    _provost_control service_start start && changed "started $name"
}

#: service_stop NAME
#: Stops a service if it is running. A missing service is no error.
#: Status: 0 if it isn't running, else 1; 2 for wrong use.
#: Example: service_stop firewalld
service_stop() {
    local name
    _provost_service_or_none service_stop "$@" || return
    if [ -z "$name" ] || _provost_is_later service_stop || ! _provost_is_active; then
        return 0
    fi
    _provost_control service_stop stop && changed "stopped $name"
}

#: service_restart NAME
#: Restarts a service, or starts it.
#: Status: 0 if it is running, or will be after the boot; else 1; 2 for wrong use.
#: Example: if changes; then service_restart chronyd; fi
service_restart() {
    local name
    _provost_service service_restart "$@" || return
    if _provost_is_later service_restart; then
        info "$name will start at the next boot: nothing can be started here"
        return 0
    fi
    _provost_control service_restart restart && changed "restarted $name"
}

#: service_enable NAME
#: Lets a service start at every boot; on a read-only root, until the next one. A static one, which
#: has no [Install] section, is left to the units that need it, with a message.
#: Status: 0 if it is enabled or static, else 1; 2 for wrong use.
#: Example: service_enable chronyd
service_enable() {
    local name out _provost_root
    _provost_service service_enable "$@" || return
    if _provost_is_enabled; then
        return 0
    fi
    if _provost_unit_file "$name"; then
        if ! out="$(_provost_systemctl enable "$name.service" 2>&1)" &&
            ! { _provost_is_read_only "$out" && out="$(systemctl --runtime enable "$name.service" 2>&1)"; }; then
            printf '%s\n' "$out" >&2
            _provost_error service_enable "cannot enable $name" \
                "see the line above, and: systemctl cat $name"
            return
        fi
        case "$out" in
        *'reated symlink'*) ;;
        *'no installation config'*)
            info "$name is static: it starts when another unit needs it"
            return 0
            ;;
        # Everything was as it should be, such as an alias.
        *) return 0 ;;
        esac
    elif command -v update-rc.d >/dev/null 2>&1; then
        _provost_in_root update-rc.d "$name" defaults >/dev/null &&
            _provost_in_root update-rc.d "$name" enable || return 1
    elif command -v chkconfig >/dev/null 2>&1; then
        { _provost_in_root chkconfig --add "$name" && _provost_in_root chkconfig "$name" on; } ||
            return 1
    else
        _provost_error service_enable "cannot enable $name: no systemctl, update-rc.d or chkconfig" \
            "install systemd, chkconfig or init-system-helpers"
        return
    fi
    changed "enabled $name"
}

#: service_disable NAME
#: Keeps a service from starting at boot. A missing service is no error.
#: Status: 0 if it isn't enabled, else 1; 2 for wrong use.
#: Example: service_disable firewalld
service_disable() {
    local name _provost_root
    _provost_service_or_none service_disable "$@" || return
    if [ -z "$name" ] || ! _provost_is_enabled; then
        return 0
    fi
    if _provost_unit_file "$name"; then
        if ! _provost_systemctl --quiet disable "$name.service"; then
            _provost_error service_disable "cannot disable $name" \
                "see the line above, and: systemctl cat $name"
            return
        fi
    elif command -v update-rc.d >/dev/null 2>&1; then
        _provost_in_root update-rc.d "$name" disable || return 1
    else
        _provost_in_root chkconfig "$name" off || return 1
    fi
    changed "disabled $name"
}

#: service_status NAME
#: Tests whether a service is running.
#: Status: 0 if so, 3 if not, 4 if there is no such service; 2 for wrong use.
#: Example: service_status sshd || warn "nobody can log in"
service_status() {
    local name
    _provost_service_or_none service_status "$@" || return
    [ -n "$name" ] || return 4
    if _provost_is_later service_status; then
        return 3
    fi
    _provost_is_active || return 3
}

#: service_name NAME
#: Prints this system's name of a service: `ssh` or `sshd`, `chrony` or `chronyd`, `apache2` or
#: `httpd` … The given name if it has none of them.
#: Status: 0; 1 if there is no such service; 2 for wrong use.
#: Example: journalctl -u "$(service_name sshd)"
service_name() {
    local name
    _provost_service_or_none service_name "$@" || return
    printf '%s\n' "${name:-"${1%.service}"}"
    [ -n "$name" ]
}

# A line has the names of one service; each system has one of them.
_provost_services='
chronyd chrony
sshd ssh
crond cron cronie
httpd apache2
ntpd ntp ntpsec
rsyslog rsyslogd syslog
named bind9 bind
nfs-server nfs-kernel-server nfsserver nfs
rpcbind portmap
dhcpd isc-dhcp-server dhcp-server
mariadb mysql mysqld
NetworkManager network-manager
networking network
smb smbd samba
kdump kdump-tools kdump-service
tftp tftpd-hpa tftpd
slapd ldap openldap
ypbind nis
multipathd multipath-tools
munge munged
'

# Whether the running system's root is read-only, by what systemctl has printed.
_provost_is_read_only() {
    [ -z "$_provost_root" ] || return 1
    case "$1" in
    *'ead-only'*) info "the root is read-only: $name is enabled until the next boot" ;;
    *) return 1 ;;
    esac
}

# Sets `name` of the caller to this system's name of the service $2.
_provost_service() {
    _provost_service_or_none "$@" || return
    [ -z "$name" ] || return 0
    _provost_error "$1" "there is no service $2 on this system" \
        "install its package, or find its name: systemctl list-unit-files"
}

# The same, with an empty `name` if there is none.
_provost_service_or_none() {
    local line names=''
    case "${2-}" in
    '' | -* | */* | *[!A-Za-z0-9_.:@\\-]*)
        _provost_misuse "$1" "'${2-}' is not the name of a service" "$1 NAME"
        return
        ;;
    esac
    if [ $# -ne 2 ]; then
        _provost_misuse "$1" "needs one name, got $(($# - 1))" "$1 NAME"
        return
    fi
    set -- "${2%.service}"
    _provost_root
    local IFS="$_provost_newline"
    for line in $_provost_services; do
        case " $line " in
        *" $1 "*) names="$line" ;;
        esac
    done
    IFS=' '
    # The unit's own name first, because systemctl doesn't enable an alias.
    for name in $1 $names; do
        ! _provost_unit_file "$name" || [ -L "$_provost_unit" ] || return 0
    done
    for name in $1 $names; do
        if _provost_unit_file "$name" || [ -x "$_provost_root/etc/init.d/$name" ]; then
            return 0
        fi
    done
    name=
}

# Sets _provost_unit to the file of the unit $1.service, if there is one.
_provost_unit_file() {
    local folder file="$1.service"
    # The file of an instance is its template's.
    case "$1" in
    *@?*) file="${1%%@*}@.service" ;;
    esac
    for folder in etc/systemd/system run/systemd/system usr/local/lib/systemd/system \
        usr/lib/systemd/system lib/systemd/system; do
        _provost_unit="$_provost_root/$folder/$file"
        if [ -e "$_provost_unit" ] || [ -L "$_provost_unit" ]; then
            return 0
        fi
    done
    return 1
}

# Whether services can be started only at the next boot.
_provost_is_later() {
    [ -n "$_provost_root" ] || in_chroot
}

_provost_is_active() {
    if [ -d /run/systemd/system ]; then
        systemctl is-active --quiet "$name"
    else
        "/etc/init.d/$name" status >/dev/null 2>&1
    fi
}

# From its links, which needs no process.
_provost_is_enabled() {
    local link
    for link in "$_provost_root"/etc/systemd/system/*.wants/"$name.service" \
        "$_provost_root"/etc/systemd/system/*.requires/"$name.service" \
        "$_provost_root"/run/systemd/system/*.wants/"$name.service" \
        "$_provost_root"/etc/rc[235].d/S??"$name" "$_provost_root"/etc/rc.d/rc[235].d/S??"$name"; do
        if [ -L "$link" ]; then
            return 0
        fi
    done
    return 1
}

# _provost_control FUNCTION start|stop|restart
_provost_control() {
    if [ -d /run/systemd/system ]; then
        systemctl "$2" "$name" ||
            _provost_error "$1" "cannot $2 $name" "see why: journalctl -u $name -n 30"
    elif [ -x "/etc/init.d/$name" ]; then
        # A daemon of an old script would hold our output open.
        "/etc/init.d/$name" "$2" </dev/null ||
            _provost_error "$1" "cannot $2 $name" "see why: /etc/init.d/$name $2"
    else
        _provost_error "$1" "cannot $2 $name: systemd isn't running" "$2 it after the boot"
    fi
}

_provost_systemctl() {
    if [ -n "$_provost_root" ]; then
        systemctl --root="$_provost_root" "$@"
    else
        systemctl "$@"
    fi
}

# Runs a command within PROVOST_ROOT.
_provost_in_root() {
    if [ -n "$_provost_root" ]; then
        chroot "$_provost_root" "$@"
    else
        "$@"
    fi
}
