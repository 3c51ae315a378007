"""Commands, remembered processes and the lock that keeps two lab commands apart."""
import contextlib
import fcntl
import os
import signal
import subprocess
import time

from .settings import DIR, NAMESPACE_PATH, RUN, LabError


def sh(*command, **options):
    """Run a command; its failure is an error with the command's own last words."""
    try:
        return subprocess.run(command, check=True, text=True, capture_output=True, **options)
    except FileNotFoundError as error:
        raise LabError(f'{command[0]} is not installed: run `lab up` as root, it installs what is missing') from error
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout or '').strip().splitlines()
        raise LabError(f"{' '.join(map(str, command))}: {words[-1] if words else f'exit {error.returncode}'}") from error


def in_lab(*command, **options):
    """Run a command in the lab's network namespace, the switch side."""
    return sh('nsenter', f'--net={NAMESPACE_PATH}', *command, **options)


def start_time(pid):
    """Clock ticks since boot at which the process started (proc(5), field 22), or None when it is gone or a zombie."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            fields = file.read().rsplit(')', 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == 'Z' else fields[19]


def remember(name, pid):
    """Write down a process by pid and start time, so that a reused pid is never taken for ours."""
    path = RUN / f'{name}.pid'
    path.with_suffix('.new').write_text(f'{pid} {start_time(pid)}')
    path.with_suffix('.new').rename(path)


def alive(name):
    """The pid of the remembered process while it runs, else 0."""
    try:
        pid, started = (RUN / f'{name}.pid').read_text().split()
    except (OSError, ValueError):
        return 0
    return int(pid) if start_time(pid) == started else 0


def crashed(name):
    """Whether the process was started, never ended by us, and is gone."""
    return not alive(name) and (RUN / f'{name}.pid').exists()


def wait_until(condition, seconds, step=0.02):
    """Poll; returns the condition's last value."""
    until = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < until:
        time.sleep(step)
    return value


def end(name, grace=0.0):
    """End the remembered process and forget it; wait up to `grace` seconds for it to end by itself."""
    wait_until(lambda: not alive(name), grace)
    if pid := alive(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(name), 5)
    (RUN / f'{name}.pid').unlink(missing_ok=True)


@contextlib.contextmanager
def lock():
    """Only one command at a time changes the lab; a second one waits and says so."""
    DIR.mkdir(parents=True, exist_ok=True)
    path = DIR / 'lock'
    while True:
        with open(path, 'w', encoding='utf-8') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print('waiting for another lab command ...', flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            if not path.exists() or os.fstat(file.fileno()).st_ino != path.stat().st_ino:
                continue  # `down` removed the file that we waited for
            yield
            return
