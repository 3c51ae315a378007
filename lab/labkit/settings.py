"""Paths, environment variables and the declared topology. Nothing here changes anything."""
import os
import tomllib
from pathlib import Path


class LabError(Exception):
    """What went wrong and what to do about it, in one line."""


HERE = Path(__file__).resolve().parent.parent
# State (disks, keys, sockets) of this lab; a management socket's path must stay below 108 bytes.
DIR = Path(os.environ.get('LAB_DIR') or '/var/cache/hopwise-lab').absolute()
# The shared root file system and kernel; another lab's may be used, it is only read.
ROOT_DIR = Path(os.environ.get('LAB_ROOT') or DIR).absolute()
ROOT = ROOT_DIR / 'root'
RUN, STATE = DIR / 'run', DIR / 'state'
KEY, SSH_CONFIG, KNOWN_HOSTS = DIR / 'key', DIR / 'ssh_config', DIR / 'known_hosts'


def _port():
    text = os.environ.get('LAB_SSH_PORT') or '2222'
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise SystemExit(f'lab: LAB_SSH_PORT is {text!r}, it must be a port number')
    return int(text)


def _topology():
    path = os.environ.get('LAB_TOPOLOGY') or 'topology.toml'
    path = Path(path) if Path(path).exists() else HERE / path
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SystemExit(f'lab: cannot read the topology (LAB_TOPOLOGY): {error}') from error


PORT = _port()
TOPOLOGY = _topology()
HOSTS = TOPOLOGY['host']
SWITCHES = TOPOLOGY['switch']
NAMESPACE = os.environ.get('LAB_NS') or TOPOLOGY['namespace']
NAMESPACE_PATH = Path('/run/netns') / NAMESPACE
SSH = ['ssh', '-F', str(SSH_CONFIG)]


def loopback(host):
    """The address on this machine's loopback at which the host's sshd appears."""
    return f"127.0.1.{HOSTS[host]['n']}"


def known(host):
    """The host's name, or an error that lists the names."""
    if host not in HOSTS:
        raise LabError(f"no host {host!r}; there are {', '.join(HOSTS)}")
    return host
