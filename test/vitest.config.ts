import { defineConfig } from 'vitest/config'
import { viteInlinePage } from '../scripts/inline-page.js'
import { SkipReasons } from './support/skip-reasons.ts'

export default defineConfig({
  plugins: [viteInlinePage],
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: ['test/bench/**'],
    reporters: ['default', new SkipReasons()],
    globalSetup: ['test/support/build-once.ts'],
    testTimeout: 60_000,
    // One file builds the program, others wait for it: test/support/build-once.ts.
    hookTimeout: 240_000,
    // Two cores and a browser in most files: more workers only wait for each other.
    maxWorkers: 2,
    // A machine of CI is shared: a browser that it starved gets a second try there, and the report says that it took two.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
  },
})
