import { defineConfig, devices } from '@playwright/test';

const url = process.env.HOPWISE_URL;
if (!url) throw new Error('HOPWISE_URL is not set: run end2end/run.sh, which starts a server');

// One worker: the lab has one state, and a fault made by one test is seen by all.
export default defineConfig({
  testDir: 'tests',
  workers: 1,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  timeout: 180_000,
  expect: { timeout: 45_000 },
  reporter: [['list'], ['html', { open: 'never', outputFolder: 'playwright-report' }]],
  outputDir: 'test-results',
  use: {
    ...devices['Desktop Chrome'],
    channel: undefined,
    baseURL: url,
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    ignoreHTTPSErrors: true,
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    timezoneId: 'America/New_York',
    viewport: { width: 1440, height: 900 },
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
  },
  projects: [
    { name: 'first', testMatch: 'first.setup.ts' },
    { name: 'js', testMatch: '*.spec.ts', dependencies: ['first'] },
    { name: 'nojs', testMatch: '*.spec.ts', testIgnore: '*.js-only.spec.ts', dependencies: ['first'], use: { javaScriptEnabled: false } },
    {
      name: 'phone',
      testMatch: 'look.js-only.spec.ts',
      dependencies: ['first'],
      use: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    },
    { name: 'dark', testMatch: 'look.js-only.spec.ts', dependencies: ['first'], use: { colorScheme: 'dark' } },
  ],
});
