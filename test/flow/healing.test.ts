/** Forty changes of a page: a script still finds its elements, heals, or fails, but never uses another element. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Change, changedPage, changes, targets } from '../support/changed-pages.ts'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let folder: ScriptFolder
/** The element that was clicked in each changed page. */
const clicked = new Map<number, string>()

beforeAll(async () => {
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
  const pages = changes.map((_, number) => [`/change/${number}`, changedPage(number)] as const)
  site = await serveSite({
    '/original': changedPage(-1),
    ...Object.fromEntries(pages),
    '/clicked': (request, response) => {
      const { searchParams } = new URL(request.url!, site.url)
      clicked.set(Number(searchParams.get('change')), searchParams.get('real')!)
      response.end()
    },
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await folder.close()
})

const cli = (argv: readonly string[]) =>
  bax(argv, { cwd: folder.path, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir } })

/** Returns the step for each target, as a session has recorded it. */
async function recordedSteps(): Promise<Map<string, string>> {
  const { session_id } = await homes.clients.http.createSession({ headless: true })
  const clicks = targets.map((real) => command('click', { selector: `[data-real=${real}] >> nth=0` }))
  const commands = [command('navigate_to', { url: `${site.url}/original` }), ...clicks]
  expect(await homes.clients.http.runCommands({ session_id: session_id!, commands })).toMatchObject({ success: true })
  const { script } = await homes.clients.http.getSessionScript({ session_id: session_id! })
  const steps = script.split(/^ {2}(?=- )/m).slice(2)
  expect(steps).toHaveLength(targets.length)
  return new Map(targets.map((real, at) => [real, steps[at]!.trimEnd()]))
}

interface Report {
  readonly scripts: readonly {
    readonly file: string
    readonly status: string
    readonly steps: readonly { readonly note?: string }[]
  }[]
}

interface Outcome extends Pick<Change, 'kind' | 'what' | 'target'> {
  readonly outcome: 'unaffected' | 'healed' | 'failed' | 'wrong element'
}

function outcomeOf(number: number, passed: boolean, wasHealed: boolean): Outcome['outcome'] {
  const real = clicked.get(number)
  if (!passed && real === undefined) return 'failed'
  if (real !== changes[number]!.target) return 'wrong element'
  return wasHealed ? 'healed' : 'unaffected'
}

describe('forty changes of a page', () => {
  test('are healed or fail, and never lead to another element, as the guide says', async () => {
    expect(changes).toHaveLength(40)
    const steps = await recordedSteps()
    const outcomes: Outcome[] = []
    for (const [number, { target }] of changes.entries()) {
      const step = `${steps.get(target)!}\n    timeout_ms: 8000`
      await folder.write(`change-${number}.yaml`, `steps:\n  - navigate_to: ${site.url}/change/${number}\n  ${step}\n`)
    }
    const { stdout } = await cli(['run', 'change-*.yaml', '--parallel', '4', '--reporter', 'json'])
    const { scripts } = JSON.parse(stdout) as Report
    for (const [number, { kind, target, what }] of changes.entries()) {
      const { status, steps: done } = scripts.find(({ file }) => file === `change-${number}.yaml`)!
      if (status === 'passed') await expect.poll(() => clicked.has(number)).toBe(true)
      const wasHealed = done.some(({ note }) => note?.includes('same fingerprint'))
      outcomes.push({ kind, what, target, outcome: outcomeOf(number, status === 'passed', wasHealed) })
    }
    expect(outcomes.filter(({ outcome }) => outcome === 'wrong element')).toEqual([])
    const guide = await readFile(join(import.meta.dirname, '../../src/guide/recording.md'), 'utf8')
    for (const kind of new Set(changes.map((one) => one.kind))) {
      const own = outcomes.filter((one) => one.kind === kind)
      const count = (name: Outcome['outcome']) => own.filter(({ outcome }) => outcome === name).length
      const row = `| ${kind} | ${own.length} | ${count('unaffected')} | ${count('healed')} | ${count('failed')} | 0 |`
      expect(guide).toContain(row)
    }
  })
})
