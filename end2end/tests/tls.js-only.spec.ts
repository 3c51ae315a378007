import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accept, expect, invite, need, ready, test } from './support';

/** A server of this test's own, with a database of its own; ended whatever happens. */
async function withServer(args: string[], body: (said: (words: RegExp) => Promise<string>) => Promise<void>): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'hopwise-tls.'));
  chmodSync(state, 0o711);
  const child = spawn(need('HOPWISE_BIN'), ['serve', '--state', state, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  try {
    await body(async (words) => {
      await expect.poll(() => out, { timeout: 60_000 }).toMatch(words);
      return words.exec(out)?.[1] ?? '';
    });
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(state, { recursive: true });
  }
}

test('beyond loopback there is no plain HTTP, and with TLS a teammate signs in', async ({ page, newPage }, info) => {
  const refused = spawnSync(need('HOPWISE_BIN'), ['serve', '--listen', '0.0.0.0:0', '--state', '/nowhere'], { encoding: 'utf8' });
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toMatch(/--tls/);

  await withServer(['--listen', '0.0.0.0:0', '--tls'], async (said) => {
    const port = await said(/Listening on https:\/\/[^\s]*:(\d+)/);
    expect(await said(/(SHA-?256[^\n]*)/i)).toMatch(/([0-9A-F]{2}:){31}[0-9A-F]{2}/i);
    const here = `https://127.0.0.1:${port}`;
    const first = await said(/Sign in: https:\/\/[^\s/]*(\/\S+)/);
    await accept(page, here + first, 'ada');
    await expect(page.getByTestId('me')).toHaveText('ada (admin)');
    await ready(page, info);
    const cookies = await page.context().cookies(here);
    expect(cookies.map((c) => [c.name.startsWith('__Host-'), c.secure, c.httpOnly])).toEqual([[true, true, true]]);

    const link = await invite(page, 'viewer', here);
    const mate = await newPage();
    await accept(mate, here + link, 'bea');
    await expect(mate.getByTestId('me')).toHaveText('bea (viewer)');
    await mate.goto(`${here}/hosts`);
    await expect(mate.getByText('Only an admin can add hosts.')).toBeVisible();
  });
});
