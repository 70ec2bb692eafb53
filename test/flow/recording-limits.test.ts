/** Limits of recordings: their longest time, and the number of videos. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { call } from '../../src/client/client.ts'
import type { SessionFileList } from '../../src/core/shapes/session-files.ts'
import { type Homes, openHomes } from '../support/homes.ts'

/** Longest time of a recording, in milliseconds. */
const longest = vi.hoisted(() => ({ ms: 60_000 }))

vi.mock('../../src/core/limits/recording.ts', async (original) => {
  const { recordingLimits, ...rest } = await original<typeof import('../../src/core/limits/recording.ts')>()
  const changed = {
    get maxMs() {
      return longest.ms
    },
    videos: 1,
  }
  return {
    ...rest,
    recordingLimits: Object.defineProperties({ ...recordingLimits }, Object.getOwnPropertyDescriptors(changed)),
  }
})

let homes: Homes
beforeAll(async () => (homes = await openHomes({ writeAnywhere: false })))
afterAll(() => homes?.close())

const client = () => homes.clients.http
const create = async () => (await client().createSession({ start_url: 'data:text/html,<h1>Shown' })).session_id!
const run = async (session_id: string, command: string) =>
  (await client().runCommands({ session_id, commands: [{ command }] })).results[0]!
const namesIn = async (session_id: string) =>
  (
    (await call(homes.transports.http, 'GET /sessions/{session_id}/files', { session_id })) as SessionFileList
  ).files.map(({ name }) => name)

test('a video that has reached its longest time is stored, and counts only once', async () => {
  const [first, second, third] = await Promise.all([create(), create(), create()])
  longest.ms = 700
  expect(await run(first, 'start_video')).toMatchObject({ success: true })
  await expect.poll(() => namesIn(first)).toEqual(['video.webm'])
  // The next one must not end before the third one is refused.
  longest.ms = 60_000
  await client().closeSession({ session_id: first })
  expect(await run(second, 'start_video')).toMatchObject({ success: true })
  expect(await run(third, 'start_video')).toMatchObject({ success: false, code: 'no_capacity' })
  expect(await run(second, 'stop_video')).toMatchObject({ success: true })
})
