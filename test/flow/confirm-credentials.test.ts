/** Uses of credentials that wait for a person (`--confirm credential`). */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { waitingApproval, waitingApprovals } from '../support/approvals.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { account, loginPages } from '../support/login-site.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let session_id = ''

beforeAll(async () => {
  ;[homes, site] = await Promise.all([openHomes(), serveSite(loginPages)])
  await homes.clients.http.addCredential({ name: 'ann', origins: [site.url], ...account, passkey: true })
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})
beforeEach(async () => {
  const start_url = `${site.url}/plain`
  session_id = (await homes.clients.http.createSession({ headless: true, confirm: ['credential'], start_url }))
    .session_id!
})

const client = () => homes.clients.http
const run = async (command: string, data: Record<string, unknown>): Promise<CommandResult> =>
  (await client().runCommands({ session_id, commands: [{ command, data }] })).results[0]!
const password = () => run('get_value', { selector: '[name=pw]' })

test.each([
  ['login', { credential: 'ann' }, 'ann'],
  ['fill', { selector: '[name=pw]', credential: 'ann.password' }, 'ann.password'],
  ['use_passkey', { credential: 'ann' }, 'passkeys of ann'],
])('%s waits once, and goes on after a yes', async (command, data, summary) => {
  const running = run(command, data)
  const approval = await waitingApproval(client())
  expect(approval).toMatchObject({ kind: 'credential', command, summary, url: `${site.url}/plain` })
  await client().approveAction({ session_id, approval_id: approval.approval_id })
  expect(await running).toMatchObject({ success: true, command })
  expect(await waitingApprovals(client())).toEqual([])
})

test('nothing is written after a no', async () => {
  const running = run('fill', { selector: '[name=pw]', credential: 'ann.password' })
  const { approval_id } = await waitingApproval(client())
  await client().rejectAction({ session_id, approval_id })
  expect(await running).toMatchObject({ success: false, code: 'rejected' })
  expect(await password()).toMatchObject({ data: { result: { value: '' } } })
})

test('passkeys of a profile are not used before a yes', async () => {
  const plain = await client().createSession({ headless: true, start_url: `${site.url}/plain` })
  const commands = [{ command: 'use_passkey', data: { credential: 'ann' } }]
  expect(await client().runCommands({ session_id: plain.session_id!, commands })).toMatchObject({ success: true })
  const { profile_id } = await client().saveProfile({ name: 'ann', session_id: plain.session_id! })
  const { warning } = await client().createSession({ headless: true, profile_id, confirm: ['credential'] })
  expect(warning).toBe('the profile has passkeys, whose use needs an approval: use_passkey ann')
})

test('texts of the caller and other kinds do not wait', async () => {
  expect(await run('fill', { selector: '[name=pw]', text: 'own text' })).toMatchObject({ success: true })
  expect(await password()).toMatchObject({ data: { result: { value: 'own text' } } })
  expect(await run('evaluate', { expression: '1 + 1' })).toMatchObject({ success: true })
})
