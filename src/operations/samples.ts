/** A sample input of every operation that has fields, used as examples in the documents; a test validates them. */
import type { operations, streams, transfers } from './index.ts'

type Name = keyof typeof operations | keyof typeof streams | keyof typeof transfers

const session = { session_id: 'ses_4cWm8rXbQ1kT9vZs' }
const shell = { session_id: 'sh_7pLd2nHyV5eKq0Ru' }
const sessionFile = { ...session, name: 'report.pdf' }
const approval = { ...session, approval_id: 'apr_Rk2vXe7uBn4sTq9L' }
const relay = { id: 'laptop' }
const crawled = { id: 'crl_b3TgJ6wYx9Nf1CzA' }
/** Crawl ID of the API compatible with Firecrawl v2. */
const crawledV2 = { id: '6f1a0d5c-2b9e-4c37-8d41-90e7b3a5f218' }
const listed = { urls: ['https://example.com', 'https://example.org'], formats: ['markdown'] }
const extracted = {
  urls: ['https://example.com'],
  schema: { type: 'object', properties: { title: { type: 'string' } } },
}
const exec = { exec_id: 'ex_Qm5sUoE8iPa2hGk4' }
const provision = { provision_id: 'prv_9vRk3dLtXw7bMq1Z' }
const profile = { profile_id: '5f0c8a4e-3b52-4d1b-9c7a-2f6e1d0b8a93' }
const artifact = { artifact_id: 'art_Yc6nBv0sKe8uWj2F' }

export const samples = {
  activateTarget: { ...relay, target_id: '5C1AF2D07B3E' },
  browserStep: { ...session, command: { command: 'click', data: { selector: 'ref=e12' } } },
  buildShellImage: { which: 'busybox' },
  approveAction: approval,
  batchScrape: listed,
  batchScrapeV2: listed,
  cancelBatch: crawled,
  cancelBatchV2: crawledV2,
  cancelCrawl: crawled,
  cancelCrawlV2: crawledV2,
  cancelProvision: provision,
  cdp: { ...session, method: 'Runtime.evaluate', params: { expression: '6 * 7' } },
  clearRelayEvents: relay,
  closeSession: session,
  copyShellFile: { ...shell, source: 'main.py', destination: 'backup.py' },
  crawl: { url: 'https://example.com', limit: 50, include_paths: ['/docs/**'], formats: ['markdown'] },
  crawlEvents: { ...crawled, since: 0 },
  crawlV2: { url: 'https://example.com', limit: 50 },
  createKey: { name: 'crawler', scopes: ['scrape'], expires: '30d' },
  createRelayToken: { name: 'laptop', ttl_secs: 3600, single_use: true },
  createSession: { start_url: 'https://example.com', viewport: { width: 1280, height: 720 } },
  createShell: { language: 'python', name: 'report', output_mounts: ['/output'] },
  deleteProfile: profile,
  deleteSessionFile: sessionFile,
  deleteShell: shell,
  deleteShellFile: { ...shell, path: 'build', recursive: true },
  downloadArtifact: { ...artifact, file_name: 'plot.png' },
  downloadSessionFile: sessionFile,
  downloadShellFile: { ...shell, path: '/output/plot.png' },
  drainWorker: { worker_id: 'wrk_8dKq2mVxT5nYb1Rj' },
  extract: extracted,
  extractV2: extracted,
  followRelayEvents: { ...relay, kind: ['console', 'network'] },
  followShellExec: exec,
  getArtifact: artifact,
  getBatch: { ...crawled, skip: 0, limit: 20 },
  getBatchErrors: crawled,
  getBatchErrorsV2: crawledV2,
  getBatchV2: crawledV2,
  getCrawl: { ...crawled, skip: 0, limit: 20 },
  getCrawlErrors: crawled,
  getCrawlErrorsV2: crawledV2,
  getCrawlV2: crawledV2,
  getExtract: crawled,
  getExtractV2: crawledV2,
  getProfile: profile,
  getProvision: provision,
  getRelay: relay,
  getSession: session,
  getSessionLog: session,
  getShell: shell,
  getShellExec: exec,
  killShell: shell,
  leaseSession: { ...session, grace_secs: 600 },
  leaseShell: { ...shell, grace_secs: 600 },
  linkLiveView: { ...session, control: true },
  listArtifacts: shell,
  listSessionFiles: session,
  listSessions: { status: 'ready' },
  listShellFiles: { ...shell, path: '/output' },
  listShells: { status: 'ready', limit: 20 },
  makeShellFolder: { ...shell, path: 'data/raw' },
  map: { url: 'https://example.com', limit: 1000 },
  mapV2: { url: 'https://example.com' },
  moveShellFile: { ...shell, source: 'draft.md', destination: '/output/report.md' },
  observe: { ...session, include: ['snapshot', 'tabs'] },
  pollProvision: provision,
  readRelayEvents: { ...relay, kind: ['network'], limit: 100 },
  readShellFile: { ...shell, path: 'report.txt' },
  recordSession: { ...session, action: 'start' },
  rejectAction: approval,
  resizeShellExec: { ...exec, cols: 120, rows: 40 },
  resumeCrawl: crawled,
  revokeKey: { key_id: 'key_W1aZr6pTi8hNc4Mx' },
  revokeRelayToken: { token_id: 'rtk_Lz4xDq9oMv7wCs1B' },
  runCommands: {
    ...session,
    commands: [{ command: 'navigate_to', data: { url: 'https://example.com' } }, { command: 'get_title' }],
  },
  saveProfile: { name: 'shop-login', ...session },
  scrape: { url: 'https://example.com', formats: ['markdown', 'links'] },
  scrapeV2: { url: 'https://example.com', formats: ['markdown'] },
  search: { query: 'how river deltas grow', limit: 3, formats: ['markdown'] },
  searchV2: { query: 'how river deltas grow', limit: 3 },
  searchShellFiles: { ...shell, pattern: '**/*.py', query: 'TODO' },
  sessionEvents: { ...session, types: ['page.navigated', 'console'] },
  shellExec: { ...shell, command: 'python3 -c "print(6 * 7)"' },
  shellExecStream: { ...shell, argv: ['ping', '-c', '3', 'localhost'] },
  shellFileInfo: { ...shell, path: 'data.csv', checksum: true },
  shellFileTree: { ...shell, max_depth: 2 },
  signalShellExec: { ...exec, signal: 'SIGINT' },
  stopRelay: relay,
  touchShell: { ...shell, timeout_secs: 3600 },
  traceSession: { ...session, action: 'start' },
  uploadSessionFile: sessionFile,
  uploadShellFile: { ...shell, path: 'data.csv', mode: '0644' },
  writeShellExec: { ...exec, data: 'yes\n' },
  writeShellFile: { ...shell, path: 'main.py', content: 'print(6 * 7)\n' },
} as const satisfies Partial<Record<Name, Record<string, unknown>>>
