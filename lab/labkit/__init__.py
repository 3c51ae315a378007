"""The lab: hosts, switches, faults and the SSH forwarder. `settings` is the bottom, `cli` the top.

    settings   paths, environment, topology.toml
    process    commands, remembered processes, the lock
    preflight  what the machine must offer, as one-line errors
    rootfs     the shared root file system, built once
    switch     the lab's namespace, bridges, taps and cables
    host       one host: disk, boot, management console, readiness
    forwarder  127.0.1.N:PORT to each host's sshd
    faults     faults.toml: inject, clear, observe
    lifecycle  up, down, reboot, kill
    report     status
    cli        the commands
"""
