"""The lab's network namespace on this machine: bridges are the switches, taps their ports, tc redirects the cables.

No address, route or forwarding leads out of it.
"""
import json
import os
from pathlib import Path

from .process import in_lab, sh
from .settings import HOSTS, NAMESPACE, NAMESPACE_PATH, RUN, SWITCHES, LabError, known

CABLE_MTU = 9000
MOUNTED = RUN / 'netns-folder-mounted-by-us'


def tap(host, nic):
    """The machine's end of a host's NIC: `pve1-0` is pve1's nic0."""
    return f'{host}-{nic}'


def wiring():
    """Switch to its taps, and cable to its two ends."""
    ports, cables = {switch: [] for switch in SWITCHES}, {}
    for host, spec in HOSTS.items():
        for nic, end in enumerate(spec['nics']):
            group = cables.setdefault(end, []) if end.startswith('cable:') else ports[end]
            group.append(tap(host, nic))
    return ports, cables


def mtu_of(end):
    """The largest frame a switch or cable carries."""
    return SWITCHES.get(end, {'mtu': CABLE_MTU}).get('mtu', 1500)


def create():
    """Make what is missing; what is there is left alone."""
    if not NAMESPACE_PATH.exists():
        if not os.path.ismount('/run/netns'):
            MOUNTED.touch()  # ip(8) turns the folder into a mount; `remove` takes that back
        sh('ip', 'netns', 'add', NAMESPACE)
    have = {link['ifname'] for link in json.loads(in_lab('ip', '-j', 'link').stdout)}
    ports, cables = wiring()
    batch = [line for switch, taps in ports.items() for line in _switch_lines(switch, taps, have)]
    batch += [line for ends in cables.values() for t in ends if t not in have for line in _tap_lines(t, f'mtu {CABLE_MTU}')]
    if batch:
        # No IPv6 of the switches' own: a switch is not a host on the hosts' networks.
        quiet = 'f=/proc/sys/net/ipv6/conf/default/disable_ipv6; [ ! -e $f ] || echo 1 > $f; ip link set lo up; exec ip -batch -'
        in_lab('sh', '-c', quiet, input='\n'.join(batch) + '\n')
    for one, other in cables.values():
        for source, target in ((one, other), (other, one)):
            if source not in have:
                _patch(source, target)


def _switch_lines(switch, taps, have):
    spec, lines = SWITCHES[switch], []
    if switch not in have:
        lines += [f'link add name {switch} type bridge mcast_snooping 0', f'link set dev {switch} up']
        if spec.get('address'):
            lines.append(f"addr add {spec['address']} dev {switch}")
    for t in taps:
        if t not in have:
            lines += _tap_lines(t, f'mtu {mtu_of(switch)} master {switch}')
    return lines


def _tap_lines(name, settings):
    return [f'tuntap add mode tap name {name} vnet_hdr', f'link set dev {name} {settings} up']


def _patch(source, target):
    """Half a cable: every frame goes over, also LACP's, which a bridge would keep for itself."""
    in_lab('tc', 'qdisc', 'add', 'dev', source, 'ingress')
    in_lab('tc', 'filter', 'add', 'dev', source, 'parent', 'ffff:', 'protocol', 'all',
           'u32', 'match', 'u32', '0', '0', 'action', 'mirred', 'egress', 'redirect', 'dev', target)


def set_port(host, nic, state):
    """Let the switch port of a NIC pass everything or nothing; the host keeps its carrier.

    The port's bridge state, not `ip link set TAP down`: a tap that was down once can stay dead for the host.
    """
    states = {'up': '3', 'down': '0'}
    if state not in states or not str(nic).isdigit() or int(nic) >= len(HOSTS[known(host)]['nics']):
        raise LabError('usage: lab link HOST N up|down, N being the number of nicN')
    in_lab('bridge', 'link', 'set', 'dev', tap(host, nic), 'state', states[state])


def processes():
    """The pids that live in the lab's namespace: the hosts' kernels and whatever somebody started there."""
    return sh('ip', 'netns', 'pids', NAMESPACE).stdout.split() if NAMESPACE_PATH.exists() else []


def remove():
    """Delete the namespace, and the mount that ip(8) made for it if nobody else uses that."""
    if NAMESPACE_PATH.exists():
        sh('ip', 'netns', 'del', NAMESPACE)
    if MOUNTED.exists() and not any(Path('/run/netns').iterdir()):
        sh('umount', '/run/netns')
        os.rmdir('/run/netns')
