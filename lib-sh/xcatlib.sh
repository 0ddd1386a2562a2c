# shellcheck shell=bash
# The functions of xCAT's xcatlib.sh, made of provost.sh, for bash, so that scripts that source
# /xcatpost/xcatlib.sh run unchanged. Link it there, or copy this folder there. New scripts source
# provost.sh.

# shellcheck source=/dev/null
. "${PROVOST_LIB:-"$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"}/provost.sh" || return 1

#= xCAT's names
#
# `xcatlib.sh`, only for bash. It has the functions that xCAT's own scripts use.

#: msgutil_r SERVER PRIORITY MESSAGE [FILE [TAG]]
#: Sends a message to the syslog of SERVER (UDP 514, local4), if given, and appends it to FILE.
#: Status: 0.
#: Example: msgutil_r "$MASTER_IP" error "no disk" /var/log/xcat/xcat.log xcat
msgutil_r() {
    local server=${1-} priority=${2:-info} message=${3-} file=${4-} tag=${5:-xcat}
    if [[ -n $server ]] && command -v logger >/dev/null; then
        logger -n "$server" -p "local4.$priority" -t "$tag" -- "$message" 2>/dev/null || :
    fi
    if [[ -n $file ]]; then
        mkdir -p -- "${file%/*}" 2>/dev/null || :
        printf '%s [%s]: %s: %s\n' "$(date)" "$priority" "$tag" "$message" >>"$file" || :
    fi
}

#: startservice NAME, stopservice NAME, restartservice NAME
#: `service_start`, `service_stop` and `service_restart`.
#: Status: theirs.
#: Example: restartservice ntpserver
startservice() {
    _provost_xcat_service service_start "$@"
}

stopservice() {
    _provost_xcat_service service_stop "$@"
}

restartservice() {
    _provost_xcat_service service_restart "$@"
}

#: enableservice NAME, disableservice NAME, checkservicestatus NAME
#: `service_enable`, `service_disable` and `service_status`.
#: Status: theirs.
#: Example: checkservicestatus sshd
enableservice() {
    _provost_xcat_service service_enable "$@"
}

disableservice() {
    _provost_xcat_service service_disable "$@"
}

checkservicestatus() {
    _provost_xcat_service service_status "$@"
}

#: servicemap NAME [KIND]
#: Prints this system's name of a service, or nothing.
#: Status: 0 if there is such a service, 1 if not.
#: Example: servicemap ssh
servicemap() {
    local name
    name=$(_provost_xcat_service service_name "${1-}") && printf '%s\n' "$name"
}

# xCAT has its own names for some services.
_provost_xcat_service() {
    local function=$1 name=${2-}
    case $name in
    ntpserver) name=ntpd ;;
    dhcp) name=dhcpd ;;
    dns) name=named ;;
    nfs) name=nfs-server ;;
    syslog) name=rsyslog ;;
    esac
    "$function" "$name"
}

#: v4mask2prefix MASK, v4prefix2mask PREFIX, v6prefix2mask PREFIX
#: Print the prefix length of a mask, and the mask of one.
#: Status: 0; 2 for wrong use.
#: Example: v4mask2prefix 255.255.0.0 prints 16
v4mask2prefix() {
    net_mask_to_prefix "$@"
}

v4prefix2mask() {
    net_prefix_to_mask "${1-}"
}

v6prefix2mask() {
    net_prefix_to_mask "${1-}" 6
}

#: v4calcnet IP MASK, v6calcnet IP PREFIX, v4calcbcase IP MASK
#: Print the network's address, and the broadcast address. MASK may also be a prefix length.
#: Status: 0; 2 for wrong use.
#: Example: v4calcbcase 10.1.2.3 255.255.0.0 prints 10.1.255.255
v4calcnet() {
    net_network "$@"
}

v6calcnet() {
    net_network "$@"
}

v4calcbcase() {
    net_broadcast "$@"
}

#: v6expand IP
#: Prints an IPv6 address with all eight groups of four digits.
#: Status: 0; 2 for wrong use.
#: Example: v6expand fd00::1 prints fd00:0000:0000:0000:0000:0000:0000:0001
v6expand() {
    local _provost_groups out='' group
    _provost_parse v6expand "${1-}" || return
    local IFS=' '
    for group in $_provost_groups; do
        printf -v group '%04x' "$group"
        out+=:$group
    done
    printf '%s\n' "${out#:}"
}

#: hashset HASH KEY VALUE, hashget HASH KEY
#: Store a value under a name and a key, and print it; print nothing if there is none.
#: Status: 0; hashget 1 if there is none.
#: Example: hashset mtu eth0 9000; hashget mtu eth0
hashset() {
    _provost_xcat_hash["${1-} ${2-}"]=${3-}
}

hashget() {
    local key="${1-} ${2-}"
    [[ -n ${_provost_xcat_hash["$key"]+set} ]] || return 1
    printf '%s\n' "${_provost_xcat_hash["$key"]}"
}

declare -gA _provost_xcat_hash

#: get_nic_extra_params NIC NICEXTRAPARAMS
#: Finds a NIC's part of NICEXTRAPARAMS (`eth0!MTU=9000 DELAY=1,eth1!…`), and passes it to
#: `parse_nic_extra_params`.
#: Status: 0.
#: Example: get_nic_extra_params eth0 "$NICEXTRAPARAMS"
get_nic_extra_params() {
    local nic=${1-} part parts
    array_nic_params=() array_extra_param_names=() array_extra_param_values=()
    IFS=, read -r -a parts <<<"${2-}"
    for part in "${parts[@]+"${parts[@]}"}"; do
        if [[ ${part%%!*} == "$nic" && $part == *!* ]]; then
            # Each of several addresses has its own, separated by bars.
            IFS='|' read -r -a array_nic_params <<<"${part#*!}"
        fi
    done
    parse_nic_extra_params "${array_nic_params[0]-}"
}

#: parse_nic_extra_params TEXT
#: Splits `KEY=VALUE KEY=VALUE …` into the arrays array_extra_param_names and
#: array_extra_param_values.
#: Status: 0.
#: Example: parse_nic_extra_params "MTU=9000 DELAY=1"
parse_nic_extra_params() {
    local word words
    array_extra_param_names=() array_extra_param_values=()
    read -r -a words <<<"${1-}"
    for word in "${words[@]+"${words[@]}"}"; do
        array_extra_param_names+=("${word%%=*}")
        if [[ $word == *=* ]]; then
            array_extra_param_values+=("${word#*=}")
        else
            array_extra_param_values+=('')
        fi
    done
}

#: debianpreconf PACKAGE QUESTION TYPE VALUE
#: Answers a Debian package's question before the package is installed.
#: Status: that of debconf-set-selections.
#: Example: debianpreconf kdump-tools kdump-tools/use_kdump boolean true
debianpreconf() {
    printf '%s %s %s %s\n' "${1-}" "${2-}" "${3-}" "${4-}" | debconf-set-selections
}
