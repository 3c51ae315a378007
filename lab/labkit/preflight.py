"""What the machine must offer. Each thing missing is one line that says what to do."""
import os
import platform
import shutil
import socket

from .settings import DIR, HOSTS, PORT, ROOT_DIR, LabError, loopback

BUILD_MB, RUN_MB = 1500, 300


def check_machine():
    """Root, architecture and the TAP device: what nothing below can do without."""
    if os.geteuid():
        raise LabError('needs root: run it with sudo (or in a user namespace with a network of its own)')
    if platform.machine() != 'x86_64':
        raise LabError(f'needs an x86-64 machine, this is {platform.machine()}: no kernel for the hosts exists here')
    try:
        os.close(os.open('/dev/net/tun', os.O_RDWR))
    except FileNotFoundError as error:
        raise LabError('no /dev/net/tun: `mkdir -p /dev/net; mknod /dev/net/tun c 10 200` (in a container: pass the device in)') from error
    except OSError as error:
        raise LabError(f'cannot open /dev/net/tun ({error.strerror}): `modprobe tun`, or allow the device in this container') from error
    longest = max(len(str(DIR / 'run' / host / 'mconsole')) for host in HOSTS)
    if longest > 107:
        raise LabError(f'LAB_DIR is {longest - 107} bytes too long for a socket path: choose a shorter one')


def check_space(building):
    """Room for the build (once) and for the hosts' disks, which are sparse."""
    for folder, need in ((ROOT_DIR, BUILD_MB if building else 0), (DIR, RUN_MB)):
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free >> 20
        if free < need:
            raise LabError(f'{folder} has {free} MB free, {need} MB are needed: make room or point LAB_DIR elsewhere')


def check_ports():
    """The loopback addresses at which the hosts' sshd will appear."""
    for host in HOSTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((loopback(host), PORT))
                probe.listen(1)
            except OSError as error:
                raise LabError(f'cannot listen on {loopback(host)}:{PORT} ({error.strerror}): set LAB_SSH_PORT to a free port') from error


def memory_folder():
    """Where the hosts' memory files go: None for the kernel's own choice (/dev/shm) if that has room for all of them."""
    need = sum(c.get('mem', 192) for c in HOSTS.values()) << 20
    try:
        return None if shutil.disk_usage('/dev/shm').free > need else DIR / 'run'
    except OSError:
        return DIR / 'run'
