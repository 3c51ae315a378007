"""One host: a user-mode Linux process with a disk of its own over the shared root."""
import contextlib
import os
import shutil
import socket
import struct
import subprocess
import time

from . import preflight
from .process import alive, remember, sh
from .settings import (DIR, HERE, HOSTS, KEY, KNOWN_HOSTS, NAMESPACE_PATH, PORT, ROOT, RUN, SSH_CONFIG, STATE, loopback)
from .switch import mtu_of, tap

DISK_BYTES = 512 << 20  # sparse: about 17 MB are used
HOST_KEY = 'etc/ssh/ssh_host_ed25519_key'


def console(host, command, wait=2.0):
    """Ask UML's management console (halt, sysrq s, version, ...); works without any network.

    A request is magic, version, length and 512 bytes of text; a reply is error, more, length, text
    (arch/um/drivers/mconsole.h).
    """
    mine = RUN / f'console.{os.getpid()}.{host}'
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as s:
        s.settimeout(wait)
        try:
            s.bind(str(mine))
            text = command.encode()
            s.sendto(struct.pack('<III512s', 0xCAFEBABE, 2, len(text), text), str(RUN / host / 'mconsole'))
            reply = s.recv(4096)
        except OSError as error:
            return 1, str(error)
        finally:
            mine.unlink(missing_ok=True)
    code, _, length = struct.unpack('<III', reply[:12])
    return code, reply[12:12 + length].decode(errors='replace').strip('\0\n')


def make_disk(host):
    """The host's own layer: an ext4 image whose upper/ already holds its files, keys and name."""
    image = STATE / f'{host}.img'
    if image.exists():
        return
    seed = STATE / f'{host}.seed'
    shutil.rmtree(seed, ignore_errors=True)
    for folder in ('upper/etc/ssh', 'upper/root/.ssh', 'work', 'newroot', 'ct'):
        (seed / folder).mkdir(parents=True)
    upper = seed / 'upper'
    for tree in ('common', HOSTS[host]['role'], host):
        if (HERE / 'files' / tree).is_dir():
            shutil.copytree(HERE / 'files' / tree, upper, symlinks=True, dirs_exist_ok=True)
    if HOSTS[host]['role'] == 'pve':
        _cluster_folder(host, upper / 'etc/pve')
    _identity(host, upper)
    _own(seed)
    new = image.with_suffix('.new')
    with open(new, 'wb') as file:
        file.truncate(DISK_BYTES)
    sh('mke2fs', '-q', '-F', '-t', 'ext4', '-d', str(seed), str(new))
    new.rename(image)
    shutil.rmtree(seed)


def _cluster_folder(host, etc_pve):
    """/etc/pve as Proxmox lays it out: lxc and qemu-server point to this node's folder."""
    for kind in ('lxc', 'qemu-server'):
        (etc_pve / 'nodes' / host / kind).mkdir(parents=True, exist_ok=True)
        (etc_pve / kind).symlink_to(f'nodes/{host}/{kind}')
    (etc_pve / 'local').symlink_to(f'nodes/{host}')
    (etc_pve / 'firewall').mkdir(exist_ok=True)


def _identity(host, upper):
    """Name, keys and accounts, none of them shared with another host."""
    key = STATE / f'hostkey-{host}'
    if not key.exists():
        sh('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', host, '-f', str(key))
    shutil.copyfile(key, upper / HOST_KEY)
    shutil.copyfile(f'{key}.pub', upper / f'{HOST_KEY}.pub')
    shutil.copyfile(f'{KEY}.pub', upper / 'root/.ssh/authorized_keys')
    etc = upper / 'etc'
    (etc / 'hostname').write_text(f'{host}\n')
    (etc / 'hosts').write_text('127.0.0.1 localhost\n' + ''.join(f"{spec['address']} {name}\n" for name, spec in HOSTS.items()))
    (etc / 'shadow').write_text('root:*:20000:0:99999:7:::\n')  # an ordinary user cannot read the shared root's
    (etc / 'machine-id').write_text(os.urandom(16).hex() + '\n')


def _own(seed):
    """Root owns everything, and modes do not depend on the checkout's umask."""
    private = {'upper/root': 0o700, 'upper/root/.ssh': 0o700, 'upper/root/.ssh/authorized_keys': 0o600,
               f'upper/{HOST_KEY}': 0o600, 'upper/etc/shadow': 0o640}
    for folder, _, files in os.walk(seed):
        os.chmod(folder, 0o755)
        for path in (os.path.join(folder, name) for name in files):
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
    for path, mode in private.items():
        os.chmod(seed / path, mode)
    sh('chown', '-Rh', '0:0', str(seed))


def write_ssh_files():
    """ssh_config and known_hosts for the user, the tests and the product."""
    lines = ['Host *', '  User root', f'  IdentityFile {KEY}', '  IdentitiesOnly yes', f'  UserKnownHostsFile {KNOWN_HOSTS}',
             '  GlobalKnownHostsFile /dev/null', '  StrictHostKeyChecking yes', '  ConnectTimeout 5', '  LogLevel ERROR', '']
    keys = []
    for host in HOSTS:
        lines += [f'Host {host}', f'  HostName {loopback(host)}', f'  Port {PORT}', '']
        kind, key = (STATE / f'hostkey-{host}.pub').read_text().split()[:2]
        keys.append(f"{loopback(host) if PORT == 22 else f'[{loopback(host)}]:{PORT}'} {kind} {key}\n")
    for path, text in ((SSH_CONFIG, '\n'.join(lines)), (KNOWN_HOSTS, ''.join(keys))):
        path.with_suffix('.new').write_text(text)
        path.with_suffix('.new').rename(path)  # somebody may be reading it


def boot(host):
    """Start the host's kernel on its disk unless it runs; whether it was started."""
    if alive(host):
        return False
    shutil.rmtree(RUN / host, ignore_errors=True)  # a crashed kernel's folder would keep the name
    environment = ['PATH=/usr/bin:/bin', f'LD_LIBRARY_PATH={ROOT}/usr/lib/x86_64-linux-gnu']
    if folder := preflight.memory_folder():
        environment.append(f'TMPDIR={folder}')
    command = ['nsenter', f'--net={NAMESPACE_PATH}', 'env', '-i', *environment, '../linux.uml', *kernel_arguments(host)]
    with open(RUN / f'{host}.log', 'wb') as log:
        kernel = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    remember(host, kernel.pid)
    return True


def kernel_arguments(host):
    """The kernel's command line; the working folder is the root (linux.uml finds the root's libc from there)."""
    spec = HOSTS[host]
    arguments = [
        f'umid={host}', f'uml_dir={RUN}/', f"mem={spec.get('mem', 192)}M",
        'rootfstype=hostfs', f'rootflags={ROOT}/', 'root=/dev/root', 'ro', f'ubd0={STATE}/{host}.img', 'init=/lab-init',
        'con=null', 'con0=null,fd:1', 'ssl=null', 'quiet', 'systemd.show_status=0', 'net.ifnames=0',
        'initcall_blacklist=raid6_init,calibrate_xor_blocks',  # a start-up benchmark of 0.85 s that nothing here uses
    ]
    for nic, end in enumerate(spec['nics']):
        # The MAC is fixed, or the neighbours keep the old one for seconds after a reboot. mtu= is the device's maximum.
        jumbo = f',mtu={mtu_of(end)}' if mtu_of(end) > 1500 else ''
        arguments.append(f"vec{nic}:transport=tap,ifname={tap(host, nic)},depth=64,gro=1,mac=02:00:5e:10:{spec['n']:02x}:{nic:02x}{jumbo}")
    return arguments


def banner(host, wait=2.0):
    """Whether the host's sshd says who it is, through the forwarder."""
    try:
        with socket.create_connection((loopback(host), PORT), wait) as s:
            s.settimeout(wait)
            return s.recv(4) == b'SSH-'
    except OSError:
        return False


def wait_ready(host, limit=90.0):
    """Until the host said LAB-READY on its console (network, containers and sshd are up) and its sshd answers."""
    until, told = time.monotonic() + limit, False
    while alive(host) and time.monotonic() < until:
        if not told and (told := b'LAB-READY' in (RUN / f'{host}.log').read_bytes()):
            until = min(until, time.monotonic() + 10)
        if told and banner(host):
            return True
        time.sleep(0.05)
    return False


def last_words(host):
    """The last line of the host's console, for an error message."""
    with contextlib.suppress(OSError):
        lines = (DIR / 'run' / f'{host}.log').read_text(errors='replace').split('\n')
        return next((line.strip() for line in reversed(lines) if line.strip()), '')
    return ''
