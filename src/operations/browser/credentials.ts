import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { inGateway } from '../../core/operation/placement.ts'
import {
  credentialInput,
  credentialName,
  credentialKinds,
  credentialRecord,
  credentialSecrets,
} from '../../core/access/credentials.ts'
import { samples } from '../samples.ts'

const name = credentialName.describe('Name of the credential')

export const addCredential = defineOperation({
  summary: 'Store a credential for log-ins',
  description:
    'Commands write its values into pages of its origins, with `credential` in place of a text. No operation returns them.',
  http: 'POST /credentials',
  scope: 'browser',
  runs: inGateway,
  sample: { ...samples.credential, origins: ['https://shop.example'], username: 'ann', password: 'correct horse' },
  input: credentialInput,
  output: credentialRecord,
  errors: ['already_exists', 'credential_locked', 'feature_disabled'],
  run: (engine, input, { caller }) => engine.credentials.add(input, caller),
})

export const listCredentials = defineOperation({
  summary: 'List credentials without their secrets',
  http: 'GET /credentials',
  scope: 'browser',
  runs: inGateway,
  cli: 'credential list',
  example: ['bax credential list', 'bax credential list --json'],
  show: { as: 'table', items: 'credentials', columns: ['name', 'origins', 'parts', 'updated_at'] },
  input: z.object({}),
  output: z.object({ credentials: z.array(credentialRecord), total: z.int(), warning: z.string().optional() }),
  errors: ['credential_locked', 'feature_disabled'],
  run: async (engine, _input, { caller }) => {
    let warning: string | undefined
    const credentials = await engine.credentials.list(caller, (unreadable) => (warning = unreadable))
    return { credentials, total: credentials.length, ...(warning && { warning }) }
  },
})

export const rotateCredential = defineOperation({
  summary: 'Replace secrets of a credential',
  description: 'Values that are not given stay as they are.',
  http: 'POST /credentials/{name}/rotate',
  scope: 'browser',
  runs: inGateway,
  sample: { ...samples.credential, password: 'battery staple' },
  input: credentialSecrets
    .extend({ name })
    .refine(
      (given) => credentialKinds.some((part) => given[part] !== undefined),
      'needs a username, password, totp or passkey',
    ),
  output: credentialRecord,
  errors: ['credential_not_found', 'credential_locked', 'feature_disabled'],
  run: (engine, { name, ...secrets }, { caller }) => engine.credentials.rotate(name, secrets, caller),
})

export const deleteCredential = defineOperation({
  summary: 'Delete a credential',
  http: 'DELETE /credentials/{name}',
  scope: 'browser',
  runs: inGateway,
  cli: 'credential delete <name>',
  example: 'bax credential delete shop',
  sample: samples.credential,
  input: z.object({ name }),
  output: null,
  errors: ['credential_not_found', 'feature_disabled'],
  run: (engine, { name }, { caller }) => engine.credentials.delete(name, caller),
})
