/** All kinds of state files: stores use them for reading and writing, and `bax doctor` for checking whole folders. */
import type { StateKind } from './state-record.ts'

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'string?' | 'any'

/** Creates a check for the fields that readers rely on. */
const has =
  (fields: Readonly<Record<string, FieldType>>) =>
  (value: object): boolean =>
    Object.entries(fields).every(([name, type]) => isOf(type, (value as Record<string, unknown>)[name]))

function isOf(type: FieldType, value: unknown): boolean {
  if (type === 'any') return value !== undefined
  if (type === 'array') return Array.isArray(value)
  if (type === 'string?') return value === null || typeof value === 'string'
  return typeof value === type && value !== null
}

const isProfile = has({ profile_id: 'string', name: 'string', created_at: 'string', state: 'object' })
const isSealed = has({ sealed: 'string', salt: 'string', iv: 'string', tag: 'string', data: 'string' })
const isKey = has({
  key_id: 'string',
  name: 'any',
  scopes: 'array',
  created_at: 'string',
  sha256: 'string',
  expires_at: 'string?',
  revoked_at: 'string?',
})
const isSha256 = (text: unknown): boolean => /^[0-9a-f]{64}$/.test(String(text))

export const stateKinds = {
  profile: {
    name: 'saved profile',
    files: /^profiles\/[\w-]+\.json$/,
    code: 'profile_not_found',
    isContent: (value) =>
      isSealed(value) ||
      (isProfile(value) && has({ cookies: 'array', origins: 'array' })((value as { state: object }).state)),
  },
  credential: {
    name: 'stored credential',
    files: /^credentials\/[0-9a-f]{64}\.json$/,
    code: 'credential_not_found',
    isContent: (value) => isSealed(value),
  },
  key: {
    name: 'key file',
    files: /^keys\/[\w-]+\.json$/,
    code: 'key_not_found',
    isContent: (value) => isKey(value) && isSha256((value as { sha256: unknown }).sha256),
  },
  relayTokens: {
    name: 'file of relay tokens',
    files: /^relay-tokens\.json$/,
    // Earlier versions wrote only the list.
    isContent: (value) => Array.isArray(value) || has({ tokens: 'array' })(value),
  },
  tombstones: {
    name: 'list of ended sessions',
    files: /^(?:sessions|shell-sessions)\/[\w-]+\.ndjson$/,
    lines: true,
    isContent: (value) => has({ pid: 'number' })(value) || has({ session: 'object' })(value),
  },
  crawlRequest: {
    name: 'request of a crawl',
    files: /^crawls\/crl_[\w-]+\/request\.json$/,
    code: 'crawl_not_found',
    isContent: has({ input: 'object', created_at: 'string' }),
  },
  crawlJournal: {
    name: 'journal of a crawl',
    files: /^crawls\/crl_[\w-]+\/journal\.ndjson$/,
    lines: true,
    isContent: has({ seq: 'number', ts: 'string', type: 'string', data: 'object' }),
  },
  crawlPages: {
    name: 'pages of a crawl',
    files: /^crawls\/crl_[\w-]+\/pages\.ndjson$/,
    lines: true,
    isContent: has({ url: 'string', depth: 'number', page: 'object' }),
  },
  crawlOutput: {
    name: 'output folder of a crawl',
    files: /^crawls\/crl_[\w-]+\/output\.json$/,
    isContent: has({ folder: 'string' }),
  },
  crawlFolder: {
    name: 'crawl of a folder',
    files: /^crawl-folders\/[\da-f]{32}\.json$/,
    isContent: has({ folder: 'string', id: 'string' }),
  },
  pageVersion: {
    name: 'version of a page',
    files: /^versions\/[\da-f]{32}\/[\da-f]{64}\.json$/,
    isContent: has({ at: 'string', status: 'number', markdown: 'string' }),
  },
  artifactSession: {
    name: 'session of artifacts',
    files: /^artifacts\/sh_[\w-]+\/session\.json$/,
    code: 'artifact_not_found',
    isContent: has({ session_id: 'string', ends_by: 'string', stopped_at: 'string?' }),
  },
  artifact: {
    name: 'artifact',
    files: /^artifacts\/sh_[\w-]+\/\d+-art_[\w-]+\.json$/,
    code: 'artifact_not_found',
    isContent: has({ id: 'string', session_id: 'string', files: 'array' }),
  },
  chosenSession: {
    name: 'choice of `bax session use`',
    files: /^session\.json$/,
    isContent: has({ session_id: 'string', home: 'string' }),
  },
  engine: {
    name: 'state of the local engine',
    files: /^engine\.json$/,
    isContent: has({ pid: 'number', version: 'string', socket: 'string' }),
  },
} as const satisfies Record<string, StateKind>

/** Files of plain text. */
export const textKinds = {
  identityKey: { name: 'key of stored identities', files: /^identity\.key$/, isContent: isSha256 },
  vaultKey: { name: 'key of stored credentials', files: /^vault\.key$/, isContent: isSha256 },
  lockKey: { name: 'key of the lock', files: /^engine\.key$/, isContent: isSha256 },
  shellEngine: {
    name: 'id of the shell engine',
    files: /^shell-engine-id$/,
    isContent: (text: string) => /^[0-9a-f]{24}\s*$/.test(text),
  },
}
