"""Containers: a systemd unit (pve-container@ID) whose main process owns the namespaces."""
import os
import re

from . import firewall
from .config import die, load, nets, parse_net, print_net, run, save
from .network import in_container, interfaces_file, plug

DISK = '/var/lib/lab/disk/ct'


def main_pid(vmid):
    """The container's first process as the host numbers it, or 0."""
    try:
        with open(f'/run/lab-ct/{vmid}.pid') as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def running(vmid):
    """Whether that process is there."""
    pid = main_pid(vmid)
    return bool(pid) and os.path.exists(f'/proc/{pid}/ns/net')


def status(vmid):
    """The word Proxmox uses."""
    return 'running' if running(vmid) else 'stopped'


def enter(vmid, command):
    """Replace this process by a command in the container."""
    os.execvp('nsenter', ['nsenter', '-t', str(main_pid(vmid)), '-m', '-u', '-i', '-n', '-p', '--', *command])


def _write_interfaces(vmid, config):
    folder = f'{DISK}/{vmid}/upper/etc/network'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/interfaces', 'w') as file:
        file.write(interfaces_file(config))


def start(vmid):
    """Namespaces, network devices, then the unit."""
    config = load(vmid)
    if running(vmid):
        die(f'CT {vmid} already running')
    for folder in ('upper/etc', 'work', 'root'):
        os.makedirs(f'{DISK}/{vmid}/{folder}', exist_ok=True)
    with open(f'{DISK}/{vmid}/upper/etc/hostname', 'w') as file:
        file.write(config.get('hostname', f'CT{vmid}') + '\n')
    _write_interfaces(vmid, config)
    run('ip', 'netns', 'add', f'ct{vmid}', check=False)
    in_container(vmid, 'link', 'set', 'lo', 'up')
    for number, net in sorted(nets(config).items()):
        plug(vmid, number, net)
    run('systemctl', 'start', f'pve-container@{vmid}')
    firewall.apply()


def stop(vmid):
    """The unit, its devices and its namespace."""
    load(vmid)
    if not running(vmid):
        die(f'CT {vmid} not running')
    run('systemctl', 'stop', f'pve-container@{vmid}')
    os.unlink(f'/run/lab-ct/{vmid}.pid')  # its number may soon be another process's
    for dev in os.listdir('/sys/class/net'):
        if dev.startswith(f'veth{vmid}i'):
            run('ip', 'link', 'del', dev, check=False)
    run('ip', 'netns', 'del', f'ct{vmid}', check=False)


def change(vmid, arguments):
    """`pct set`: --netN VALUE, --delete KEYS and plain keys; a running container is changed at once."""
    config = load(vmid)
    before = nets(config)
    words = iter(arguments)
    for word in words:
        key, equals, value = word.lstrip('-').partition('=')
        value = value if equals else next(words, '')
        if key == 'delete':
            for each in value.split(','):
                config.pop(each, None)
        elif re.fullmatch(r'net\d+', key):
            config[key] = _checked_net(key, value, before)
        else:
            config[key] = value
    save(vmid, config)
    if not running(vmid):
        return
    _write_interfaces(vmid, config)
    after = nets(config)
    for number in set(before) - set(after):
        run('ip', 'link', 'del', f'veth{vmid}i{number}', check=False)
    for number, net in sorted(after.items()):
        if net != before.get(number):
            plug(vmid, number, net)
    firewall.apply()


def _checked_net(key, text, before):
    net = parse_net(text)
    if 'name' not in net:
        die(f'400 Parameter verification failed.\n{key}: invalid format - format error\n'
            f'{key}.name: property is missing and it is not optional\n')
    known = before.get(int(key[3:]), {}).get('hwaddr')
    net.setdefault('hwaddr', known or 'BC:24:11:%02X:%02X:%02X' % tuple(os.urandom(3)))
    return print_net(net)
