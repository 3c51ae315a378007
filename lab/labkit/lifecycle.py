"""up, down, reboot and kill."""
import contextlib
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from . import faults, forwarder, host as hosts, preflight, rootfs, switch
from .process import alive, crashed, end, sh, wait_until
from .settings import DIR, HOSTS, KEY, KNOWN_HOSTS, NAMESPACE, RUN, SSH, SSH_CONFIG, STATE, LabError, known


def up(names=()):
    """Build what is missing and start what does not run. Again does nothing; a crashed host is started again."""
    begun = time.monotonic()
    names = [known(name) for name in names] or list(HOSTS)
    preflight.check_machine()
    fresh = not any(alive(host) for host in HOSTS)
    if fresh and switch.processes():
        raise LabError(f'the namespace {NAMESPACE} is in use by another lab: choose another with LAB_NS (and LAB_SSH_PORT)')
    if not all(alive(host) for host in names):
        preflight.check_space(not rootfs.is_ready())
    if not alive('forwarder'):
        preflight.check_ports()
    for folder in (RUN, STATE):
        folder.mkdir(parents=True, exist_ok=True)
    rootfs.ensure()
    if not KEY.exists():
        sh('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', str(KEY))
    switch.create()
    return _start(names, begun)


def _start(names, begun):
    with ThreadPoolExecutor() as pool:
        list(pool.map(hosts.make_disk, HOSTS))  # known_hosts names every host, also one that is not started now
        started = [host for host, new in zip(names, pool.map(hosts.boot, names)) if new]
    hosts.write_ssh_files()
    forwarder.ensure()
    if not started:
        for host in names:
            forwarder.wait_listening(host, True)
        print(f'already up, {time.monotonic() - begun:.1f} s')
        return 0
    with ThreadPoolExecutor() as pool:
        ready = dict(zip(started, pool.map(hosts.wait_ready, started)))
    faults.reapply_switch_side()
    for host, ok in ready.items():
        print(f'{host}: up' if ok else f'{host}: DOES NOT ANSWER, see {RUN}/{host}.log ({hosts.last_words(host)})')
    print(f'{len(started)} started, {time.monotonic() - begun:.1f} s; ssh -F {SSH_CONFIG} {started[0]}')
    return 0 if all(ready.values()) else 1


def stop(host, sync=True):
    """Stop a host: write its disk, halt its kernel, and end the process if that does not."""
    if alive(host):
        if sync:
            hosts.console(host, 'sysrq s')  # an emergency sync, over the console: also a host that is cut off
            time.sleep(0.3)
        hosts.console(host, 'halt')
    end(host, 1.5)


def reboot(host):
    """A new kernel on the same disk."""
    known(host)
    if not alive(host):
        raise LabError(f'{host} does not run: `lab up {host}` starts it')
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([*SSH, host, 'sync'], timeout=4, capture_output=True, check=False)
    stop(host)
    return up([host])


def kill(host):
    """A crash: no word to anybody, nothing written. `status` then says crashed, `up` mends it."""
    pid = alive(known(host))
    if not pid:
        raise LabError(f'{host} does not run')
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: crashed(host), 5)
    if alive('forwarder'):
        forwarder.wait_listening(host, False)
    print(f'{host}: killed')
    return 0


def down(keep=False):
    """Stop everything and remove all but the root file system (and, to keep, the hosts' disks and keys)."""
    if not any(path.exists() for path in (RUN, STATE, SSH_CONFIG, switch.NAMESPACE_PATH)):
        print('already down')
        return 0
    if os.geteuid():
        raise LabError('needs root')
    ours = RUN.exists()
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda host: stop(host, sync=keep), HOSTS))
    end('forwarder')
    wait_until(lambda: not switch.processes(), 3, 0.05)
    if left := switch.processes():
        if not ours:
            raise LabError(f'the namespace {NAMESPACE} belongs to another lab, left alone (LAB_DIR, LAB_NS)')
        print('still in the namespace, not ended because the lab did not start them:', *left)
    switch.remove()
    for folder in (RUN,) if keep else (RUN, STATE):
        shutil.rmtree(folder, ignore_errors=True)
    files = [SSH_CONFIG, KNOWN_HOSTS, DIR / 'lock'] + ([] if keep else [KEY, KEY.with_suffix('.pub')])
    for file in files:
        file.unlink(missing_ok=True)
    print('down')
    return 0
