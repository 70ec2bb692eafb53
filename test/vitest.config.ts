import { defineConfig } from 'vitest/config'
import { viteInlinePage } from '../scripts/inline-page.js'
import { SkipReasons } from './support/skip-reasons.ts'

const unit = ['test/unit/**/*.test.ts', 'test/unit/**/*.test.tsx']

export default defineConfig({
  plugins: [viteInlinePage],
  test: {
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
    projects: [
      // Unit tests load many of the same modules, which files that share a process load once.
      { extends: true, test: { name: 'unit', include: unit, isolate: false } },
      {
        extends: true,
        test: {
          name: 'flow',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: [...unit, 'test/bench/**', '**/node_modules/**'],
        },
      },
    ],
  },
})
