import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect, type Browser, type BrowserContext, type Locator, type Page, type TestInfo } from '@playwright/test';

/** What the environment must say; a test without it fails, it is never skipped. */
export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run end2end/run.sh`);
  return value;
}

export const password = 'correct horse battery staple';
export const admin = 'marta';
const labKey = () => {
  const key = join(need('HOPWISE_LAB_DIR'), 'key');
  if (!existsSync(key)) throw new Error(`${key} does not exist: is the lab up?`);
  return key;
};
export const labPort = process.env.LAB_SSH_PORT ?? '2222';
/** The hosts of the lab by name: 127.0.1.N. */
export const addresses = { pve1: '127.0.1.1', pve2: '127.0.1.2', router: '127.0.1.3', dc: '127.0.1.4' } as const;
export type LabHost = keyof typeof addresses;

/** Runs the lab's program and gives what it printed. */
export function lab(...args: string[]): string {
  return execFileSync(need('HOPWISE_LAB'), args, {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, LAB_DIR: need('HOPWISE_LAB_DIR') },
  });
}

/** Runs a shell line on a host of the lab, whatever key the host shows just now. */
export function onHost(host: LabHost, line: string): string {
  const options = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'];
  const config = join(need('HOPWISE_LAB_DIR'), 'ssh_config');
  return execFileSync('ssh', ['-F', config, ...options, host, line], { encoding: 'utf8', timeout: 60_000 });
}

/** Makes a fault for the time of `body`, then undoes it, whatever happens. */
export async function withFault(name: string, body: () => Promise<void>): Promise<void> {
  lab('fault', name);
  try {
    await body();
  } finally {
    lab('clear', name);
  }
}

/** Fails the test on anything that a person would see in the browser's console. */
export function watch(page: Page, problems: string[], script: boolean): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || (message.type() === 'warning' && /hydrat|leptos/i.test(message.text()))) {
      problems.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // Leaving a page ends its event stream and what it was loading.
    if (why === 'net::ERR_ABORTED') return;
    // Without JavaScript the browser refuses the hint that preloads the program.
    if (!script && /\/pkg\/[^/]*\.js$/.test(request.url())) return;
    problems.push(`request failed: ${request.url()} ${why}`);
  });
}

type Fixtures = {
  /** Parts of console messages that this test provokes on purpose, such as `401`. */
  expected: string[];
  newPage: (storage?: string) => Promise<Page>;
};

export const test = base.extend<Fixtures>({
  expected: [[], { option: true }],
  page: async ({ page, expected }, use, info) => {
    const problems: string[] = [];
    watch(page, problems, withScript(info));
    await use(page);
    expect(problems.filter((p) => !expected.some((e) => p.includes(e))), 'problems in the browser').toEqual([]);
  },
  newPage: async ({ browser, expected }, use, info) => {
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    await use(async (storageState?: string) => {
      const context = await newContext(browser, info, storageState);
      contexts.push(context);
      const page = await context.newPage();
      watch(page, problems, withScript(info));
      return page;
    });
    for (const context of contexts) await context.close();
    expect(problems.filter((p) => !expected.some((e) => p.includes(e))), 'problems in another browser').toEqual([]);
  },
});
export { expect };

function newContext(browser: Browser, info: TestInfo, storageState?: string): Promise<BrowserContext> {
  const { baseURL, javaScriptEnabled, viewport, colorScheme } = info.project.use;
  return browser.newContext({ baseURL, javaScriptEnabled, viewport, colorScheme, storageState, ignoreHTTPSErrors: true });
}

export const withScript = (info: TestInfo): boolean => info.project.use.javaScriptEnabled !== false;

/** A name of its own for each project and test run, so that projects do not meet each other's data. */
export const unique = (info: TestInfo, name: string): string => `${name}-${info.project.name}`;

/** Waits until the page's program has taken over, where there is one: before that a form would be sent plainly. */
export async function ready(page: Page, info: TestInfo): Promise<void> {
  await page.waitForLoadState('load');
  if (withScript(info)) await page.locator('html[data-ready]').waitFor({ state: 'attached' });
}

/** Signs the admin in by the form. */
export async function signInAnew(page: Page): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('Name').fill(admin);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByTestId('me')).toContainText(admin);
}

/** Is the admin: with the sign-in of an earlier test, because the server limits how often a name is tried. */
export async function signIn(page: Page): Promise<void> {
  const kept = need('HOPWISE_E2E_COOKIES');
  if (!existsSync(kept)) {
    await signInAnew(page);
    writeFileSync(kept, JSON.stringify(await page.context().cookies()), { mode: 0o600 });
    return;
  }
  await page.context().addCookies(JSON.parse(readFileSync(kept, 'utf8')));
  await page.goto('/');
  await expect(page.getByTestId('me')).toContainText(admin);
}

/** Makes an account through a one-time link and ends up signed in. */
export async function accept(page: Page, link: string, name: string, secret = password): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole('heading', { name: 'Make your account' })).toBeVisible();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByLabel('Password again').fill(secret);
  await page.getByRole('button', { name: 'Make the account' }).click();
}

/** Makes an invitation as the signed-in admin and gives its path. */
export async function invite(page: Page, role: 'viewer' | 'operator' | 'admin', site = ''): Promise<string> {
  await page.goto(`${site}/people`);
  const section = page.getByRole('region', { name: 'Invite somebody' });
  await section.getByLabel('Role').selectOption(role);
  await section.getByRole('button', { name: 'Make a link' }).click();
  const link = page.getByTestId('invitation');
  await expect(link).toBeVisible();
  return (await link.getAttribute('href')) ?? '';
}

export type HostEntry = { name: string; address: string; port?: string; user?: string; key?: string };

/** Fills in and sends the form of a new host; does not wait for what comes of it. */
export async function enterHost(page: Page, host: HostEntry): Promise<void> {
  await page.goto('/hosts/new');
  await page.getByLabel('Name', { exact: true }).fill(host.name);
  await page.getByLabel('Address').fill(host.address);
  await page.getByLabel('Port').fill(host.port ?? labPort);
  await page.getByLabel('User').fill(host.user ?? 'root');
  await page.getByLabel('a private key in a file on this server').check();
  await page.getByLabel('Path of the private key').fill(host.key ?? labKey());
  await page.getByRole('button', { name: 'Add and look at it' }).click();
  await expect(page.getByRole('heading', { level: 1, name: host.name })).toBeVisible();
}

export const hostStatus = (page: Page): Locator => page.getByTestId('host-status');

/** Confirms the key that the host's page shows. */
export async function confirmKey(page: Page): Promise<void> {
  await expect(page.getByText('The two fingerprints are the same.')).toBeVisible();
  await page.getByLabel('The two fingerprints are the same.').check();
  await page.getByRole('button', { name: 'Confirm and connect' }).click();
}

/** Adds a host of the lab, unless this project has it already, and waits until it is connected. */
export async function haveHost(page: Page, info: TestInfo, host: LabHost): Promise<string> {
  const name = unique(info, host);
  await page.goto('/hosts');
  const link = page.getByRole('link', { name, exact: true });
  if (await link.count()) {
    await link.first().click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    if (!/connected/.test(await hostStatus(page).innerText())) {
      await page.getByRole('button', { name: 'Look again' }).click();
    }
  } else {
    await enterHost(page, { name, address: addresses[host] });
    await expect(hostStatus(page)).toContainText('host-key-unknown');
    await confirmKey(page);
  }
  await expect(hostStatus(page)).toContainText('connected');
  return name;
}

export const noBeyond = 'The local subnet works, nothing beyond it';
/** The symptom's card, whose name goes on with its summary; a session's link is the title alone. */
export const symptom = (page: Page): Locator => page.getByRole('link', { name: new RegExp(`^${noBeyond}\\s*\\S`) });

/** Begins the main job for a guest of one host and answers its question. */
export async function diagnose(page: Page, hostName: string, guest: RegExp, answer: string | undefined): Promise<void> {
  await page.goto('/');
  await symptom(page).click();
  const choice = page.getByRole('region', { name: `Guests of ${hostName}`, exact: true });
  await choice.getByRole('radio', { name: guest }).check();
  await page.getByRole('button', { name: 'Begin' }).click();
  await expect(page.getByRole('heading', { level: 1, name: noBeyond })).toBeVisible();
  await expect(page.getByText('waits for an answer').first()).toBeVisible();
  if (answer === undefined) {
    await page.getByRole('button', { name: 'I don’t know' }).click();
    return;
  }
  const field = page.getByLabel('Your answer');
  if (await field.count()) {
    await field.fill(answer);
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
  } else {
    await page.getByRole('button', { name: answer }).click();
  }
}

export const conclusion = (page: Page): Locator => page.getByTestId('conclusion');

/** Serious and critical findings of axe on the page as it stands. */
export async function accessible(page: Page): Promise<void> {
  await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  const found = await page.evaluate(async () => {
    type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };
    const axe = (window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }).axe;
    const { violations } = await axe.run();
    return violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join(' | ')}`);
  });
  expect(found, 'serious or critical findings of axe').toEqual([]);
}

/** The page itself does not scroll sideways. */
export async function fits(page: Page): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over, 'pixels that the page is too wide').toBeLessThanOrEqual(0);
}
