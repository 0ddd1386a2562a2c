#!/bin/sh
# Prints what a hole in a sandbox would change of this machine: file systems, mounts, kernel settings, the network,
# devices, modules, swap space, processes. What changes by itself isn't there.
export LC_ALL=C

# The time of the last change of a file is the kernel's own: nobody can set it back. Temporary files, those of provost
# and of the journal change by themselves.
find / -xdev -regextype egrep -regex '/tmp|/var/(lib/provost|log/provost|log/journal)' \( -path /tmp -o -prune \) \
    -printf '%p %M %U:%G\n' -o -printf '%p %i %M %U:%G %s %C@ %l\n' | sort
find /dev -xdev -printf '%p %M %U:%G %l\n' | sort
md5sum /dev/vda
find /run -xdev -regextype egrep -regex '/run/(attack|log|systemd|udev|user|utmp)' -prune -o \
    -printf '%p %M %U:%G %s %l\n' | sort
find /sys/fs/cgroup /sys/block /sys/module /sys/kernel/mm -maxdepth 3 \
    -not -path '*/user.slice/*' -not -path '*/system.slice/*' -printf '%p\n' | sort
grep -s '' /sys/kernel/mm/ksm/run /sys/kernel/uevent_helper /sys/kernel/kexec_loaded
sort /proc/self/mountinfo

changing='dentry-state|file-nr|inode-nr|inode-state|ns_last_pid|entropy_avail|uuid|perf_event_max_sample_rate'
grep -rs '' /proc/sys | grep -Ev "/($changing):" | sort
cat /proc/swaps /proc/filesystems
cut -d ' ' -f 1 /proc/modules
dmesg | grep -c 'sysrq: '

{
    ip route show table all
    ip rule
    ip -o addr
    ip -o link
} | sed -E 's/(expires|valid_lft|preferred_lft) [0-9]+sec//g'

# With their numbers: one that was killed may have been started again. The kernel's own have no command line.
for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    [ "$pid" = $$ ] || [ "$pid" = $PPID ] && continue
    words=$(tr '\0' ' ' 2>/dev/null <"$process/cmdline") && [ "$words" ] && echo "$pid $words"
done
exit 0
