"""lab: real Linux hosts (user-mode Linux) on one machine, for tests and the demo.

  lab up [HOST...]          build what is missing and start; again does nothing, a crashed host is started
  lab down [--keep]         stop everything, leave only the root file system (--keep: the hosts' disks too)
  lab status [--json]       exit status 0 when all hosts run and answer, else 3
  lab ssh HOST [CMD...]     also: ssh -F $LAB_DIR/ssh_config HOST
  lab reboot HOST           a new kernel on the same disk
  lab kill HOST             a crash
  lab link HOST N up|down   the switch port of nicN passes everything or nothing (the host keeps its carrier)
  lab carrier HOST nicN on|off   the cable itself: the host sees it
  lab fault [NAME]          list the faults, or make one
  lab observe NAME          run the fault's own look-ups, print commands and outputs
  lab clear [NAME]          undo a fault, or all

Environment: LAB_DIR (root file system and state, default /var/cache/hopwise-lab), LAB_SSH_PORT (default 2222),
LAB_TOPOLOGY (a file, default topology.toml), LAB_NS (name of the network namespace), LAB_ROOT (the root file
system of another lab). Each host's sshd is 127.0.1.N:LAB_SSH_PORT; nothing else of the lab has an address or a
route outside its namespace.
"""
import os
import sys

from . import faults, lifecycle, report, switch
from .process import lock
from .settings import SSH, SSH_CONFIG, LabError, known


def _fault(name=None):
    if name:
        faults.inject(name)
        return 0
    there = faults.recorded()
    for each, fault in faults.declared().items():
        print(f"{'*' if each in there else ' '} {each:22} {fault['cause']}")
    return 0


def _carrier(host, nic, state):
    if state not in ('on', 'off') or not nic.startswith('nic'):
        raise LabError('usage: lab carrier HOST nicN on|off')
    result = faults.run_on(known(host), f'lab-hw carrier {nic} {state}')
    print(result.stdout, end='')
    return result.returncode


def _ssh(host, *command):
    known(host)
    if not SSH_CONFIG.exists():
        raise LabError('the lab is down: `lab up` first')
    os.execvp('ssh', [*SSH, host, *command])


CHANGES = {
    'up': lambda *names: lifecycle.up(names),
    'down': lambda keep=None: lifecycle.down(keep is not None),
    'reboot': lifecycle.reboot,
    'kill': lifecycle.kill,
    'link': lambda host, nic, state: switch.set_port(host, nic, state) or 0,
    'fault': _fault,
    'clear': lambda name=None: 0 if faults.clear(name) else 1,
}
LOOKS = {
    'status': lambda js=None: report.status(js is not None),
    'ssh': _ssh,
    'carrier': _carrier,
    'observe': lambda name: faults.observe(name) or 0,
}
FLAGS = {'down': ['--keep'], 'status': ['--json']}


def main(arguments):
    """Run one command; the exit status."""
    if not arguments or arguments[0] in ('-h', '--help', 'help'):
        print(__doc__, end='')
        return 0
    name, *rest = arguments
    command = CHANGES.get(name) or LOOKS.get(name)
    try:
        if command is None:
            raise LabError(f'no command {name!r}: `lab --help` lists them')
        _check_arguments(name, command, rest)
        if name in LOOKS or (name == 'fault' and not rest):
            return command(*rest)
        with lock():
            return command(*rest)
    except LabError as error:
        print(f'lab: {error}', file=sys.stderr)
    except PermissionError as error:
        print(f'lab: {error.filename}: permission denied: run it as root', file=sys.stderr)
    except KeyboardInterrupt:
        print('\nlab: interrupted; the same command goes on where this one stopped', file=sys.stderr)
        return 130
    return 1


def _check_arguments(name, command, rest):
    """The number of arguments as the function's own signature has it, and flags that exist."""
    code = command.__code__
    least = code.co_argcount - len(command.__defaults__ or ())
    many = code.co_flags & 0x04  # takes *args
    flags = FLAGS.get(name)
    if len(rest) < least or (not many and len(rest) > code.co_argcount) or (flags and any(word not in flags for word in rest)):
        raise LabError(f'wrong arguments for {name}: `lab --help` shows them')
