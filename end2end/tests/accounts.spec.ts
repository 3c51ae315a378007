import { accept, admin, expect, haveHost, invite, password, ready, signIn, signInAnew, test, unique } from './support';

test('nobody sees a page without signing in, and comes back to it afterwards', async ({ page }) => {
  await page.goto('/hosts');
  await expect(page).toHaveURL(/\/sign-in\?next=\/hosts/);
  await page.getByLabel('Name').fill(admin);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(/\/hosts$/);
  await expect(page.getByRole('heading', { level: 1, name: 'Hosts' })).toBeVisible();
});

test('a wrong password is refused beside its field and the name stays', async ({ page }) => {
  await page.goto('/sign-in?next=/sessions');
  await page.getByLabel('Name').fill(admin);
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: /\S/ }).first()).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue(admin);
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue('');
  // Where it was to lead is not forgotten.
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(/\/sessions$/);
});

test('signing out ends the sign-in', async ({ page }) => {
  await signInAnew(page);
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await page.goto('/sessions');
  await expect(page).toHaveURL(/\/sign-in/);
});

test.describe('pages that are refused', () => {
  test.use({ expected: ['403', '404', '409'] });

  test('a viewer reads and is told why everything else is off', async ({ page, newPage }, info) => {
    await signIn(page);
    const host = await haveHost(page, info, 'pve1');
    const link = await invite(page, 'viewer');

    const viewer = await newPage();
    const name = unique(info, 'vera');
    await accept(viewer, link, name);
    await expect(viewer.getByTestId('me')).toHaveText(`${name} (viewer)`);
    await expect(viewer.getByRole('link', { name: 'People' })).toHaveCount(0);

    await viewer.goto('/hosts');
    await expect(viewer.getByText('Only an admin can add hosts.')).toBeVisible();
    await viewer.getByRole('link', { name: host, exact: true }).click();
    await expect(viewer.getByRole('heading', { level: 1, name: host })).toBeVisible();
    await expect(viewer.getByRole('button', { name: 'Look again' })).toBeDisabled();
    await expect(viewer.getByText('Needs the role operator.').first()).toBeVisible();
    await expect(viewer.getByText('Remove this host')).toHaveCount(0);

    await viewer.goto('/hosts/new');
    await expect(viewer.getByText(/Only an admin can add hosts/)).toBeVisible();
    const people = await viewer.goto('/people');
    expect(people?.status()).toBe(403);
    await expect(viewer.getByText(/needs the role “admin”/)).toBeVisible();
  });

  test('an operator runs checks and does not manage people or hosts', async ({ page, newPage }, info) => {
    await signIn(page);
    const host = await haveHost(page, info, 'pve1');
    const link = await invite(page, 'operator');

    const operator = await newPage();
    const name = unique(info, 'otto');
    await accept(operator, link, name);
    await expect(operator.getByTestId('me')).toHaveText(`${name} (operator)`);
    await operator.goto('/hosts');
    await expect(operator.getByRole('link', { name: 'Add a host' })).toHaveCount(0);
    await operator.getByRole('link', { name: host, exact: true }).click();
    await expect(operator.getByRole('button', { name: 'Look again' })).toBeEnabled();
    const people = await operator.goto('/people');
    expect(people?.status()).toBe(403);
  });

  test('a used link and a made-up one lead nowhere', async ({ page, newPage }, info) => {
    await signIn(page);
    const link = await invite(page, 'viewer');
    const first = await newPage();
    await accept(first, link, unique(info, 'used'));
    await expect(first.getByTestId('me')).toBeVisible();
    const second = await newPage();
    for (const path of [link, '/invitation/made-up']) {
      const response = await second.goto(path);
      expect([404, 409], path).toContain(response?.status());
      await expect(second.getByRole('alert').filter({ hasText: /link/i })).toBeVisible();
      await expect(second.getByLabel('Password', { exact: true })).toHaveCount(0);
    }
  });

  test('addresses that lead nowhere say so with 404', async ({ page }) => {
    await signIn(page);
    const nothing = '00000000-0000-0000-0000-000000000000';
    for (const path of ['/nowhere', `/hosts/${nothing}`, '/hosts/x', `/runs/${nothing}`, `/sessions/${nothing}`, '/sessions/new?symptom=none']) {
      const response = await page.goto(path);
      expect(response?.status(), path).toBe(404);
      await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
    }
  });
});

test('an admin changes a role and removes an account', async ({ page, newPage }, info) => {
  await signIn(page);
  const link = await invite(page, 'viewer');
  const name = unique(info, 'rolf');
  const other = await newPage();
  await accept(other, link, name);
  await expect(other.getByTestId('me')).toHaveText(`${name} (viewer)`);

  await page.goto('/people');
  await ready(page, info);
  const row = page.getByRole('row', { name: new RegExp(name) });
  await row.getByLabel(`Role of ${name}`).selectOption('operator');
  await row.getByRole('button', { name: 'Change' }).click();
  await expect(async () => {
    await other.goto('/');
    await expect(other.getByTestId('me')).toHaveText(`${name} (operator)`, { timeout: 1_000 });
  }).toPass({ timeout: 20_000 });

  await page.goto('/people');
  await ready(page, info);
  await row.getByText('Remove', { exact: true }).click();
  await row.getByRole('button', { name: `Remove ${name}` }).click();
  await expect(row).toHaveCount(0);
  await other.goto('/sessions');
  await expect(other).toHaveURL(/\/sign-in/);
});
