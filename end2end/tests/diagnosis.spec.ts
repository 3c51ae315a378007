import { conclusion, diagnose, expect, haveHost, noBeyond, signIn, symptom, test, unique, invite, accept, withFault } from './support';

// An address beyond the guest's subnet, which only the lab's own namespace knows.
const beyond = '203.0.113.20';

test.beforeEach(async ({ page }) => signIn(page));

test('a missing gateway is named with the deciding line', async ({ page }, info) => {
  const host = await haveHost(page, info, 'pve2');
  await withFault('missing-gateway', async () => {
    await diagnose(page, host, /CT 122/, beyond);
    await expect(conclusion(page)).toContainText('Cause found', { timeout: 120_000 });
    await expect(conclusion(page)).toContainText(/no default route/i);
    await expect(conclusion(page)).toContainText('CT 122');
    await expect(conclusion(page)).toContainText('What to do');
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await expect(evidence.locator('mark').first()).toBeVisible();
    await expect(page.getByRole('navigation', { name: 'Path taken' })).toContainText('said marta');
  });
  // What was read and said stays as it was, though the fault is gone.
  const address = page.url();
  await page.goto('/sessions');
  await expect(page.getByRole('link', { name: noBeyond }).first()).toBeVisible();
  await page.goto(address);
  await expect(conclusion(page)).toContainText(/no default route/i);
});

test('in a healthy network no fault is found, and what was checked is listed', async ({ page }, info) => {
  const host = await haveHost(page, info, 'pve2');
  await diagnose(page, host, /CT 122/, beyond);
  await expect(conclusion(page)).toContainText('No fault found', { timeout: 120_000 });
  await expect(conclusion(page)).toContainText('What was checked');
  await expect(conclusion(page)).toContainText('Not looked at');
  await expect(page.getByText('Cause found')).toHaveCount(0);
});

test('a gateway that does not answer is named', async ({ page }, info) => {
  const host = await haveHost(page, info, 'pve2');
  await withFault('gateway-dead', async () => {
    await diagnose(page, host, /CT 122/, beyond);
    await expect(conclusion(page)).toContainText('Cause found', { timeout: 120_000 });
    await expect(conclusion(page)).toContainText(/gateway/i);
    await expect(conclusion(page)).toContainText('10.10.10.1');
  });
});

test('with the hypervisor cut off it says what could not run and names no cause', async ({ page }, info) => {
  const host = await haveHost(page, info, 'pve2');
  await withFault('pve2-cut-off', async () => {
    await diagnose(page, host, /CT 122/, beyond);
    await expect(conclusion(page)).toContainText('Inconclusive', { timeout: 150_000 });
    await expect(conclusion(page)).toContainText('No cause can be named');
    await expect(conclusion(page)).toContainText(/no connection/i);
    await expect(page.getByText('Cause found')).toHaveCount(0);
    await expect(page.getByText('No fault found')).toHaveCount(0);
  });
});

test('not knowing is an answer', async ({ page }, info) => {
  const host = await haveHost(page, info, 'pve2');
  await diagnose(page, host, /CT 122/, undefined);
  await expect(conclusion(page)).toBeVisible({ timeout: 120_000 });
  await expect(page.getByRole('navigation', { name: 'Path taken' })).toContainText(/said marta/);
});

test('a teammate sees the session live and a viewer is told why it waits', async ({ page, newPage }, info) => {
  const host = await haveHost(page, info, 'pve2');
  const link = await invite(page, 'viewer');
  const mate = await newPage();
  await accept(mate, link, unique(info, 'mate'));
  await expect(mate.getByTestId('me')).toBeVisible();

  await page.goto('/');
  await symptom(page).click();
  await page.getByRole('region', { name: `Guests of ${host}`, exact: true }).getByRole('radio', { name: /CT 122/ }).check();
  await page.getByRole('button', { name: 'Begin' }).click();
  await expect(page.getByText('waits for an answer').first()).toBeVisible();

  await mate.goto(page.url());
  await expect(mate.getByText('Only an operator or an admin can answer.')).toBeVisible();
  await expect(mate.getByRole('button', { name: 'I don’t know' })).toHaveCount(0);

  await page.getByRole('button', { name: 'I don’t know' }).click();
  await expect(conclusion(page)).toBeVisible({ timeout: 120_000 });
  // A page that waits for a person does not reload itself: without JavaScript the teammate does.
  if (info.project.use.javaScriptEnabled === false) await mate.reload();
  await expect(conclusion(mate)).toBeVisible();
});
