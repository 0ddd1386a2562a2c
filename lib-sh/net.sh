# shellcheck shell=dash
#= Network arithmetic
#
# IPv4 and IPv6, without a fork. IPv6 addresses are printed in their short form (RFC 5952).

#: net_prefix_to_mask PREFIX [6]
#: Prints the mask of a prefix length; with the second argument, for IPv6.
#: Status: 0; 2 for wrong use.
#: Example: net_prefix_to_mask 22 prints 255.255.252.0
net_prefix_to_mask() {
    local _provost_groups=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff most=128
    if [ "${2-}" != 6 ]; then
        _provost_groups=255.255.255.255 most=32
    fi
    _provost_prefix net_prefix_to_mask "${1-}" "$most" || return
    _provost_masked net_prefix_to_mask "$_provost_groups" "$1" network || return
    _provost_print_address
}

#: net_mask_to_prefix MASK
#: Prints the prefix length of a mask.
#: Status: 0; 2 if it is not a mask.
#: Example: net_mask_to_prefix 255.255.252.0 prints 22
net_mask_to_prefix() {
    local _provost_groups group bits=0 size=8 ended=
    _provost_parse net_mask_to_prefix "${1-}" || return
    case "$1" in *:*) size=16 ;; esac
    local IFS=' ' bit
    for group in $_provost_groups; do
        bit=$((1 << (size - 1)))
        while [ $bit -gt 0 ]; do
            if [ $((group & bit)) -eq 0 ]; then
                ended=yes
            elif [ -n "$ended" ]; then
                _provost_misuse net_mask_to_prefix "$1 is not a mask" "net_mask_to_prefix MASK"
                return
            else
                bits=$((bits + 1))
            fi
            bit=$((bit >> 1))
        done
    done
    printf '%s\n' "$bits"
}

#: net_network IP PREFIX
#: Prints the network's address. PREFIX may also be a mask.
#: Status: 0; 2 for wrong use.
#: Example: net_network 10.1.2.3 16 prints 10.1.0.0
net_network() {
    local _provost_groups
    _provost_masked net_network "${1-}" "${2-}" network || return
    _provost_print_address
}

#: net_broadcast IP PREFIX
#: Prints the network's broadcast address; for IPv6, which has none, the last address.
#: Status: 0; 2 for wrong use.
#: Example: net_broadcast 10.1.2.3 16 prints 10.1.255.255
net_broadcast() {
    local _provost_groups
    _provost_masked net_broadcast "${1-}" "${2-}" broadcast || return
    _provost_print_address
}

#: net_contains NETWORK/PREFIX IP
#: Tests whether an address is in a network.
#: Status: 0 if so, 1 if not, 2 for wrong use.
#: Example: if net_contains 10.0.0.0/8 "$ip"; then …; fi
net_contains() {
    local _provost_groups network
    case "${1-}" in
    */*) ;;
    *)
        _provost_misuse net_contains "'${1-}' is not a network" "net_contains NETWORK/PREFIX IP"
        return
        ;;
    esac
    _provost_masked net_contains "${1%/*}" "${1#*/}" network || return
    network="$_provost_groups"
    _provost_parse net_contains "${2-}" || return
    case "${1%/*}" in
    *:*) case "$2" in *:*) ;; *) return 1 ;; esac ;;
    *) case "$2" in *:*) return 1 ;; esac ;;
    esac
    _provost_masked net_contains "$2" "${1#*/}" network || return
    [ "$_provost_groups" = "$network" ]
}

# _provost_masked FUNCTION IP PREFIX network|broadcast: sets _provost_groups.
_provost_masked() {
    local prefix="$3" most=32 size=8 group all mask at=0 out=
    case "$2" in *:*) most=128 size=16 ;; esac
    case "$prefix" in
    *[.:]*) prefix="$(net_mask_to_prefix "$prefix")" || return 2 ;;
    esac
    _provost_prefix "$1" "$prefix" $most || return
    _provost_parse "$1" "$2" || return
    all=$(((1 << size) - 1))
    local IFS=' '
    for group in $_provost_groups; do
        _provost_group_mask "$prefix" $size $at
        mask=$_provost_mask
        if [ "$4" = network ]; then
            out="$out $((group & mask))"
        else
            out="$out $((group & mask | all & ~mask))"
        fi
        at=$((at + 1))
    done
    _provost_groups="${out# }"
}

# _provost_group_mask PREFIX SIZE AT: sets _provost_mask to the mask of the group AT (from 0), of
# SIZE bits.
_provost_group_mask() {
    local bits=$(($1 - $2 * $3))
    if [ $bits -le 0 ]; then
        _provost_mask=0
    elif [ $bits -ge "$2" ]; then
        _provost_mask=$(((1 << $2) - 1))
    else
        _provost_mask=$((((1 << bits) - 1) << ($2 - bits)))
    fi
}

_provost_prefix() {
    case "$2" in
    [0-9] | [1-9][0-9] | 1[0-9][0-9]) [ "$2" -gt "$3" ] || return 0 ;;
    esac
    _provost_error "$1" "'$2' is not a prefix length" "give a number from 0 to $3" || return 2
}

# _provost_parse FUNCTION IP: sets _provost_groups to the address's numbers, separated by blanks: 4
# of 8 bits or 8 of 16 bits.
_provost_parse() {
    local ip="$2" head
    case "$ip" in
    *:*.*)
        # The last 32 bits in the form of IPv4.
        head="${ip%:*}"
        if _provost_parse_v4 "${ip##*:}"; then
            # shellcheck disable=SC2086 # four numbers
            set -- "$1" "$2" $_provost_groups
            _provost_hex $(($3 * 256 + $4))
            ip="$head:$_provost_hex"
            _provost_hex $(($5 * 256 + $6))
            ip="$ip:$_provost_hex"
            _provost_parse_v6 "$ip" && return 0
        fi
        ;;
    *:*) _provost_parse_v6 "$ip" && return 0 ;;
    *) _provost_parse_v4 "$ip" && return 0 ;;
    esac
    _provost_error "$1" "'$2' is not an IP address" "give one such as 10.0.0.1 or fd00::1" || return 2
}

_provost_parse_v4() {
    local octet
    # Before anything else, so that the text that is split below has no *.
    case "$1" in
    *[!0-9.]* | .* | *. | *..*) return 1 ;;
    esac
    local IFS=.
    # shellcheck disable=SC2086 # to be split
    set -- $1
    [ $# -eq 4 ] || return 1
    for octet in "$@"; do
        case "$octet" in
        [0-9] | [1-9][0-9] | [1-9][0-9][0-9]) [ "$octet" -le 255 ] || return 1 ;;
        *) return 1 ;;
        esac
    done
    _provost_groups="$1 $2 $3 $4"
}

_provost_parse_v6() {
    local group count=0 out='' gap='' rest
    case "$1" in
    *[!0-9A-Fa-f:]* | *:::* | *::*::* | :[!:]* | *[!:]:) return 1 ;;
    esac
    # :: stands for zeros.
    rest="$1"
    case "$1" in *::*) gap=yes ;; esac
    local IFS=:
    # shellcheck disable=SC2086 # to be split
    set -- $1
    for group in "$@"; do
        [ -z "$group" ] || count=$((count + 1))
    done
    if [ $count -gt 8 ] || { [ -z "$gap" ] && [ $count -ne 8 ]; } ||
        { [ -n "$gap" ] && [ $count -eq 8 ]; }; then
        return 1
    fi
    rest="${rest}:"
    while [ -n "$rest" ]; do
        group="${rest%%:*}"
        rest="${rest#*:}"
        case "$group" in
        ?????*) return 1 ;;
        ?*) out="$out $((0x$group))" ;;
        *)
            while [ $count -lt 8 ]; do
                out="$out 0"
                count=$((count + 1))
            done
            ;;
        esac
    done
    _provost_groups="${out# }"
}

# Prints the address of _provost_groups.
_provost_print_address() {
    local IFS=' ' at=0 run=0 from=-1 length=1 out='' group
    # shellcheck disable=SC2086 # to be split
    set -- $_provost_groups
    if [ $# -eq 4 ]; then
        printf '%s.%s.%s.%s\n' "$@"
        return
    fi
    # The longest run of zeros, the first of several, becomes ::; a single zero doesn't.
    for group in "$@"; do
        if [ "$group" -eq 0 ]; then
            run=$((run + 1))
            if [ $run -gt $length ]; then
                length=$run from=$((at - run + 1))
            fi
        else
            run=0
        fi
        at=$((at + 1))
    done
    at=0
    for group in "$@"; do
        if [ $at -eq $from ]; then
            out="$out::"
        elif [ $from -lt 0 ] || [ $at -lt $from ] || [ $at -ge $((from + length)) ]; then
            case "$out" in
            '' | *:) ;;
            *) out="$out:" ;;
            esac
            _provost_hex "$group"
            out="$out$_provost_hex"
        fi
        at=$((at + 1))
    done
    printf '%s\n' "$out"
}

# Sets _provost_hex to $1 in hexadecimal.
_provost_hex() {
    local number="$1" digits=0123456789abcdef digit tail
    _provost_hex=
    while :; do
        digit=$((number % 16))
        tail="$digits"
        while [ $digit -gt 0 ]; do
            tail="${tail#?}"
            digit=$((digit - 1))
        done
        _provost_hex="${tail%"${tail#?}"}$_provost_hex"
        number=$((number / 16))
        [ $number -gt 0 ] || return 0
    done
}
