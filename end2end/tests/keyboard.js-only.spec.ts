import { expect, ready, signIn, test } from './support';

test('the keyboard reaches the content first and shows where it is', async ({ page }, info) => {
  await signIn(page);
  await page.goto('/');
  await ready(page, info);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('#main')).toBeFocused();
});

test('going to another page without a load moves the focus to the content', async ({ page }, info) => {
  await signIn(page);
  await ready(page, info);
  await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible();
  await expect(page.locator('#main')).toBeFocused();
  await expect(page.getByRole('link', { name: 'Sessions', exact: true }).first()).toHaveAttribute('aria-current', 'page');
});
