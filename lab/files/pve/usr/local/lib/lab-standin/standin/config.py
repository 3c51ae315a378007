"""Guests' configuration files, and running commands."""
import os
import re
import subprocess
import sys

NODE = os.uname().nodename
LXC, QEMU = '/etc/pve/lxc', '/etc/pve/qemu-server'


def die(message, status=255):
    """End as Proxmox's tools do: the message on stderr, 255 unless the source says otherwise."""
    sys.stderr.write(message + '\n')
    sys.exit(status)


def run(*command, check=True, text_in=None):
    """Run a command; with `check`, its failure is ours, message included."""
    result = subprocess.run(command, text=True, input=text_in, capture_output=True)
    if result.returncode and check:
        die(result.stderr.rstrip(), result.returncode)
    return result


def ids(folder=LXC):
    """The guests of this node, in order."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(int(name[:-5]) for name in names if re.fullmatch(r'\d+\.conf', name))


def load(vmid, folder=LXC):
    """The keys of a guest's current configuration."""
    kind = 'lxc' if folder == LXC else 'qemu-server'
    path = f'{folder}/{vmid}.conf'
    if not os.path.exists(path):
        die(f"Configuration file 'nodes/{NODE}/{kind}/{vmid}.conf' does not exist", 2)
    config = {}
    with open(path) as file:
        for line in file:
            if line.startswith('['):  # snapshots and pending changes follow
                break
            if m := re.match(r'([A-Za-z0-9_.]+):\s*(.*?)\s*$', line):
                config[m[1]] = m[2]
    return config


def save(vmid, config):
    """Write a container's configuration, keys in order as Proxmox does."""
    path = f'{LXC}/{vmid}.conf'
    with open(f'{path}.tmp.{os.getpid()}', 'w') as file:
        file.writelines(f'{key}: {config[key]}\n' for key in sorted(config))
    os.rename(f'{path}.tmp.{os.getpid()}', path)


def parse_net(text):
    """A netN property string as a dictionary."""
    return dict(part.split('=', 1) for part in text.split(',') if '=' in part)


def print_net(net):
    """A netN property string: the required key first, the others in order."""
    net = {'type': 'veth', **net}
    return ','.join([f"name={net['name']}"] + [f'{key}={net[key]}' for key in sorted(net) if key != 'name'])


def nets(config):
    """Number to network device."""
    return {int(key[3:]): parse_net(value) for key, value in config.items() if re.fullmatch(r'net\d+', key)}
