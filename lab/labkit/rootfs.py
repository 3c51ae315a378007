"""The shared root file system and kernel: built once by rootfs.sh, with progress, under ROOT_DIR."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from .settings import HERE, ROOT, ROOT_DIR, RUN, LabError

SCRIPT = HERE / 'rootfs.sh'
NOTICE = """The lab's root file system is not there yet. Building it once, in {dir}:
Debian 13 from the package mirror (about 300 MB to fetch, 600 MB on disk) and a user-mode Linux kernel.
This takes 2 to 5 minutes; later starts take 10 to 15 seconds. Log: {log}"""


def version():
    """The version rootfs.sh builds: its line `version=N`."""
    return re.search(r'^version=(\d+)', SCRIPT.read_text(), re.M)[1]


def is_ready():
    """Whether a complete root file system of this version is there. A killed build never gets this mark."""
    try:
        return (ROOT / '.lab-ready').read_text().strip() == version() and (ROOT_DIR / 'linux.uml').exists()
    except OSError:
        return False


def ensure():
    """Install missing tools, build the root file system if it is not there, and bring lab-init up to date."""
    log = ROOT_DIR / 'rootfs.log'
    if is_ready():
        _run([SCRIPT, '--tools'], RUN / 'tools.log')
    else:
        if ROOT.exists() and _in_use():
            raise LabError(f'{ROOT} is of another version and hosts run from it: `lab down` (of every lab that uses it), then `lab up`')
        print(NOTICE.format(dir=ROOT_DIR, log=log), flush=True)
        _run([SCRIPT, ROOT_DIR], log, progress=True)
    _install_init()


def _in_use():
    """Whether a host's kernel, of this lab or another, has the root as its working folder."""
    def runs_here(pid):
        try:
            return os.path.samefile(f'/proc/{pid}/cwd', ROOT)
        except OSError:
            return False
    return any(runs_here(pid) for pid in os.listdir('/proc') if pid.isdigit())


def _install_init():
    source, target = HERE / 'lab-init', ROOT / 'lab-init'
    if not target.exists() or source.read_bytes() != target.read_bytes():
        shutil.copyfile(source, target.with_suffix('.new'))
        target.with_suffix('.new').chmod(0o755)
        target.with_suffix('.new').rename(target)


def _run(command, log, progress=False):
    started = time.monotonic()
    with open(log, 'wb') as out:
        script = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        _follow(script, log, started, progress)
    except BaseException:
        os.killpg(script.pid, signal.SIGTERM)  # our own session: the script and what it started
        raise
    step, last = _words(log)
    if script.returncode:
        raise LabError(f'{step or "installing tools"} failed: {last} (log: {log}; is the package mirror reachable?)')
    if progress:
        print(f'\r\033[K  built in {time.monotonic() - started:.0f} s' if sys.stdout.isatty() else f'  built in {time.monotonic() - started:.0f} s', flush=True)


def _follow(script, log, started, progress):
    """Wait for the script; tell a step when it begins, and on a terminal also the last line of the log."""
    shown = None
    while script.poll() is None:
        time.sleep(0.1)
        if not progress:
            continue
        step, last = _words(log)
        clock = f'{time.monotonic() - started:4.0f} s'
        if step and step != shown:
            print(f'\r\033[K  {clock}  {step}' if sys.stdout.isatty() else f'  {clock}  {step}', flush=True)
            shown = step
        elif sys.stdout.isatty():
            print(f'\r\033[K  {clock}  {last[:60]}', end='', flush=True)


def _words(log):
    """The script's last step and last line."""
    lines = [line for line in log.read_text(errors='replace').splitlines() if line.strip()]
    steps = [line[5:] for line in lines if line.startswith('STEP ')]
    return (steps[-1] if steps else ''), (lines[-1].strip() if lines else 'no output')
