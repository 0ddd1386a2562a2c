# shellcheck shell=dash
#= Services
#
# Over systemd and SysV init, by any of a service's names. In a chroot, and with PROVOST_ROOT, a
# service is enabled and disabled; to start it is left to the next boot, which is said.

#: service_start NAME
#: Starts a service unless it runs.
#: Status: 0 if it runs, or will after the boot; else 1; 2 for wrong use.
#: Example: service_start chronyd
service_start() {
    local name
    _provost_service service_start "$@" || return
    if _provost_is_later service_start; then
        info "$name is to be started by the next boot: nothing can be started here"
        return 0
    fi
    if _provost_is_active; then
        return 0
    fi
    _provost_control service_start start && changed "started $name"
}

#: service_stop NAME
#: Stops a service if it runs. One that isn't there needn't be stopped.
#: Status: 0 if it doesn't run, else 1; 2 for wrong use.
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
#: Starts a service anew, or at all.
#: Status: 0 if it runs, or will after the boot; else 1; 2 for wrong use.
#: Example: if changes; then service_restart chronyd; fi
service_restart() {
    local name
    _provost_service service_restart "$@" || return
    if _provost_is_later service_restart; then
        info "$name is to be started by the next boot: nothing can be started here"
        return 0
    fi
    _provost_control service_restart restart && changed "restarted $name"
}

#: service_enable NAME
#: Has a service started at every boot.
#: Status: 0 if it will be, else 1; 2 for wrong use.
#: Example: service_enable chronyd
service_enable() {
    local name _provost_root
    _provost_service service_enable "$@" || return
    if _provost_is_enabled; then
        return 0
    fi
    if _provost_unit_file "$name"; then
        if ! _provost_systemctl --quiet enable "$name.service"; then
            _provost_error service_enable "cannot enable $name" \
                "the line above says why; see: systemctl cat $name"
            return
        fi
    elif command -v update-rc.d >/dev/null 2>&1; then
        _provost_in_root update-rc.d "$name" defaults >/dev/null &&
            _provost_in_root update-rc.d "$name" enable || return 1
    elif command -v chkconfig >/dev/null 2>&1; then
        { _provost_in_root chkconfig --add "$name" && _provost_in_root chkconfig "$name" on; } ||
            return 1
    else
        _provost_error service_enable "nothing here can enable $name" \
            "install systemd, chkconfig or init-system-helpers"
        return
    fi
    changed "enabled $name"
}

#: service_disable NAME
#: Has a service not started at boot. One that isn't there needn't be disabled.
#: Status: 0 if it won't be, else 1; 2 for wrong use.
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
                "the line above says why; see: systemctl cat $name"
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
#: Asks whether a service runs.
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
#: Prints the name under which this system knows a service: `ssh` or `sshd`, `chrony` or
#: `chronyd`, `apache2` or `httpd` … The given one if it has none of them.
#: Status: 0; 1 if there is no such service; 2 for wrong use.
#: Example: journalctl -u "$(service_name sshd)"
service_name() {
    local name
    _provost_service_or_none service_name "$@" || return
    printf '%s\n' "${name:-"${1%.service}"}"
    [ -n "$name" ]
}

# Services by their names, of which each system has one.
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

# Sets `name` of the caller to the name that is here of the service $2.
_provost_service() {
    _provost_service_or_none "$@" || return
    [ -z "$name" ] || return 0
    _provost_error "$1" "there is no service $2 on this system" \
        "install the package that has it, or see: systemctl list-unit-files"
}

# The same, with an empty `name` where there is none.
_provost_service_or_none() {
    local line names=''
    case "${2-}" in
    '' | -* | */* | *[!A-Za-z0-9_.:@\\-]*)
        _provost_misuse "$1" "'${2-}' is no service's name" "$1 NAME"
        return
        ;;
    esac
    if [ $# -ne 2 ]; then
        _provost_misuse "$1" "one name is needed, $(($# - 1)) were given" "$1 NAME"
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
    # First by what a unit is called itself, since systemctl enables no alias.
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
    # An instance has its template's file.
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

# Whether services can't be started here, but at the next boot.
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

# By its links, which costs no process.
_provost_is_enabled() {
    local link
    for link in "$_provost_root"/etc/systemd/system/*.wants/"$name.service" \
        "$_provost_root"/etc/systemd/system/*.requires/"$name.service" \
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
            _provost_error "$1" "$name does not $2" "see why: journalctl -u $name -n 30"
    elif [ -x "/etc/init.d/$name" ]; then
        # A daemon of an old script would hold our output open.
        "/etc/init.d/$name" "$2" </dev/null ||
            _provost_error "$1" "$name does not $2" "see why: /etc/init.d/$name $2"
    else
        _provost_error "$1" "nothing here can $2 $name: systemd isn't running" \
            "$2 it after the boot"
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
