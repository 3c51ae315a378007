"""pct, qm, pvesh, pveversion and pve-firewall."""
import json
import os
import re
import sys
import time

from . import container, firewall
from .config import NODE, QEMU, die, ids, load, run

DELAY_FILE = '/etc/lab/standin-delay'


def _delay():
    """The real tools load half of Perl first: 0.5 s and more. LAB_STANDIN_DELAY or the file give seconds."""
    text = os.environ.get('LAB_STANDIN_DELAY')
    try:
        if text is None:
            with open(DELAY_FILE) as file:
                text = file.read()
        time.sleep(float(text))
    except (OSError, ValueError):
        pass


def pct(arguments):
    """pct list|config|status|set|start|stop|shutdown|reboot|exec|enter."""
    if not arguments:
        die('ERROR: no command specified\nUSAGE: pct <COMMAND> [ARGS] [OPTIONS]')
    command, *rest = arguments
    if command == 'list':
        return _pct_list()
    if command == 'startall':  # the lab's own: what pve-guests does at boot
        for vmid in ids():
            if load(vmid).get('onboot') == '1' and not container.running(vmid):
                container.start(vmid)
        return None
    actions = {'config': _pct_config, 'status': _pct_status, 'set': container.change, 'start': _start, 'stop': _stop,
               'shutdown': _stop, 'reboot': _reboot, 'exec': _pct_exec, 'enter': _pct_exec}
    if command not in actions:
        die(f"ERROR: unknown command 'pct {command}'\nUSAGE: pct <COMMAND> [ARGS] [OPTIONS]")
    if not rest or not rest[0].isdigit():
        die(f'400 not enough arguments\npct {command} <vmid>')
    return actions[command](int(rest[0]), rest[1:])


def _pct_list():
    if ids():
        print('%-10s %-10s %-12s %-20s' % ('VMID', 'Status', 'Lock', 'Name'))
    for vmid in ids():
        print('%-10s %-10s %-12s %-20s' % (vmid, container.status(vmid), '', load(vmid).get('hostname', f'CT{vmid}')))


def _pct_config(vmid, _):
    for key, value in sorted(load(vmid).items()):
        print(f'{key}: {value}')


def _pct_status(vmid, _):
    load(vmid)
    print(f'status: {container.status(vmid)}')


def _start(vmid, _):
    container.start(vmid)


def _stop(vmid, _):
    container.stop(vmid)


def _reboot(vmid, _):
    container.stop(vmid)
    container.start(vmid)


def _pct_exec(vmid, rest):
    load(vmid)
    if not container.running(vmid):
        die(f"container '{vmid}' not running!")
    command = rest[rest.index('--') + 1:] if '--' in rest else rest
    container.enter(vmid, command or ['/bin/bash'])


def qm(arguments):
    """qm list|config|status: the lab has no VMs, unless somebody writes a file of one; such a VM is stopped."""
    if not arguments:
        die('ERROR: no command specified\nUSAGE: qm <COMMAND> [ARGS] [OPTIONS]')
    command, *rest = arguments
    if command == 'list':  # PVE::CLI::qm: no header either when there is no VM
        row = '%10s %-20s %-10s %-10s %12s %-10s'
        if ids(QEMU):
            print(row % ('VMID', 'NAME', 'STATUS', 'MEM(MB)', 'BOOTDISK(GB)', 'PID'))
        for vmid in ids(QEMU):
            config = load(vmid, QEMU)
            print(row % (vmid, config.get('name', f'VM{vmid}'), 'stopped', config.get('memory', 512), '0.00', 0))
    elif command not in ('config', 'status'):
        die(f"ERROR: unknown command 'qm {command}'\nUSAGE: qm <COMMAND> [ARGS] [OPTIONS]")
    elif not rest or not rest[0].isdigit():
        die(f'400 not enough arguments\nqm {command} <vmid>')
    elif command == 'config':
        for key, value in sorted(load(int(rest[0]), QEMU).items()):
            print(f'{key}: {value}')
    else:
        load(int(rest[0]), QEMU)
        print('status: stopped')


def pveversion(_):
    """Says that it is a stand-in where a real node gives the commit."""
    print(f'pve-manager/9.0.0/labstandin (running kernel: {os.uname().release})')


def _json(value):
    """pvesh's text form is left out: JSON only."""
    print(json.dumps(value, separators=(',', ':')))


def _summary(vmid):
    return {'vmid': vmid, 'name': load(vmid).get('hostname'), 'status': container.status(vmid), 'type': 'lxc'}


def pvesh(arguments):
    """pvesh get|create|set|delete on this node's containers and their firewall rules."""
    if len(arguments) < 2:
        die('ERROR: no command specified')
    method, path, *rest = arguments
    words = iter(rest)
    options = {word.lstrip('-'): next(words, '') for word in words}
    options.pop('output-format', None)
    if (method, path) == ('get', '/cluster/resources'):
        return _json([{'id': f'lxc/{vmid}', 'node': NODE, **_summary(vmid)} for vmid in ids()])
    m = re.fullmatch(r'/nodes/([^/]+)/lxc(?:/(\d+)(?:/(config|status/current|firewall/rules(?:/(\d+))?))?)?', path)
    if not m:
        die(f"No '{method}' handler defined for '{path}'", 2)
    node, vmid, what, position = m.groups()
    if node != NODE:
        die(f"no such cluster node '{node}'", 2)
    if not vmid:
        return _json([_summary(each) for each in ids()])
    vmid, config = int(vmid), load(vmid)
    if what == 'config' and method == 'get':
        return _json(config)
    if what == 'config' and method == 'set':
        return container.change(vmid, [word for key, value in options.items() for word in (f'--{key}', value)])
    if what == 'status/current' and method == 'get':
        return _json(_summary(vmid))
    if what and what.startswith('firewall/rules'):
        return _rules(method, path, vmid, position, options)
    return die(f"No '{method}' handler defined for '{path}'", 2)


def _rules(method, path, vmid, position, options):
    settings, rules = firewall.read(vmid)
    if method == 'get':
        return _json([{**firewall.parse_rule(rule), 'pos': number} for number, rule in enumerate(rules)])
    if method == 'create':
        rules.insert(0, firewall.print_rule({'enable': 0, **options}))
    elif method == 'delete' and position is not None:
        if int(position) >= len(rules):
            die(f'no rule at position {position}', 2)
        del rules[int(position)]
    else:
        die(f"No '{method}' handler defined for '{path}'", 2)
    firewall.write(vmid, settings, rules)
    return firewall.apply()


def pve_firewall(arguments):
    """pve-firewall status|start|restart|stop|compile."""
    command = arguments[0] if arguments else ''
    if command == 'status':
        on = not run('nft', 'list', 'table', *firewall.TABLE, check=False).returncode
        print('Status: enabled/running' if on else 'Status: disabled/running')
    elif command in ('start', 'restart'):
        firewall.apply()
    elif command == 'stop':
        run('nft', 'delete', 'table', *firewall.TABLE, check=False)
    elif command == 'compile':
        sys.stdout.write(run('nft', 'list', 'table', *firewall.TABLE).stdout)
    else:
        die('ERROR: no command specified\nUSAGE: pve-firewall <COMMAND> [ARGS] [OPTIONS]')


def main(name, arguments):
    """The tool by which name the program was called."""
    _delay()
    {'pct': pct, 'qm': qm, 'pvesh': pvesh, 'pveversion': pveversion, 'pve-firewall': pve_firewall}[name](arguments)
