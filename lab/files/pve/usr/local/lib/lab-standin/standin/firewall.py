"""The guest firewall: the part of proxmox-firewall (nftables) that the lab needs."""
import os
import re

from .config import die, ids, load, nets, run

FOLDER = '/etc/pve/firewall'
TABLE = ('bridge', 'proxmox-firewall-guests')
MACROS = {'HTTP': 'tcp dport 80', 'HTTPS': 'tcp dport 443', 'SSH': 'tcp dport 22', 'Ping': 'icmp type echo-request', 'DNS': 'udp dport 53'}
VERDICTS = {'ACCEPT': 'accept', 'DROP': 'drop', 'REJECT': 'drop'}


def read(vmid):
    """A guest's options and its rule lines."""
    options, rules, section = {}, [], ''
    path = f'{FOLDER}/{vmid}.fw'
    if not os.path.exists(path):
        return options, rules
    with open(path) as file:
        lines = [line.strip() for line in file]
    for line in lines:
        if line.startswith('['):
            section = line.strip('[]').split()[0].upper()
        elif not line or line.startswith('#'):
            continue
        elif section == 'OPTIONS':
            key, _, value = line.partition(':')
            options[key.strip()] = value.strip()
        elif section == 'RULES':
            rules.append(line)
    return options, rules


def write(vmid, options, rules):
    """ID.fw in Proxmox's format."""
    with open(f'{FOLDER}/{vmid}.fw', 'w') as file:
        file.write('[OPTIONS]\n\n' + ''.join(f'{key}: {value}\n' for key, value in options.items()))
        file.write('\n[RULES]\n\n' + ''.join(f'{rule}\n' for rule in rules) + '\n')


def parse_rule(line):
    """A rule line as pvesh shows it; a leading | means switched off."""
    body, _, comment = line.partition('#')
    words = body.lstrip('|').split()
    rule = {'type': words[0].lower(), 'enable': 0 if body.startswith('|') else 1}
    if m := re.fullmatch(r'(\w+)\((\w+)\)', words[1]):
        rule['macro'], rule['action'] = m[1], m[2]
    else:
        rule['action'] = words[1]
    for key, value in zip(words[2::2], words[3::2]):
        rule['proto' if key == '-p' else key.lstrip('-')] = value
    if comment.strip():
        rule['comment'] = comment.strip()
    return rule


def print_rule(rule):
    """The inverse of parse_rule."""
    text = '' if int(rule.get('enable', 0)) else '|'
    text += rule['type'].upper() + ' ' + (f"{rule['macro']}({rule['action']})" if rule.get('macro') else rule['action'])
    for key in ('source', 'dest', 'proto', 'dport', 'sport', 'log'):
        if rule.get(key):
            text += f" -{'p' if key == 'proto' else key} {rule[key]}"
    return text + (f" # {rule['comment']}" if rule.get('comment') else '')


def _nft(rule):
    words = []
    if rule.get('macro'):
        words.append(MACROS.get(rule['macro']) or die(f"unknown macro '{rule['macro']}'"))
    elif rule.get('dport'):
        words.append(f"{rule.get('proto', 'tcp')} dport {rule['dport']}")
    elif rule.get('proto'):
        words.append(f"ip protocol {rule['proto']}")
    for key, match in (('source', 'saddr'), ('dest', 'daddr')):
        if rule.get(key):
            words.append(f"{'ip6' if ':' in rule[key] else 'ip'} {match} {rule[key]}")
    return ' '.join([*words, 'counter', VERDICTS[rule['action']]])


def apply():
    """Replace the bridge table by the rules of all guests; without any, there is no table."""
    chains, jumps = [], []
    for vmid in ids():
        options, rules = read(vmid)
        filtered = [number for number, net in nets(load(vmid)).items() if net.get('firewall') == '1']
        if options.get('enable') != '1' or not filtered:
            continue
        lines = [_nft(rule) for rule in map(parse_rule, rules) if rule['type'] == 'in' and rule['enable']]
        lines.append('counter ' + options.get('policy_in', 'DROP').lower())
        chains += [f'\tchain guest-{vmid}-in {{', *(f'\t\t{line}' for line in lines), '\t}']
        jumps += [f'"veth{vmid}i{number}" : goto guest-{vmid}-in' for number in filtered]
    name = ' '.join(TABLE)
    if not jumps:
        run('nft', 'delete', 'table', *TABLE, check=False)
        return
    entry = ['\tchain vm-in {', '\t\ttype filter hook postrouting priority 0; policy accept;', '\t\tether type arp accept',
             '\t\tct state established,related accept', '\t\toifname vmap { ' + ', '.join(jumps) + ' }', '\t}']
    run('nft', '-f', '-', text_in='\n'.join([f'table {name}', f'delete table {name}', f'table {name} {{', *chains, *entry, '}', '']))
