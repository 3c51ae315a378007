import { accept, admin, expect, password, test } from './support';

test('the first link makes the first admin', async ({ page }) => {
  const link = process.env.HOPWISE_SIGN_IN_LINK;
  if (!link) throw new Error('HOPWISE_SIGN_IN_LINK is not set: run end2end/run.sh');
  await page.goto(link);
  await expect(page.getByText('This link makes one account with the role admin')).toBeVisible();
  await page.getByLabel('Name').fill(admin);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Password again').fill(`${password} not`);
  await page.getByRole('button', { name: 'Make the account' }).click();
  await expect(page.getByText('The two passwords differ.')).toBeVisible();
  // The name is still there; the passwords are not.
  await expect(page.getByLabel('Name')).toHaveValue(admin);
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue('');

  await accept(page, link, admin);
  await expect(page.getByTestId('me')).toHaveText(`${admin} (admin)`);
  await expect(page.getByRole('heading', { name: 'What is going wrong?' })).toBeVisible();
});
