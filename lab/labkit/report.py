"""What runs, what it costs, and which faults are in it."""
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

from . import faults
from .host import banner
from .process import alive, crashed
from .settings import DIR, HOSTS, KEY, PORT, SSH_CONFIG, loopback


def memory_kb(pid):
    """The process's share of memory (Pss of proc(5), kB)."""
    try:
        with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as file:
            return next((int(line.split()[1]) for line in file if line.startswith('Pss:')), 0)
    except OSError:
        return 0


def usage_mb():
    """What LAB_DIR takes on disk, MB."""
    if not DIR.is_dir():
        return 0
    du = subprocess.run(['du', '-sxm', str(DIR)], capture_output=True, text=True, check=False)
    return int(du.stdout.split()[0]) if du.stdout else 0


def _one(host):
    pid = alive(host)
    return {
        'state': 'running' if pid else 'crashed' if crashed(host) else 'stopped',
        'answers': bool(pid) and banner(host),
        'ssh': f'{loopback(host)}:{PORT}',
        'address': HOSTS[host]['address'],
        'pid': pid or None,
        'pss_kb': memory_kb(pid) if pid else 0,
    }


def status(as_json=False):
    """Print the lab's state. Exit status 0 when every host runs and answers, 3 otherwise (as `systemctl status`)."""
    with ThreadPoolExecutor() as pool:
        hosts = dict(zip(HOSTS, pool.map(_one, HOSTS)))
    well = all(one['answers'] for one in hosts.values())
    forwarder, injected, size = alive('forwarder') or None, faults.recorded(), usage_mb()
    if as_json:
        print(json.dumps({'hosts': hosts, 'faults': injected, 'forwarder': forwarder, 'lab_dir': str(DIR), 'lab_dir_mb': size,
                          'ssh_config': str(SSH_CONFIG), 'key': str(KEY)}, indent=1))
    else:
        for host, one in hosts.items():
            print(f"{host:8} {one['state']:8} {'ssh ok' if one['answers'] else 'no ssh':7} {one['ssh']:15} {one['address']:14} {one['pss_kb'] >> 10:4} MB")
        print(f"forwarder: {'runs' if forwarder else 'does not run'}")
        print('faults:', ', '.join(injected) or 'none')
        print(f'{DIR}: {size} MB on disk')
    return 0 if well else 3
