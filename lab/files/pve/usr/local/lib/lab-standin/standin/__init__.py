"""STAND-IN, not Proxmox VE. Reads and writes Proxmox's own files (/etc/pve/lxc/ID.conf, /etc/pve/firewall/ID.fw)
and applies them to the same kernel objects Proxmox makes: veth<id>i<n> on a bridge with a VLAN, htb and police,
nftables bridge rules. Texts and formats follow Proxmox's public sources; they were not compared with a real node.

    config      container and VM configuration files
    container   start, stop, set: a systemd unit whose main process owns the namespaces
    network     veth, bridge port, VLAN, rate limit, addresses
    firewall    the guest firewall: the part of proxmox-firewall the lab needs
    commands    pct, qm, pvesh, pveversion, pve-firewall
"""
