"""Faults: declared in faults.toml, recorded under STATE/faults before anything is changed."""
import json
import re
import subprocess
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

from .process import alive
from .settings import HERE, HOSTS, NAMESPACE_PATH, SSH, STATE, LabError

RECORDS = STATE / 'faults'
SWITCH_SIDE = 'lab'  # a step's place that is not a host


def declared():
    """All faults of faults.toml by name."""
    return tomllib.loads((HERE / 'faults.toml').read_text())


def declaration(name):
    """One fault, or an error that says where the names are."""
    faults = declared()
    if name not in faults:
        raise LabError(f'no fault {name!r}: `lab fault` lists them')
    return faults[name]


def recorded():
    """The names of the faults that are in the lab now, also of those whose injection failed half way."""
    return sorted(path.name for path in RECORDS.iterdir()) if RECORDS.is_dir() else []


def run_on(place, command, limit=60):
    """Run a shell command on a host, or on the switch side; stdout and stderr come together, in order."""
    argv = ['nsenter', f'--net={NAMESPACE_PATH}', 'sh', '-c', command] if place == SWITCH_SIDE else [*SSH, place, f'exec 2>&1; {command}']
    try:
        return subprocess.run(argv, text=True, errors='replace', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode(errors='replace') if isinstance(error.stdout, bytes) else error.stdout or ''
        return subprocess.CompletedProcess(argv, 124, said)


def _need(name, steps):
    """All hosts the steps run on, or an error that says which one is missing."""
    for place in dict.fromkeys(step[0] for step in steps):
        if place == SWITCH_SIDE:
            if not NAMESPACE_PATH.exists():
                raise LabError('the lab is down: `lab up` first')
        elif place not in HOSTS:
            raise LabError(f'{name} needs the host {place}, which this topology does not have')
        elif not alive(place):
            raise LabError(f'{name} needs {place}, which does not run: `lab up`, then the same command again')
        elif run_on(place, 'true', 15).returncode:
            raise LabError(f'{name} needs {place}, which does not answer: see `lab status` (another fault may cut it off)')


def _steps(name, steps):
    for place, command in steps:
        result = run_on(place, command)
        if result.returncode:
            said = result.stdout.strip().splitlines()
            raise LabError(f"{name}, on {place}: {command}: exit {result.returncode}: {said[-1] if said else 'no output'}")


def inject(name):
    """Make the fault. Recorded first, so that `clear` knows of a half-made one."""
    fault = declaration(name)
    if name in recorded():
        print(f'{name} is there already; `lab clear {name}` undoes it')
        return
    _need(name, fault['inject'] + fault['clear'])
    RECORDS.mkdir(parents=True, exist_ok=True)
    (RECORDS / name).write_text(json.dumps({'at': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), 'cause': fault['cause']}) + '\n')
    try:
        _steps(name, fault['inject'])
    except LabError as error:
        raise LabError(f'{error} -- perhaps half made: `lab clear {name}` undoes it') from error
    print(f"{name}: {fault['cause']}")


def clear(name=None):
    """Undo one fault, or all; goes on to the others when one cannot be undone. Whether all were."""
    if name and name not in recorded():
        declaration(name)
        print(f'{name} is not there, nothing to clear')
        return True
    done = True
    # Faults on the switch side first: they may cut off a host that the others need.
    names = [name] if name else sorted(recorded(), key=lambda n: any(step[0] != SWITCH_SIDE for step in declaration(n)['clear']))
    for each in names:
        steps = declaration(each)['clear']
        try:
            _need(each, steps)
            _steps(each, steps)
        except LabError as error:
            print(f'not cleared: {error}')
            done = False
            continue
        (RECORDS / each).unlink(missing_ok=True)
        print(f'cleared {each}')
    return done


def reapply_switch_side():
    """A host's start raises its ports again; a dead switch port stays dead in life, so cut it again."""
    for name in recorded():
        for place, command in declaration(name)['inject']:
            if place == SWITCH_SIDE:
                run_on(place, command)


def observe(name):
    """Run the fault's own look-ups and print commands and outputs."""
    for place, command in declaration(name)['observe']:
        result = run_on(place, command)
        print(f'[{place}]# {command}\n{result.stdout.rstrip()}\nexit={result.returncode}\n', flush=True)


def unmet(name, state, limit=60):
    """The fault's expectations that do not hold: (command, pattern, output), for the state 'healthy' or 'faulty'."""
    def differs(expect):
        result = run_on(expect['on'], expect['run'], limit)
        said = f'{result.stdout.rstrip()}\nexit={result.returncode}'
        met = re.search(expect[state], said, re.M)
        return None if met else (f"[{expect['on']}]# {expect['run']}", expect[state], said)
    with ThreadPoolExecutor() as pool:
        return [each for each in pool.map(differs, declaration(name)['expect']) if each]
