import { z } from 'zod'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { keyInput, createdKey, keyRecord } from '../core/shapes/keys.ts'
import { identifier } from '../core/shapes/fields.ts'

export const createKey = defineOperation({
  summary: 'Create an API key for bax serve',
  description:
    'The key is shown only once. Once a key has been created, every call over a network requires one; what a key ' +
    'creates is invisible to all others. Takes effect immediately on a server that uses the same state folder.',
  http: 'POST /v1/keys',
  scope: 'admin',
  runs: inGateway,
  cli: 'key create <name>',
  example: ['bax key create laptop', 'bax key create ci --scopes scrape,browser --expires 30d'],
  show: { as: 'field', field: 'key' },
  sample: { name: 'crawler', scopes: ['scrape'], expires: '30d' },
  input: keyInput,
  output: createdKey,
  run: (engine, input) => engine.keys.create(input),
})

export const listKeys = defineOperation({
  summary: 'List API keys without their secrets',
  http: 'GET /v1/keys',
  scope: 'admin',
  runs: inGateway,
  cli: 'key list',
  example: ['bax key list', 'bax key list --json'],
  show: {
    as: 'table',
    items: 'keys',
    columns: ['key_id', 'name', 'status', 'scopes', 'created_at', 'expires_at', 'last_used_at'],
  },
  input: z.object({}),
  output: z.object({ keys: z.array(keyRecord), total: z.int(), warning: z.string().optional() }),
  run: async (engine) => {
    const keys = await engine.keys.list()
    const warning = engine.keys.warning()
    return { keys, total: keys.length, ...(warning !== undefined && { warning }) }
  },
})

export const revokeKey = defineOperation({
  summary: 'Revoke an API key immediately and permanently',
  description: 'Its resources remain available to callers with the scope admin.',
  http: 'DELETE /v1/keys/{key_id}',
  scope: 'admin',
  runs: inGateway,
  cli: 'key revoke <key_id>',
  example: ['bax key revoke ci', 'bax key revoke key_…'],
  show: { as: 'nothing' },
  sample: { key_id: 'key_W1aZr6pTi8hNc4Mx' },
  input: z.object({ key_id: identifier.describe('Key ID, or a name used by a single key') }),
  output: keyRecord,
  errors: ['key_not_found', 'conflict'],
  run: (engine, { key_id }) => engine.keys.revoke(key_id),
})
