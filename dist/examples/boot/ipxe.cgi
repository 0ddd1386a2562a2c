#!/bin/sh
# What iPXE boots: chain http://10.0.0.1/cgi-bin/ipxe.cgi in the DHCP server's configuration.
# The node is whoever has the address, as /etc/hosts says: nobody gets another node's token.
set -eu
node=$(getent hosts "$REMOTE_ADDR" | awk '{ split($2, name, "."); print name[1] }')
printf 'Content-Type: text/plain\r\n\r\n'
[ -n "$node" ] || {
    printf '#!ipxe\necho unknown address %s\nshell\n' "$REMOTE_ADDR"
    exit
}
join=$(provostctl join "$node" --for 15m --kernel-args)
printf '#!ipxe\nkernel http://10.0.0.1/images/vmlinuz initrd=initrd.img provost.node=%s %s\n' "$node" "$join"
printf 'initrd http://10.0.0.1/images/initrd.img\nboot\n'
