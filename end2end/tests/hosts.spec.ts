import { addresses, confirmKey, enterHost, expect, hostStatus, haveHost, onHost, ready, signIn, test, unique, withFault, withScript } from './support';

test.beforeEach(async ({ page }) => signIn(page));

test('a host is added, its key compared and confirmed, and what it is and runs is listed', async ({ page }, info) => {
  const name = unique(info, 'added');
  await enterHost(page, { name, address: addresses.pve2 });
  await expect(hostStatus(page)).toContainText('host-key-unknown');
  await expect(page.getByRole('heading', { name: `Is this really ${name}?` })).toBeVisible();
  const fingerprint = onHost('pve2', 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub').split(' ')[1];
  await expect(page.getByText(fingerprint).first()).toBeVisible();
  await expect(page.getByText('Nothing was sent to it.')).toBeVisible();

  await confirmKey(page);
  await expect(hostStatus(page)).toContainText('connected');
  await expect(page.getByRole('region', { name: 'What it is', exact: true })).toContainText('Proxmox VE');
  await expect(page.getByRole('region', { name: 'Guests', exact: true })).toContainText('CT 122');

  await page.goto('/hosts');
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText('connected');

  await row.getByRole('link', { name }).click();
  await ready(page, info);
  await page.getByText('Remove this host').click();
  await page.getByLabel(`Yes, remove ${name} from Hopwise.`).check();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Hosts' })).toBeVisible();
  await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0);
});

test.describe('refused forms', () => {
  test.use({ expected: ['422'] });

  test('a form that cannot be used comes back with the reason and what was entered', async ({ page }, info) => {
    const name = unique(info, 'wrong');
    await page.goto('/hosts/new');
    await ready(page, info);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Address').fill('127.0.1.1');
    await page.getByLabel('Port').fill('99999');
    await page.getByLabel('Path of the private key').fill('/etc/key');
    await page.getByRole('button', { name: 'Add and look at it' }).click();
    const reason = page.getByText('A port is a number from 1 to 65535.');
    await expect(reason).toBeVisible();
    await expect(page.getByLabel('Port')).toHaveAccessibleDescription(/A port is a number/);
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue(name);
    await expect(page.getByLabel('Address')).toHaveValue('127.0.1.1');
    await expect(page.getByLabel('Path of the private key')).toHaveValue('/etc/key');
    if (withScript(info)) await expect(page.getByLabel('Port')).toBeFocused();
  });
});

for (const [what, entry, status, words] of [
  ['a port where nothing listens', { address: addresses.dc, port: '2999' }, 'refused', 'nothing listens there'],
  ['a name without an address', { address: 'no-such-host.invalid' }, 'resolve-failed', 'has no address'],
] as const) {
  test(`${what} is ${status}`, async ({ page }, info) => {
    await enterHost(page, { name: unique(info, status), ...entry });
    await expect(hostStatus(page)).toContainText(status);
    await expect(page.getByText(words)).toBeVisible();
  });
}

test('a login that the host refuses is auth-failed', async ({ page }, info) => {
  await enterHost(page, { name: unique(info, 'refused-login'), address: addresses.dc, user: 'nobody' });
  await confirmKey(page);
  await expect(hostStatus(page)).toContainText('auth-failed');
  await expect(page.getByText(/authorized_keys/)).toBeVisible();
});

test('a key file that is not there is credential-unusable', async ({ page }, info) => {
  await enterHost(page, { name: unique(info, 'no-key'), address: addresses.dc, key: '/nowhere/id_ed25519' });
  await expect(hostStatus(page)).toContainText(/credential-unusable|host-key-unknown/);
  if (/host-key-unknown/.test(await hostStatus(page).innerText())) await confirmKey(page);
  await expect(hostStatus(page)).toContainText('credential-unusable');
});

test('a host that is cut off is timeout', async ({ page }, info) => {
  const name = await haveHost(page, info, 'pve2');
  await withFault('pve2-cut-off', async () => {
    await page.getByRole('button', { name: 'Look again' }).click();
    await expect(hostStatus(page)).toContainText('timeout', { timeout: 90_000 });
    await expect(page.getByText(/No answer within/).first()).toBeVisible();
    await page.goto('/');
    await expect(page.getByRole('region', { name: 'Hosts' }).getByRole('listitem').filter({ hasText: name })).toContainText('timeout');
  });
  await page.goto('/hosts');
  await page.getByRole('link', { name, exact: true }).click();
  await ready(page, info);
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(hostStatus(page)).toContainText('connected', { timeout: 90_000 });
});

test('a changed key is refused, both are shown, and an admin replaces it deliberately', async ({ page }, info) => {
  const name = await haveHost(page, info, 'router');
  const key = '/etc/ssh/ssh_host_ed25519_key';
  const print = `ssh-keygen -lf ${key}.pub`;
  // A connection that stands keeps working with the key it began with: it is ended, once this login is over.
  const restart = `systemctl restart ssh && { setsid sh -c 'sleep 1; pkill -f "^sshd-session: root"' >/dev/null 2>&1 </dev/null & }`;
  const before = onHost('router', print).split(' ')[1];
  const changed = `mv ${key} ${key}.before && mv ${key}.pub ${key}.pub.before && ssh-keygen -q -t ed25519 -N "" -f ${key} && ${print}`;
  const after = onHost('router', `${changed} && ${restart}`).split(' ')[1];
  try {
    await expect(async () => {
      await page.getByRole('button', { name: 'Look again' }).click();
      await expect(hostStatus(page)).toContainText('host-key-changed', { timeout: 6_000 });
    }).toPass();
    await expect(page.getByRole('heading', { name: `${name} shows another key than the one confirmed` })).toBeVisible();
    const panel = page.getByRole('region', { name: /shows another key/ });
    await expect(panel.getByText(before)).toBeVisible();
    await expect(panel.getByText(after)).toBeVisible();
    await ready(page, info);
    await page.getByLabel('The two fingerprints are the same.').check();
    await page.getByLabel(/I know why the key changed/).check();
    await page.getByRole('button', { name: 'Replace the key' }).click();
    await expect(hostStatus(page)).toContainText('connected');
  } finally {
    // The lab's own client trusts the first key: it is put back.
    onHost('router', `mv ${key}.before ${key} && mv ${key}.pub.before ${key}.pub && ${restart}`);
  }
});

test('a check runs live, its facts are a table, its raw output one click away', async ({ page }, info) => {
  await haveHost(page, info, 'pve1');
  await ready(page, info);
  await page.getByRole('button', { name: /^Run Links and addresses/i }).click();
  await expect(page).toHaveURL(/\/runs\//);
  await expect(page.getByTestId('run-state')).toContainText('done');
  const table = page.getByRole('table').filter({ hasText: 'vmbr1' }).first();
  await expect(table.getByRole('columnheader', { name: 'addresses' })).toBeVisible();
  await expect(table).toContainText('203.0.113.11/24');
  await expect(page.getByRole('table').filter({ hasText: 'PVID' })).toContainText('veth121i0');
  const raw = page.getByText('Raw output').first();
  await raw.click();
  await expect(page.getByRole('region', { name: /^Raw output/ }).first()).toContainText('"ifname"');
  // It is kept.
  await page.reload();
  await expect(page.getByTestId('run-state')).toContainText('done');
});

test('a host without bridge says so and the rest of the check is there', async ({ page }, info) => {
  const name = await haveHost(page, info, 'dc');
  const away = 'b=$(readlink -f "$(command -v bridge)"); mv "$b" "$b.away"';
  onHost('dc', away);
  try {
    await page.getByRole('button', { name: 'Look again' }).click();
    await expect(page.getByRole('region', { name: 'What it is', exact: true })).toContainText(/bridge\s*missing/);
    await ready(page, info);
    await page.getByRole('button', { name: /^Run Links and addresses/i }).click();
    await expect(page.getByTestId('run-state')).toContainText('not all of it could run');
    await expect(page.getByText('bridge is not installed on the host')).toBeVisible();
    await expect(page.getByRole('table').first()).toContainText('203.0.113.20/24');
    await page.goto('/hosts');
    await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('missing bridge');
  } finally {
    onHost('dc', 'for b in /usr/sbin/bridge /sbin/bridge /usr/bin/bridge /bin/bridge; do [ ! -e "$b.away" ] || mv "$b.away" "$b"; done; command -v bridge');
  }
});

test('what a hostile host prints is shown and does nothing', async ({ page }, info) => {
  page.on('dialog', (dialog) => {
    throw new Error(`the page opened a dialog: ${dialog.message()}`);
  });
  await haveHost(page, info, 'dc');
  const script = [
    '#!/bin/sh',
    String.raw`printf '\033[2J\033]0;owned\007<img src=x onerror=alert(1)><script>alert(2)</script>\000\377\342\200\256\n'`,
    'yes 0123456789abcdef | head -c 100000000',
    '',
  ].join('\n');
  onHost('dc', `b=$(readlink -f "$(command -v bridge)"); mv "$b" "$b.away"; echo ${Buffer.from(script).toString('base64')} | base64 -d > "$b"; chmod 755 "$b"`);
  try {
    await ready(page, info);
    await page.getByRole('button', { name: /^Run Links and addresses/i }).click();
    await expect(page.getByTestId('run-state')).toContainText('not all of it could run');
    const bridge = page.getByRole('article').filter({ hasText: 'bridge' });
    await expect(bridge.getByText(/not run: truncated/)).toBeVisible();
    await bridge.getByText('Raw output').click();
    const raw = bridge.getByRole('region', { name: /^Raw output/ });
    await expect(raw).toContainText(String.raw`\u{1b}[2J\u{1b}]0;owned\u{7}<img src=x onerror=alert(1)><script>alert(2)</script>\u{0}\xff\u{202e}`);
    await expect(page.getByText(/^Shown: the first/)).toBeVisible();
    await expect(page.getByRole('table').first()).toContainText('203.0.113.20/24');
  } finally {
    onHost('dc', 'for b in /usr/sbin/bridge /sbin/bridge /usr/bin/bridge /bin/bridge; do [ ! -e "$b.away" ] || mv -f "$b.away" "$b"; done; command -v bridge');
  }
});

test('a page of a host that somebody else removes says so', async ({ page, newPage }, info) => {
  const name = unique(info, 'goes');
  await enterHost(page, { name, address: addresses.dc, port: '2999' });
  await expect(hostStatus(page)).toContainText('refused');
  const other = await newPage();
  await signIn(other);
  await other.goto(page.url());
  await ready(other, info);
  await other.getByText('Remove this host').click();
  await other.getByLabel(`Yes, remove ${name} from Hopwise.`).check();
  await other.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(other.getByRole('heading', { level: 1, name: 'Hosts' })).toBeVisible();
  // Without JavaScript a page that is open knows nothing until it is asked for again.
  if (withScript(info)) await expect(page.getByText('This was removed meanwhile.')).toBeVisible();
});
