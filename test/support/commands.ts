/** Tests of commands through the API, once per location: a site, a session, and helpers. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { elementTimeout } from '../../src/commands/fields.ts'
import { catalogue } from '../../src/commands/index.ts'
import type { Client } from './client.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { CommandResult, CommandsResult } from '../../src/core/shapes/commands.ts'
import { type HomeName, homeNames, type Homes, openHomes, usualHomes } from './homes.ts'
import { serveSite, type Site } from './site.ts'

type Data = Record<string, unknown>
type Step = readonly [command: string, data?: Data]

export interface Given {
  /** Returns the URL of a path of the fixture site. */
  url(path: string): string
  readonly site: () => Site
  readonly homes: () => Homes
  /** The client of this location. */
  readonly client: () => Client
  readonly transport: () => Transport
  sessionId(): string
  /** Replaces the session by a new one, for tests of state that a session keeps. */
  restart(): Promise<void>
  /** Opens a path of the fixture site. */
  open(path: string): Promise<void>
  /** Runs one command that must succeed; returns its `data`. */
  do(command: string, data?: Data): Promise<Data>
  /** Returns the value of an extraction that must succeed. */
  value(command: string, data?: Data): Promise<unknown>
  /** Returns the value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>
  /** Runs one command that must fail; returns its entry. */
  fails(command: string, data?: Data): Promise<CommandResult>
  run(steps: readonly Step[], options?: Data): Promise<CommandsResult>
}

type Pages = Parameters<typeof serveSite>[0]

/** Timeout for the element of a command that must succeed, in milliseconds: a busy machine needs many times what an idle one does. */
const patientMs = 60_000

/** Returns the data of a command with this timeout, unless it has one or takes none. */
const patiently = (command: string, data?: Data): Data | undefined =>
  (catalogue.get(command)?.data as { shape?: Data } | undefined)?.shape?.['timeout_ms'] === elementTimeout
    ? { timeout_ms: patientMs, ...data }
    : data

/** Runs tests of commands that behave the same in every location, usually in one of them. */
export const inUsualHomes = (pages: Pages, tests: (given: Given) => void): void => inEveryHome(pages, tests, usualHomes)

/** Runs the same tests in all three locations of an engine, or in some of them. */
export function inEveryHome(pages: Pages, tests: (given: Given) => void, names: readonly HomeName[] = homeNames): void {
  describe.each(names)('%s', (home) => {
    let site: Site
    let homes: Homes
    let session: string
    const createSession = async () => {
      session = (await homes.clients[home].createSession({ headless: true })).session_id!
    }
    beforeAll(async () => {
      ;[site, homes] = await Promise.all([serveSite(pages), openHomes()])
      await createSession()
    })
    afterAll(async () => {
      await homes?.close()
      await site?.close()
    })

    const run: Given['run'] = (steps, options = {}) =>
      homes.clients[home].runCommands({
        session_id: session,
        commands: steps.map(([command, data]) => ({ command, ...(data && { data }) })),
        ...options,
      })
    const one = async (command: string, data?: Data) => (await run([[command, data]])).results[0]!
    const done = async (command: string, data?: Data) => {
      const result = await one(command, patiently(command, data))
      expect(result, `${command}: ${result.error}`).toMatchObject({ success: true, command, index: 0 })
      return result.data ?? {}
    }
    const value: Given['value'] = async (command, data) => ((await done(command, data))['result'] as Data)['value']
    tests({
      url: (path) => site.url + path,
      site: () => site,
      homes: () => homes,
      client: () => homes.clients[home],
      transport: () => homes.transports[home],
      sessionId: () => session,
      restart: async () => {
        await homes.clients[home].closeSession({ session_id: session })
        await createSession()
      },
      open: async (path) => void (await done('navigate_to', { url: site.url + path })),
      do: done,
      value,
      evaluate: (expression) => value('evaluate', { expression }),
      fails: async (command, data) => {
        const result = await one(command, data)
        expect(result).toMatchObject({ success: false, command, error: expect.any(String), code: expect.any(String) })
        return result
      },
      run,
    })
  })
}
