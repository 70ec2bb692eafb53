import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { inGateway, onSession } from '../../core/operation/placement.ts'
import { profileId, profileRecord } from '../../core/shapes/session.ts'
import { pageFailures, sessionId } from './sessions.ts'
import { displayName, uuidPattern } from '../../core/shapes/fields.ts'
import { samples } from '../samples.ts'

const one = z.object({ profile_id: profileId })

export const saveProfile = defineOperation({
  summary: 'Save cookies and storage as a profile',
  description: 'Cookies, local storage and IndexedDB; without session_id the profile is empty.',
  http: 'POST /profiles',
  scope: 'browser',
  runs: { ...onSession, absent: inGateway },
  cli: 'profile save <name>',
  example: ['bax profile save shop-login', 'bax profile save shop-login -s shop'],
  show: { as: 'field', field: 'profile_id' },
  usesDefaultSession: true,
  sample: { name: 'shop-login', ...samples.session },
  input: z.object({
    name: displayName
      .refine((name) => !uuidPattern.test(name), 'must not be a UUID, which is the form of profile ids')
      .describe('Name of the profile'),
    session_id: sessionId.optional().describe('Session to save'),
  }),
  output: profileRecord,
  errors: ['session_closed', 'already_exists', 'timeout', ...pageFailures],
  run: (engine, input, call) => engine.profiles.save(input, call),
})

export const listProfiles = defineOperation({
  summary: 'List saved profiles',
  http: 'GET /profiles',
  scope: 'browser',
  runs: inGateway,
  cli: 'profile list',
  example: ['bax profile list', 'bax profile list --json'],
  show: { as: 'table', items: 'profiles', columns: ['profile_id', 'name', 'cookies', 'bytes', 'updated_at'] },
  input: z.object({}),
  output: z.object({ profiles: z.array(profileRecord), total: z.int(), warning: z.string().optional() }),
  run: (engine, _input, call) => engine.profiles.list(call),
})

export const getProfile = defineOperation({
  summary: 'Show one profile',
  http: 'GET /profiles/{profile_id}',
  scope: 'browser',
  runs: inGateway,
  cli: 'profile show <profile_id>',
  example: ['bax profile show shop-login', 'bax profile show shop-login --json'],
  show: { as: 'record' },
  sample: samples.profile,
  input: one,
  output: profileRecord,
  errors: ['profile_not_found', 'conflict'],
  run: (engine, { profile_id }, call) => engine.profiles.get(profile_id, call),
})

export const deleteProfile = defineOperation({
  summary: 'Delete a profile',
  http: 'DELETE /profiles/{profile_id}',
  scope: 'browser',
  runs: inGateway,
  cli: 'profile delete <profile_id>',
  example: 'bax profile delete shop-login',
  sample: samples.profile,
  input: one,
  output: null,
  errors: ['profile_not_found', 'conflict'],
  run: (engine, { profile_id }, call) => engine.profiles.delete(profile_id, call),
})
