"""The SSH forwarder: 127.0.1.N:PORT on this machine to port 22 of each host in the lab's namespace.

It shows a client the host's state as nearly as a relay can. A host that does not run has no listener, so the
kernel refuses. A running host is accepted at once; the relay then tries to reach it for as long as a TCP client
would, so a host that is cut off is silence, and one whose sshd does not listen is a reset.
"""
import asyncio
import contextlib
import ctypes
import errno
import os
import socket
import struct
import subprocess
import sys

from .process import alive, end, remember, wait_until
from .settings import HOSTS, NAMESPACE_PATH, PORT, RUN, LabError, loopback

WATCH_SECONDS = 0.2
SILENCE_SECONDS = 60.0  # how long a connection to a host that is cut off stays open and silent
CLONE_NEWNET = 0x40000000
SERVED = RUN / 'forwarder.hosts'


def ensure():
    """Start the forwarder unless it runs and serves just these hosts."""
    wanted = f'{PORT} ' + ' '.join(f"{host}={spec['n']}={spec['address']}" for host, spec in HOSTS.items())
    if alive('forwarder') and SERVED.exists() and SERVED.read_text() == wanted:
        return
    end('forwarder')
    SERVED.write_text(wanted)
    command = [sys.executable, '-B', '-c', 'import sys; sys.path.insert(0, sys.argv[1]); from labkit import forwarder; forwarder.serve()',
               os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    with open(RUN / 'forwarder.log', 'ab') as log:
        process = subprocess.Popen(command, cwd='/', stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    remember('forwarder', process.pid)


def wait_listening(host, wanted, seconds=2.0):
    """Until the host's listener is there, or gone."""
    def listening():
        with socket.socket() as s:
            return s.connect_ex((loopback(host), PORT)) == 0
    if wait_until(lambda: listening() == wanted, seconds, 0.05) != wanted and wanted:
        raise LabError(f'the forwarder does not listen on {loopback(host)}:{PORT}, see {RUN}/forwarder.log')


def serve():
    """The forwarder's process."""
    asyncio.run(_Forwarder().run())


class _Forwarder:
    """Listens in the machine's namespace and connects from the lab's; a socket belongs where it was made."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)  # os.setns exists from Python 3.12 on
        self.outside = os.open('/proc/self/ns/net', os.O_RDONLY)
        self.inside = os.open(NAMESPACE_PATH, os.O_RDONLY)
        self.servers = {}
        self.connections = set()

    def _enter(self, namespace):
        if self.libc.setns(namespace, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), 'setns')

    def _inner_socket(self):
        self._enter(self.inside)
        try:
            inner = socket.socket()
        finally:
            self._enter(self.outside)
        inner.setblocking(False)
        return inner

    async def run(self):
        """Keep a listener for each host that runs."""
        while True:
            for host in HOSTS:
                running = bool(alive(host))
                if running and host not in self.servers:
                    with contextlib.suppress(OSError):  # somebody else's port for now: tried again
                        self.servers[host] = await self._listen(host)
                elif not running and host in self.servers:
                    self.servers.pop(host).close()
            await asyncio.sleep(WATCH_SECONDS)

    async def _listen(self, host):
        async def relay(reader, writer):
            task = asyncio.current_task()
            self.connections.add(task)  # asyncio keeps only weak references
            try:
                await self._relay(host, reader, writer)
            finally:
                self.connections.discard(task)
        return await asyncio.start_server(relay, loopback(host), PORT, backlog=128)

    async def _relay(self, host, reader, writer):
        inner = await self._reach(host)
        if inner is None:
            _reset(writer)
            return
        inner_reader, inner_writer = await asyncio.open_connection(sock=inner)
        for w in (writer, inner_writer):
            w.get_extra_info('socket').setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
        for w in (writer, inner_writer):
            w.close()

    async def _reach(self, host):
        """A connection to the host's sshd, or None when it refuses or stays unreachable for SILENCE_SECONDS.

        "No route to host" is what a failed neighbour lookup says on the same network; a client further away would
        see silence, so it is tried again like a lost packet.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + SILENCE_SECONDS
        while alive(host) and loop.time() < until:
            inner = self._inner_socket()
            try:
                await asyncio.wait_for(loop.sock_connect(inner, (HOSTS[host]['address'], 22)), until - loop.time())
                return inner
            except (OSError, asyncio.TimeoutError) as error:
                inner.close()
                if getattr(error, 'errno', None) == errno.ECONNREFUSED:
                    return None
                await asyncio.sleep(0.5)
        return None


async def _pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.transport.abort()  # one side was reset: so is the other


def _reset(writer):
    linger_zero = struct.pack('ii', 1, 0)  # close() then sends RST instead of FIN
    writer.get_extra_info('socket').setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_zero)
    writer.transport.abort()
