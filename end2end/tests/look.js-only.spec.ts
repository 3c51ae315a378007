import { accessible, diagnose, conclusion, expect, fits, haveHost, ready, signIn, test, withFault } from './support';

test('pages with data have no serious findings of axe and do not scroll sideways', async ({ page }, info) => {
  await page.goto('/sign-in');
  await ready(page, info);
  await accessible(page);
  await fits(page);

  await page.setViewportSize({ width: 1440, height: 900 });
  await signIn(page);
  const host = await haveHost(page, info, 'pve2');
  const hostUrl = page.url();
  await page.getByRole('button', { name: /^Run Links and addresses/i }).click();
  await expect(page.getByTestId('run-state')).toContainText('done');
  const runUrl = page.url();
  let sessionUrl = '';
  await withFault('missing-gateway', async () => {
    await diagnose(page, host, /CT 122/, '203.0.113.20');
    await expect(conclusion(page)).toContainText('Cause found', { timeout: 120_000 });
    sessionUrl = page.url();
  });

  const size = info.project.use.viewport;
  if (size) await page.setViewportSize(size);
  for (const path of ['/', '/hosts', '/hosts/new', hostUrl, runUrl, '/sessions', sessionUrl, '/people']) {
    await page.goto(path);
    await ready(page, info);
    for (const summary of await page.locator('main details > summary').all()) {
      if (await summary.isVisible()) await summary.click();
    }
    await test.step(path, async () => {
      await accessible(page);
      await fits(page);
    });
  }
});
