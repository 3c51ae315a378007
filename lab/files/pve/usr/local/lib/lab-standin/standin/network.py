"""A container's network device: what PVE::Network and PVE::LXC do to the kernel."""
import os

from .config import die, nets, run

POLICE_PREF = '50'


def in_container(vmid, *arguments, **options):
    """ip(8) in the container's network namespace."""
    return run('ip', '-n', f'ct{vmid}', *arguments, **options)


def _read(path):
    with open(path) as file:
        return file.read().strip()


def rate_limit(dev, rate):
    """PVE::Network::tap_rate_limit: rate in MiB/s, shaped towards the guest (htb), policed from it."""
    for old in (('filter', 'del', 'dev', dev, 'parent', 'ffff:', 'protocol', 'all', 'pref', POLICE_PREF, 'u32'),
                ('qdisc', 'del', 'dev', dev, 'ingress'), ('qdisc', 'del', 'dev', dev, 'root')):
        run('tc', *old, check=False)
    if not rate:
        return
    speed, burst = f'{int(float(rate) * 1024 * 1024)}bps', f'{1024 * 1024}b'
    run('tc', 'qdisc', 'add', 'dev', dev, 'root', 'handle', '1:', 'htb', 'default', '1')
    # Proxmox gives no cburst; this kernel's 10 ms timer would then halve the rate (46 instead of 81 Mbit/s).
    run('tc', 'class', 'add', 'dev', dev, 'parent', '1:', 'classid', '1:1', 'htb', 'rate', speed, 'burst', burst, 'cburst', burst)
    run('tc', 'qdisc', 'add', 'dev', dev, 'handle', 'ffff:', 'ingress')
    run('tc', 'filter', 'add', 'dev', dev, 'parent', 'ffff:', 'prio', POLICE_PREF, 'basic',
        'police', 'rate', speed, 'burst', burst, 'mtu', '64kb', 'drop')


def _vlans(dev, net):
    tag = net.get('tag')
    run('bridge', 'vlan', 'del', 'dev', dev, 'vid', '1-4094')
    if tag:
        run('bridge', 'vlan', 'add', 'dev', dev, 'vid', tag, 'pvid', 'untagged')
    else:
        run('bridge', 'vlan', 'add', 'dev', dev, 'vid', '2-4094')
        run('bridge', 'vlan', 'add', 'dev', dev, 'vid', '1', 'pvid', 'untagged')
    for trunk in filter(None, (net.get('trunks') or '').split(';')):
        run('bridge', 'vlan', 'add', 'dev', dev, 'vid', trunk)


def _addresses(vmid, net):
    """Static addresses and gateways. Nothing in the lab answers DHCP or sends router advertisements."""
    dev = net['name']
    for family, ip_key, gateway_key in (('-4', 'ip', 'gw'), ('-6', 'ip6', 'gw6')):
        address, gateway = net.get(ip_key), net.get(gateway_key)
        in_container(vmid, family, 'addr', 'flush', 'dev', dev, 'scope', 'global')
        in_container(vmid, family, 'route', 'del', 'default', 'dev', dev, check=False)
        if address and '/' in address:
            nodad = ['nodad'] if family == '-6' else []  # usable at once
            in_container(vmid, family, 'addr', 'add', address, 'dev', dev, *nodad)
            if gateway:
                in_container(vmid, family, 'route', 'replace', 'default', 'via', gateway, 'dev', dev)


def plug(vmid, number, net):
    """Make or change one device: both ends of the veth, the bridge port, VLAN, limit and addresses."""
    dev, bridge = f'veth{vmid}i{number}', net.get('bridge')
    if not os.path.isdir(f'/sys/class/net/{bridge}'):
        die(f"bridge '{bridge}' does not exist")
    bridge_mtu = _read(f'/sys/class/net/{bridge}/mtu')
    mtu = net.get('mtu') or bridge_mtu
    if int(mtu) > int(bridge_mtu):
        die(f"{dev}: MTU '{mtu}' is bigger than bridge MTU '{bridge_mtu}'")
    if not os.path.isdir(f'/sys/class/net/{dev}'):
        run('ip', 'link', 'add', 'name', dev, 'type', 'veth', 'peer', 'name', net['name'], 'netns', f'ct{vmid}')
    run('ip', 'link', 'set', 'dev', dev, 'mtu', mtu, 'master', bridge, 'up')
    if _read(f'/sys/class/net/{bridge}/bridge/vlan_filtering') == '1':
        _vlans(dev, net)
    rate_limit(dev, net.get('rate'))
    run('ip', 'link', 'set', 'dev', dev, 'down' if net.get('link_down') == '1' else 'up')
    if net.get('hwaddr'):
        in_container(vmid, 'link', 'set', 'dev', net['name'], 'address', net['hwaddr'])
    in_container(vmid, 'link', 'set', 'dev', net['name'], 'mtu', mtu, 'up')
    _addresses(vmid, net)


def interfaces_file(config):
    """/etc/network/interfaces as PVE::LXC::Setup::Debian leaves it in the container."""
    lines = ['auto lo', 'iface lo inet loopback', '']
    for _, net in sorted(nets(config).items()):
        lines += [f"auto {net['name']}"]
        for family, ip_key, gateway_key in (('inet', 'ip', 'gw'), ('inet6', 'ip6', 'gw6')):
            address = net.get(ip_key, '')
            if '/' in address:
                lines += [f"iface {net['name']} {family} static", f'\taddress {address}']
                lines += [f'\tgateway {net[gateway_key]}'] if net.get(gateway_key) else []
            elif family == 'inet' or address:
                lines += [f"iface {net['name']} {family} manual"]
            lines += ['']
    return '\n'.join(lines)
