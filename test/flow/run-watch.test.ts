/** `bax run --watch` and `--headed`. */
import { writeFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { CliResult } from '../support/cli.ts'
import { scriptsOnServer } from '../support/scripts.ts'

const given = scriptsOnServer()
const { page, run } = given

const script = (title: string) =>
  `${page(`<title>${title}</title>`)}steps:\n  - get_title:\n    expect: {equals: ${title}}\n`

const waiting = 'waiting for changes of the scripts; press ^C to end\n'

/** Changes a script in one go: the watcher, which is in this process, never sees it empty. */
const change = (name: string, text: string) => writeFileSync(join(given.folder.path, name), text)

interface Watching {
  /** Resolves with everything printed since the last call, once the scripts have run. */
  nextRun(): Promise<string>
  /** Resolves once the text has been printed. */
  until(text: string): Promise<string>
  /** Sends ^C; resolves with the result of the command. */
  interrupt(): Promise<CliResult>
}

let started: Watching | undefined
afterEach(async () => void (await started?.interrupt()))

/** Starts `bax run --watch`. */
function watch(...argv: readonly string[]): Watching {
  const interrupt = new AbortController()
  let printed = ''
  let check = () => {}
  const onOutput = (text: string) => {
    printed += text
    check()
  }
  const ended = run([...argv, '--watch'], { signal: interrupt.signal, onOutput, onError: onOutput })
  const until = (text: string) => {
    const found = new Promise<string>((resolve) => {
      check = () => {
        if (!printed.includes(text)) return
        resolve(printed)
        printed = ''
        check = () => {}
      }
      check()
    })
    const early = ended.then(({ code }) => `ended with ${code}: ${printed}`)
    return Promise.race([found, early])
  }
  started = {
    nextRun: () => until(waiting),
    until,
    interrupt() {
      interrupt.abort('SIGINT')
      return ended
    },
  }
  return started
}

const sessions = async () => (await given.homes.clients.http.listSessions({})).sessions

describe('--watch', () => {
  test('runs a changed script again, and only that one', async () => {
    await given.folder.write('a.yaml', script('One'))
    await given.folder.write('b.yaml', script('Two'))
    const watching = watch('a.yaml', 'b.yaml')
    expect(await watching.nextRun()).toContain('2 scripts: 2 passed')
    change('a.yaml', script('One').replace('equals: One', 'equals: Three'))
    const again = await watching.nextRun()
    expect(again).toContain('\nchanged: a.yaml\n')
    expect(again).toContain('1 script: 1 failed')
    expect(again).not.toContain('b.yaml')
    change('a.yaml', script('One'))
    expect(await watching.nextRun()).toContain('1 script: 1 passed')
  })

  test('runs the scripts that include a changed file', async () => {
    await given.folder.write('parts/title.yaml', 'steps:\n  - get_title\n')
    for (const name of ['a', 'b'])
      await given.folder.write(`${name}.yaml`, `${page(name)}steps:\n  - include: parts/title.yaml\n`)
    await given.folder.write('c.yaml', script('Other'))
    const watching = watch('*.yaml')
    expect(await watching.nextRun()).toContain('3 scripts: 3 passed')
    change('parts/title.yaml', 'steps:\n  - get_title\n  - get_title\n')
    const again = await watching.nextRun()
    expect(again).toContain('changed: parts/title.yaml\n')
    expect(again).toContain('2 scripts: 2 passed; 4 steps: 4 passed')
  })

  test('prints the errors of a script and runs it once they are fixed', async () => {
    await given.folder.write('a.yaml', 'steps:\n  - clik: a\n')
    const watching = watch('a.yaml')
    expect(await watching.nextRun()).toContain('1 error; nothing was run')
    change('a.yaml', script('Fixed'))
    expect(await watching.nextRun()).toContain('1 script: 1 passed')
  })

  test('runs new scripts of a folder, and files that an editor replaces', async () => {
    await given.folder.write('flows/a.yaml', script('One'))
    const watching = watch('flows')
    await watching.nextRun()
    change('flows/b.yaml', script('Two'))
    expect(await watching.nextRun()).toContain('changed: flows/b.yaml\n')
    change('flows/.a.swp', `# edited\n${script('One')}`)
    await rename(join(given.folder.path, 'flows/.a.swp'), join(given.folder.path, 'flows/a.yaml'))
    expect(await watching.nextRun()).toContain('changed: flows/a.yaml\n')
  })

  test('continues when all scripts disappear for a while', async () => {
    await given.folder.write('flows/a.yaml', script('One'))
    const watching = watch('flows/a.yaml')
    await watching.nextRun()
    await rm(join(given.folder.path, 'flows'), { recursive: true })
    await watching.until('error: script not found: flows/a.yaml\n')
    await mkdir(join(given.folder.path, 'flows'))
    change('flows/a.yaml', script('Two'))
    expect(await watching.nextRun()).toContain('1 script: 1 passed')
  })

  test('ends on ^C while it waits, and leaves no session behind', async () => {
    await given.folder.write('a.yaml', script('One'))
    const watching = watch('a.yaml')
    await watching.nextRun()
    expect(await watching.interrupt()).toMatchObject({ code: 130 })
    expect(await sessions()).toEqual([])
  })

  test('ends on ^C during a run, after its finally steps', async () => {
    await given.folder.write(
      'a.yaml',
      `${page('x')}steps:\n  - evaluate: new Promise(() => {})\nfinally:\n  - get_title\n`,
    )
    const watching = watch('a.yaml', '--reporter', 'ndjson')
    await watching.until('"step.started"')
    const { code, stdout } = await watching.interrupt()
    expect(code).toBe(130)
    expect(stdout).toContain('"phase":"finally","status":"passed"')
    expect(await sessions()).toEqual([])
  })

  test('fails at once when no script is found', async () => {
    expect(await run(['nope.yaml', '--watch'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('script not found: nope.yaml'),
    })
  })
})

describe('--headed', () => {
  test('asks for a window in new sessions, whatever the script declares; without a display a note says so', async () => {
    await given.folder.write('a.yaml', `session: {headless: true}\nsteps: [get_title]\n`)
    const { code, stdout } = await run(['a.yaml', '--headed'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/! .*display/)
    expect((await run(['a.yaml'])).stdout).not.toContain('display')
  })

  test('applies to plain bodies', async () => {
    await given.folder.write('a.json', '{"commands":[{"command":"get_title"}]}')
    const { code, stderr } = await run(['a.json', '--headed'])
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('warning: the browser runs headless: this machine has no display'),
    ])
    const json = await run(['a.json', '--headed', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ scripts: [{ notes: [expect.stringContaining('no display')] }] })
  })
})
