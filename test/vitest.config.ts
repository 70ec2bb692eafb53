import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { viteInlinePage } from '../scripts/inline-page.js'
import { SkipReasons } from './support/skip-reasons.ts'

const unit = ['test/unit/**/*.test.ts', 'test/unit/**/*.test.tsx']

/** Files that need a process of their own: they replace modules, or act on all processes or errors of theirs. */
const alone = [
  'children-killed',
  'killed-anytime',
  'hostile-strings',
  'hung-browser',
  'hung-page',
  'recording-limits',
].map((name) => `test/flow/${name}.test.ts`)

const hasRedis = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'redis-server')))

/** Files that run once more against a gateway with two workers. */
const onFleet = [
  'clients/cdp', 'clients/curl', 'clients/firecrawl-changes', 'clients/firecrawl-cli', 'clients/firecrawl-jobs',
  'clients/firecrawl-v1', 'clients/firecrawl-v2', 'flow/cdp-isolation', 'flow/cli-sessions', 'flow/confirm',
  'flow/crawl', 'flow/crawl-async', 'flow/crawl-since', 'flow/default-session', 'flow/diagnostics', 'flow/downloads',
  'flow/front-door', 'flow/isolation', 'flow/mcp-http', 'flow/page-requests', 'flow/path-tricks', 'flow/quotas',
  'flow/session-cdp', 'flow/session-files', 'flow/sessions', 'flow/upload',
].map((name) => `test/${name}.test.ts`) // prettier-ignore

export default defineConfig({
  plugins: [viteInlinePage],
  test: {
    reporters: ['default', new SkipReasons(hasRedis ? [] : ['the project fleet: redis-server is not installed'])],
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
      { extends: true, test: { name: 'alone', include: alone } },
      // Files that share a process load its modules once, which takes seconds.
      { extends: true, test: { name: 'unit', include: unit, isolate: false } },
      {
        extends: true,
        test: {
          name: 'flow',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: [...unit, ...alone, 'test/bench/**', '**/node_modules/**'],
          isolate: false,
        },
      },
      ...(hasRedis
        ? [
            {
              extends: true as const,
              test: { name: 'fleet', include: onFleet, isolate: false, env: { BAX_TEST_FLEET: '1' } },
            },
          ]
        : []),
    ],
  },
})
