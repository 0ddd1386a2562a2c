#!/bin/sh
# What install.sh does before anything else, in its function main: url and again are its own. No comment of
# this file gets there.
# shellcheck disable=SC2154
refuse() {
    printf 'install.sh: %s\nhint: %s\n' "$1" "$2" >&2
    exit 2
}

printed='that provostctl enroll open NODE prints on the management node'
case $# in
0) refuse 'no digest is given: nothing has run' "type the line $printed: sh install.sh SHA256" ;;
1 | 2) ;;
*) refuse 'too many arguments' 'sh install.sh SHA256, or with the name of the node: sh install.sh SHA256 NODE' ;;
esac
[ -f "$0" ] || refuse 'only a file can be checked, not a pipe' "save it first: $again"
own=$(sha256sum <"$0" | tr -d ' -')
[ "$own" = "$1" ] || refuse "$0 has the sha256 $own, and not $1: nothing has run" \
    "fetch it again: $again; then type the line $printed"
[ "$(id -u)" = 0 ] || refuse 'installing a node takes root' "sudo sh $0 $*"
if grep -qs '^ *kind *= *"xcat"' /etc/provost/provost.toml /etc/provost/provost.d/*.toml; then
    refuse '/etc/provost configures this machine as a node of xCAT: nothing has run' \
        "provost install --remove, then remove /etc/provost, then: sh $0 $*"
fi

[ "$2" ] && export PROVOST_NODE="$2"
name=${PROVOST_NODE:-$(uname -n)}
case $name in
localhost | localhost.*)
    grep -q 'provost\.node=' /proc/cmdline ||
        refuse "this machine's host name is $name" "name the node: sh $0 $1 cn001"
    ;;
esac
