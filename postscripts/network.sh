# shellcheck shell=bash disable=SC2034,SC2154 # variables of confignetwork
# The backends of confignetwork. Each has the same functions:
#
#   NAME_render  fills `contents` with the text of each file, from nics, type, addresses, …
#   NAME_stale   prints files of an earlier run that are no longer needed
#   NAME_check   tests the files
#   NAME_runs    tests whether interfaces can be brought up now
#   NAME_down    takes the interfaces down, by the current files
#   NAME_up      brings them up, by the current files

# Where NetworkManager's keyfiles are: on a read-only root, for this boot only.
nm_folder=/etc/NetworkManager/system-connections
[ -n "$root" ] || in_chroot || [ -w /etc/NetworkManager ] || [ -w $nm_folder ] ||
    nm_folder=/run/NetworkManager/system-connections

# Prints the one that this system has.
find_backend() {
    local file
    for file in "$root"/etc/netplan/*.yaml; do
        [ ! -f "$file" ] || [ ! -x "$root/usr/sbin/netplan" ] || { echo netplan && return; }
    done
    # wicked and network-scripts have an ifup as well, but not its folder.
    file=''
    [ ! -x "$root/sbin/ifup" ] || [ ! -d "$root/etc/network" ] || file=ifupdown
    # SLES 15 may have both, and the link tells which one is in use.
    case $(readlink "$root/etc/systemd/system/network.service") in
    */wicked.service) echo wicked && return ;;
    esac
    if [ -x "$root/usr/sbin/NetworkManager" ] && { [ -d /run/NetworkManager ] || [ -z "$file" ]; }; then
        echo networkmanager
    elif [ -n "$file" ]; then
        echo ifupdown
    elif [ -x "$root/usr/sbin/netplan" ]; then
        echo netplan
    elif [ -x "$root/usr/sbin/wicked" ]; then
        echo wicked
    else
        for file in "$root"/{etc,usr/lib,lib}/systemd/system/*.wants/systemd-networkd.service; do
            [ ! -L "$file" ] || { echo networkd && return; }
        done
        return 1
    fi
}

# Prints the files of an earlier run, of those that are given, that `contents` hasn't.
stale_of() {
    local file
    for file in "$@"; do
        if [ -f "$file" ] && [ -z "${contents[${file#"$root"}]+x}" ] &&
            grep -q '^# Written by the postscript confignetwork' "$file"; then
            printf '%s\n' "${file#"$root"}"
        fi
    done
}

# The VLAN's number, from its name, e.g. bond0.7 or vlan7.
vlan_id() {
    local id=${1##*[!0-9]}
    [ -n "$id" ] || die "the VLAN $1 has no number" "name it eth1.7 or vlan7"
    echo "$id"
}

# ---- NetworkManager: a keyfile for each interface

networkmanager_render() {
    local nic text word number address kind
    for nic in "${ordered[@]}"; do
        kind=${type[$nic]}
        text="# Written by the postscript confignetwork; edit the site instead."$'\n'
        text+="[connection]"$'\n'"id=provost-$nic"$'\n'"type=$kind"$'\n'"interface-name=$nic"$'\n'
        # Before profiles of the installer or of NetworkManager itself for the same interface.
        text+="autoconnect-priority=10"$'\n'
        if [ -n "${master[$nic]-}" ]; then
            text+="master=${master[$nic]}"$'\n'"slave-type=${type[${master[$nic]}]}"$'\n'
        fi
        case $kind in
        vlan) text+="[vlan]"$'\n'"id=$(vlan_id "$nic")"$'\n'"parent=${members[$nic]}"$'\n' ;;
        bond)
            text+="[bond]"$'\n'
            for word in ${options[$nic]-mode=active-backup}; do
                text+="${word%%=*}=${word#*=}"$'\n'
            done
            ;;
        bridge) text+="[bridge]"$'\n'"stp=false"$'\n' ;;
        esac
        case $kind:${mtu[$nic]-} in
        *:) ;;
        infiniband:*) text+="[infiniband]"$'\n'"mtu=${mtu[$nic]}"$'\n' ;;
        *) text+="[ethernet]"$'\n'"mtu=${mtu[$nic]}"$'\n' ;;
        esac
        if [ -z "${master[$nic]-}" ]; then
            text+=$(networkmanager_family 4)$'\n'$(networkmanager_family 6)
        fi
        contents["$nm_folder/provost-$nic.nmconnection"]=${text%$'\n'}
    done
}

# The section of an address family, for `nic`.
networkmanager_family() {
    local number=0 address lines='' gateway=${gateways[$nic]-}
    for address in ${addresses[$nic]-}; do
        case $1:$address in 4:*:* | 6:*.*) continue ;; esac
        number=$((number + 1))
        lines+="address$number=$address"$'\n'
    done
    case $1:$gateway in 4:*.* | 6:*:*) [ $number = 0 ] || lines+="gateway=$gateway"$'\n' ;; esac
    if [ $number -gt 0 ]; then
        printf '[ipv%s]\nmethod=manual\n%s' "$1" "$lines"
    else
        case $1 in 4) printf '[ipv4]\nmethod=disabled\n' ;; *) printf '[ipv6]\nmethod=link-local\n' ;; esac
    fi
}

networkmanager_stale() {
    local file
    for file in "$root$nm_folder"/provost-*.nmconnection; do
        file=${file#"$root"}
        [ ! -f "$root$file" ] || [ -n "${contents[$file]+x}" ] || printf '%s\n' "$file"
    done
}

networkmanager_runs() {
    [ -d /run/NetworkManager ] && ! in_chroot && nmcli --terse general status >/dev/null 2>&1
}

networkmanager_check() {
    local nic
    for nic in "${ordered[@]}"; do
        # nmcli before 1.38 can't check a file.
        [[ $(nmcli --help 2>&1) == *--offline* ]] || return 0
        nmcli --offline connection modify connection.id "provost-$nic" \
            <"$nm_folder/provost-$nic.nmconnection" >/dev/null || return 1
    done
}

networkmanager_down() {
    # What is up now, to restore it.
    [ -n "${nm_active-}" ] || nm_active=$(nmcli -g UUID,DEVICE connection show --active)
}

networkmanager_up() {
    local nic id device
    run nmcli connection reload || return
    for nic in "${ordered[@]}"; do
        if [ -f "$nm_folder/provost-$nic.nmconnection" ]; then
            run nmcli --wait 30 connection up id "provost-$nic" || return
            managed+="$nic "
            continue
        fi
        # Restoring: with its earlier profile, else unmanaged, so that it keeps its addresses.
        while IFS=: read -r id device; do
            [ "$device" = "$nic" ] || continue
            if nmcli --wait 30 connection up uuid "$id" >/dev/null 2>&1; then
                managed+="$nic "
            else
                nmcli device set "$nic" managed no
            fi
        done <<<"$nm_active"
    done
}

# ---- netplan: one file for all interfaces

netplan_render() {
    local kind section nic text='' word key line
    text="# Written by the postscript confignetwork; edit the site instead."$'\n'"network:"$'\n'"  version: 2"$'\n'
    for section in ethernets bonds bridges vlans; do
        kind=${section%s}
        line=''
        for nic in "${ordered[@]}"; do
            case $kind:${type[$nic]} in
            "$kind:$kind" | ethernet:infiniband) ;;
            *) continue ;;
            esac
            line+="    \"$nic\":"$'\n'"      dhcp4: false"$'\n'
            [ -z "${mtu[$nic]-}" ] || line+="      mtu: ${mtu[$nic]}"$'\n'
            [ -z "${addresses[$nic]-}" ] || line+="      addresses: [\"${addresses[$nic]// /\", \"}\"]"$'\n'
            if [ -n "${gateways[$nic]-}" ]; then
                word=0.0.0.0/0
                case ${gateways[$nic]} in *:*) word=::/0 ;; esac
                line+="      routes: [{to: \"$word\", via: \"${gateways[$nic]}\"}]"$'\n'
            fi
            case $kind in
            vlan) line+="      id: $(vlan_id "$nic")"$'\n'"      link: \"${members[$nic]}\""$'\n' ;;
            bond | bridge) line+="      interfaces: [\"${members[$nic]// /\", \"}\"]"$'\n' ;;
            esac
            if [ "$kind" = bond ]; then
                line+="      parameters:"$'\n'
                for word in ${options[$nic]-mode=active-backup}; do
                    key=${word%%=*}
                    case $key in
                    mode | primary) ;;
                    miimon) key=mii-monitor-interval ;;
                    xmit_hash_policy) key=transmit-hash-policy ;;
                    updelay) key=up-delay ;;
                    downdelay) key=down-delay ;;
                    *) key=${key//_/-} ;;
                    esac
                    line+="        $key: \"${word#*=}\""$'\n'
                done
            fi
        done
        [ -z "$line" ] || text+="  $section:"$'\n'"$line"
    done
    contents["/etc/netplan/90-provost.yaml"]=${text%$'\n'}
}

netplan_stale() { :; }

netplan_check() {
    run netplan generate
}

netplan_runs() {
    [ -d /run/systemd/system ] && ! in_chroot
}

netplan_down() { :; }

netplan_up() {
    run netplan apply
}

# ---- ifupdown: one file for all interfaces, and no stanza of them elsewhere

ifupdown_render() {
    local nic text address first line word main=/etc/network/interfaces
    text="# Written by the postscript confignetwork; edit the site instead."$'\n'
    for nic in "${ordered[@]}"; do
        text+=$'\n'"auto $nic"$'\n'
        first=yes
        for address in ${addresses[$nic]:-manual}; do
            case $address in
            manual) text+="iface $nic inet manual"$'\n' ;;
            *:*) text+="iface $nic inet6 static"$'\n'"    address $address"$'\n' ;;
            *) text+="iface $nic inet static"$'\n'"    address $address"$'\n' ;;
            esac
            line=v4
            case $address in *:*) line=v6 ;; esac
            case $line:${gateways[$nic]-} in
            v4:*.* | v6:*:*)
                [[ $text == *"gateway ${gateways[$nic]}"$'\n'* ]] || text+="    gateway ${gateways[$nic]}"$'\n'
                ;;
            esac
            [ $first = yes ] || continue
            first=no
            # With ip, so that no further package is needed.
            line=''
            case ${type[$nic]} in
            vlan) line="ip link add link ${members[$nic]} name $nic type vlan id $(vlan_id "$nic")" ;;
            bond)
                line="ip link add $nic type bond"
                for word in ${options[$nic]-mode=active-backup}; do
                    line+=" ${word%%=*} ${word#*=}"
                done
                ;;
            bridge) line="ip link add $nic type bridge" ;;
            esac
            if [ -n "$line" ]; then
                text+="    pre-up [ -e /sys/class/net/$nic ] || $line"$'\n'"    post-down ip link del $nic"$'\n'
                line=${members[$nic]}
                [ "${type[$nic]}" != vlan ] || line=''
                for word in $line; do
                    text+="    pre-up ip link set $word down && ip link set $word master $nic && ip link set $word up"$'\n'
                done
            fi
            [ -z "${mtu[$nic]-}" ] || text+="    pre-up ip link set $nic mtu ${mtu[$nic]}"$'\n'
            [ "$address" != manual ] || text+="    up ip link set $nic up"$'\n'"    down ip link set $nic down"$'\n'
        done
    done
    contents["/etc/network/interfaces.d/provost"]=${text%$'\n'}

    # Without these interfaces' stanzas, and with the folder.
    contents["$main"]=$(
        { cat "$root$main" 2>/dev/null || printf 'auto lo\niface lo inet loopback\n'; } |
            NICS=" ${ordered[*]} " awk '
                function ours(nic) { return index(ENVIRON["NICS"], " " nic " ") }
                /^[ \t]*(iface|mapping)[ \t]/ { drop = ours($2) }
                /^[ \t]*(auto|allow-[a-z]+)[ \t]/ {
                    drop = 0
                    line = $1
                    for (i = 2; i <= NF; i++) if (!ours($i)) line = line " " $i
                    if (line != $1) print line
                    next
                }
                /^[ \t]*source/ { drop = 0; if ($0 ~ /interfaces\.d/) there = 1 }
                !drop { print }
                END { if (!there) print "source /etc/network/interfaces.d/*" }'
    )
    mode=0644
}

ifupdown_stale() { :; }

ifupdown_check() {
    local nic
    for nic in "${ordered[@]}"; do
        ifquery "$nic" >/dev/null || return
    done
}

ifupdown_runs() {
    ! in_chroot
}

ifupdown_down() {
    local i nic
    for ((i = ${#ordered[@]} - 1; i >= 0; i--)); do
        nic=${ordered[i]}
        ifdown --force "$nic" >/dev/null 2>&1 || :
        # ifup fails if an address that it hasn't set is there.
        [ ! -e "/sys/class/net/$nic" ] || ip addr flush dev "$nic"
    done
}

ifupdown_up() {
    local nic status=0
    for nic in "${ordered[@]}"; do
        ifquery "$nic" >/dev/null 2>&1 || continue
        run ifup "$nic" || status=1
    done
    return $status
}

# ---- wicked: an ifcfg file for each interface, and a file for its gateway

wicked_render() {
    local nic text word number folder=/etc/sysconfig/network
    local mark='# Written by the postscript confignetwork; edit the site instead.'
    for nic in "${ordered[@]}"; do
        text=$mark$'\n'"STARTMODE='auto'"$'\n'
        if [ -n "${addresses[$nic]-}" ]; then text+="BOOTPROTO='static'"; else text+="BOOTPROTO='none'"; fi
        number=0
        for word in ${addresses[$nic]-}; do
            text+=$'\n'"IPADDR_$number='$word'"
            number=$((number + 1))
        done
        [ -z "${mtu[$nic]-}" ] || text+=$'\n'"MTU='${mtu[$nic]}'"
        case ${type[$nic]} in
        vlan) text+=$'\n'"ETHERDEVICE='${members[$nic]}'"$'\n'"VLAN_ID='$(vlan_id "$nic")'" ;;
        bridge) text+=$'\n'"BRIDGE='yes'"$'\n'"BRIDGE_PORTS='${members[$nic]}'"$'\n'"BRIDGE_STP='off'" ;;
        bond)
            text+=$'\n'"BONDING_MASTER='yes'"$'\n'"BONDING_MODULE_OPTS='${options[$nic]-mode=active-backup}'"
            number=0
            for word in ${members[$nic]}; do
                text+=$'\n'"BONDING_SLAVE_$number='$word'"
                number=$((number + 1))
            done
            ;;
        esac
        contents["$folder/ifcfg-$nic"]=$text
        [ -z "${gateways[$nic]-}" ] ||
            contents["$folder/ifroute-$nic"]=$mark$'\n'"default ${gateways[$nic]} - $nic"
    done
}

wicked_stale() {
    stale_of "$root"/etc/sysconfig/network/{ifcfg,ifroute}-*
}

wicked_check() {
    run wicked show-config "${ordered[@]}" >/dev/null
}

wicked_runs() {
    ! in_chroot && [ -d /run/systemd/system ] && systemctl is-active --quiet wickedd
}

wicked_down() {
    wicked ifdown "${ordered[@]}" >/dev/null 2>&1 || :
}

wicked_up() {
    run wicked ifup "${ordered[@]}"
}

# ---- systemd-networkd: a .network file for each interface, and a .netdev file for one to be made

networkd_render() {
    local nic text word child kind name=/etc/systemd/network/10-provost
    local mark='# Written by the postscript confignetwork; edit the site instead.'
    for nic in "${ordered[@]}"; do
        kind=${type[$nic]}
        text=$mark$'\n'"[Match]"$'\n'"Name=$nic"
        [ -z "${mtu[$nic]-}" ] || text+=$'\n'"[Link]"$'\n'"MTUBytes=${mtu[$nic]}"
        text+=$'\n'"[Network]"$'\n'"IPv6AcceptRA=no"
        [ -z "${master[$nic]-}" ] || case ${type[${master[$nic]}]} in
        bond) text+=$'\n'"Bond=${master[$nic]}" ;;
        *) text+=$'\n'"Bridge=${master[$nic]}" ;;
        esac
        for child in "${ordered[@]}"; do
            [ "${type[$child]}" != vlan ] || [ "${members[$child]}" != "$nic" ] || text+=$'\n'"VLAN=$child"
        done
        for word in ${addresses[$nic]-}; do text+=$'\n'"Address=$word"; done
        [ -z "${gateways[$nic]-}" ] || text+=$'\n'"Gateway=${gateways[$nic]}"
        contents["$name-$nic.network"]=$text
        text=$mark$'\n'"[NetDev]"$'\n'"Name=$nic"$'\n'"Kind=$kind"$'\n'
        case $kind in
        vlan) text+="[VLAN]"$'\n'"Id=$(vlan_id "$nic")" ;;
        bridge) text+="[Bridge]"$'\n'"STP=no" ;;
        bond)
            text+="[Bond]"
            for word in ${options[$nic]-mode=active-backup}; do
                case $word in
                mode=*) text+=$'\n'"Mode=${word#*=}" ;;
                miimon=*) text+=$'\n'"MIIMonitorSec=${word#*=}ms" ;;
                updelay=*) text+=$'\n'"UpDelaySec=${word#*=}ms" ;;
                downdelay=*) text+=$'\n'"DownDelaySec=${word#*=}ms" ;;
                xmit_hash_policy=*) text+=$'\n'"TransmitHashPolicy=${word#*=}" ;;
                lacp_rate=*) text+=$'\n'"LACPTransmitRate=${word#*=}" ;;
                *) die "systemd-networkd has no parameter for ${word@Q} of $nic" "remove it from NICEXTRAPARAMS" ;;
                esac
            done
            ;;
        *) continue ;;
        esac
        contents["$name-$nic.netdev"]=$text
    done
    # It reads them as a user of its own.
    mode=0644
}

networkd_stale() {
    stale_of "$root"/etc/systemd/network/10-provost-*
}

networkd_check() { :; }

networkd_runs() {
    ! in_chroot && [ -d /run/systemd/netif ] && networkctl --no-pager list >/dev/null 2>&1
}

networkd_down() {
    local nic
    # It may take an address that is left for somebody else's, and leave it there.
    for nic in "${ordered[@]}"; do
        [ ! -e "/sys/class/net/$nic" ] || ip addr flush dev "$nic"
    done
}

networkd_up() {
    run networkctl reload || return
    # Interfaces that it makes are there only after a moment.
    wait_until 10 "interfaces of systemd-networkd" networkctl reconfigure "${ordered[@]}" 2>/dev/null
}
