/** The rings of the tests, as globs: what `npm run test:unit`, `npm test` and `npm run test:all` run. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const named = (names: readonly string[]): string[] => names.map((name) => `test/${name}.test.ts`)

/** Pure tests, without processes, browsers and sockets. */
export const unit = ['test/unit/**/*.test.ts', 'test/unit/**/*.test.tsx']

/**
 * Flows that `npm test` runs besides `unit`: every operation, browser command and terminal command at least once, in
 * every location of an engine. `test/calls.test.ts` proves it.
 */
export const core = named([
  'clients/curl',
  'clients/firecrawl-jobs',
  'clients/firecrawl-v1',
  'clients/firecrawl-v2',
  'flow/cli',
  'flow/cli-doctor',
  'flow/cli-sessions',
  'flow/cli-provisioning',
  'flow/cli-engine',
  'flow/cli-server',
  'flow/code-cli',
  'flow/commands',
  'flow/completion',
  'flow/confirm-cli',
  'flow/cookies',
  'flow/credentials',
  'flow/crawl',
  'flow/crawl-async',
  'flow/demo',
  'flow/emulation',
  'flow/fleet/gateway',
  'flow/fleet/import',
  'flow/fleet/processes',
  'flow/front-door',
  'flow/history',
  'flow/input-events',
  'flow/isolation',
  'flow/keys',
  'flow/life',
  'flow/handoff',
  'flow/live-view',
  'flow/markdown-first',
  'flow/mcp',
  'flow/mcp-install',
  'flow/overlay',
  'flow/page-requests',
  'flow/read',
  'flow/read-page',
  'flow/record',
  'flow/replay',
  'flow/relay',
  'flow/relay-cli',
  'flow/request',
  'flow/routes',
  'flow/run',
  'flow/scrape',
  'flow/scrape-cli',
  'flow/screenshot',
  'flow/search-cli',
  'flow/serve',
  'flow/session-files',
  'flow/session-script',
  'flow/sessions',
  'flow/shell-cli',
  'flow/shell-files',
  'flow/skill',
  'flow/state',
  'flow/step',
  'flow/structured',
  'flow/uninstall',
  'flow/update',
  'flow/webstorage',
  'tui/terminal',
])

/** Files that need a process of their own: they replace modules, or act on all processes or errors of theirs. */
export const alone = named([
  'flow/children-killed',
  'flow/hostile-strings',
  'flow/hung-browser',
  'flow/hung-page',
  'flow/killed-anytime',
  'flow/recording-limits',
])

/** Files that keep all processors busy: beside others they take many times as long, and so do the others. */
export const busy = ['test/flow/hostile-page.test.ts', 'test/hostile/floods.test.ts']

/**
 * Files that change the network interfaces of the machine, after which Chromium closes all connections: they run after
 * all others.
 */
export const network = named([
  'flow/fleet/networks',
  'flow/fleet/scaler-docker',
  'flow/image',
  'flow/relay-far',
  'flow/shell-confinement',
])

/** Files that run once more against a gateway with two workers. */
export const onFleet = named([
  'clients/cdp',
  'clients/curl',
  'clients/firecrawl-changes',
  'clients/firecrawl-cli',
  'clients/firecrawl-jobs',
  'clients/firecrawl-reads',
  'clients/firecrawl-v1',
  'clients/firecrawl-v2',
  'clients/firecrawl-webhooks',
  'flow/cdp-isolation',
  'flow/cli-sessions',
  'flow/confirm',
  'flow/crawl',
  'flow/crawl-async',
  'flow/crawl-polled',
  'flow/crawl-since',
  'flow/default-session',
  'flow/diagnostics',
  'flow/downloads',
  'flow/ended-servers',
  'flow/ended-targets',
  'flow/front-door',
  'flow/handoff',
  'flow/handoff-endings',
  'flow/identity',
  'flow/identity-crawl',
  'flow/identity-saved',
  'flow/identity-secrets',
  'flow/isolation',
  'flow/mcp-http',
  'flow/mcp-identity',
  'flow/page-requests',
  'flow/path-tricks',
  'flow/quotas',
  'flow/read-proxies',
  'flow/request',
  'flow/session-cdp',
  'flow/session-files',
  'flow/session-scrape',
  'flow/sessions',
  'flow/shell-ended',
  'flow/tls-verification',
  'flow/upload',
])

/** Proof that `core` runs everything; runs after it. */
export const proof = ['test/calls.test.ts']

/** All tests. */
export const all = ['test/**/*.test.ts', 'test/**/*.test.tsx']

export const hasRedis = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'redis-server')))
