import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { viteInlinePage } from '../scripts/inline-page.js'
import { all, alone, busy, core, hasRedis, network, onFleet, proof, unit } from './rings.ts'
import { SkipReasons } from './support/skip-reasons.ts'

type Options = NonNullable<TestProjectInlineConfiguration['test']>

const project = (name: string, include: string[], options: Options = {}): TestProjectInlineConfiguration => ({
  extends: true,
  // Files that share a process load its modules once, which takes seconds.
  test: { name, include, isolate: false, ...options },
})

const records = { setupFiles: ['test/support/record-calls.ts'] }

export default defineConfig({
  plugins: [viteInlinePage],
  test: {
    reporters: ['default', new SkipReasons(hasRedis ? [] : ['the project fleet: redis-server is not installed'])],
    globalSetup: ['test/support/build-once.ts'],
    // For tests that hang: a busy machine needs many times what an idle one does. `waitUntil` ends earlier, with its condition.
    testTimeout: 240_000,
    // As `waitUntil`.
    expect: { poll: { timeout: 180_000 } },
    // One file builds the program, others wait for it: test/support/build-once.ts.
    hookTimeout: 240_000,
    // Flows mostly wait for browsers and processes: one more file than cores keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    pool: 'forks',
    projects: [
      project('alone', alone, { isolate: true }),
      project('unit', unit),
      project('core', core, records),
      project('flow', all, {
        exclude: [...unit, ...core, ...alone, ...busy, ...network, ...proof, '**/node_modules/**'],
      }),
      ...(hasRedis ? [project('fleet', onFleet, { env: { BAX_TEST_FLEET: '1' } })] : []),
      project('proof', proof, { sequence: { groupOrder: 1 } }),
      project('busy', busy, { sequence: { groupOrder: 2 } }),
      project('network', network, { sequence: { groupOrder: 3 } }),
    ],
  },
})
