import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { profileRecord } from '../../core/shapes/session.ts'
import { sessionId } from './sessions.ts'
import { displayName } from '../../core/shapes/fields.ts'

const one = z.object({ profile_id: z.uuid().describe('Profile id') })

export const saveProfile = defineOperation({
  summary: 'Save cookies and storage as a profile',
  description: 'Cookies, local storage and IndexedDB; without session_id the profile is empty.',
  http: 'POST /profiles',
  scope: 'browser',
  cli: 'profile save <name>',
  example: 'bax profile save shop-login -s shop',
  show: { as: 'field', field: 'profile_id' },
  input: z.object({
    name: displayName.describe('Name of the profile'),
    session_id: sessionId.optional().describe('Session to save'),
  }),
  output: profileRecord,
  errors: ['session_not_found', 'session_closed', 'already_exists'],
  run: (engine, input, call) => engine.profiles.save(input, call),
})

export const listProfiles = defineOperation({
  summary: 'List saved profiles',
  http: 'GET /profiles',
  scope: 'browser',
  cli: 'profile list',
  example: 'bax profile list',
  show: { as: 'table', items: 'profiles', columns: ['profile_id', 'name', 'cookies', 'bytes', 'updated_at'] },
  input: z.object({}),
  output: z.object({ profiles: z.array(profileRecord), total: z.int(), warning: z.string().optional() }),
  run: (engine, _input, call) => engine.profiles.list(call),
})

export const getProfile = defineOperation({
  summary: 'Show one profile',
  http: 'GET /profiles/{profile_id}',
  scope: 'browser',
  cli: 'profile show <profile_id>',
  example: 'bax profile show 5f0c…',
  show: { as: 'record' },
  input: one,
  output: profileRecord,
  errors: ['profile_not_found'],
  run: (engine, { profile_id }, call) => engine.profiles.get(profile_id, call),
})

export const deleteProfile = defineOperation({
  summary: 'Delete a profile',
  http: 'DELETE /profiles/{profile_id}',
  scope: 'browser',
  cli: 'profile delete <profile_id>',
  example: 'bax profile delete 5f0c…',
  input: one,
  output: null,
  errors: ['profile_not_found'],
  run: (engine, { profile_id }, call) => engine.profiles.delete(profile_id, call),
})
