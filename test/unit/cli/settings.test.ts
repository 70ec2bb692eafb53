import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { engineConfig } from '../../../src/cli/engine/engine-config.ts'
import type { Io } from '../../../src/cli/io.ts'
import { readSettings } from '../../../src/cli/settings.ts'
import { type GlobalFlags, projectSettings } from '../../../src/core/config/settings.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-settings-'))
  await mkdir(join(folder, 'project', 'deep'), { recursive: true })
  await user({})
})
afterEach(() => rm(folder, { recursive: true }))

const user = (value: unknown) => writeFile(join(folder, 'config.json'), JSON.stringify(value))
const project = (value: unknown) => writeFile(join(folder, 'project', '.bax.json'), JSON.stringify(value))
const read = (flags: GlobalFlags = {}, env: Record<string, string> = {}) =>
  readSettings(flags, {
    env: { BAX_CONFIG: join(folder, 'config.json'), ...env },
    cwd: join(folder, 'project', 'deep'),
  } as unknown as Io)

describe('settings', () => {
  test('prefer flags over the environment, the project file and the user file, in this order', async () => {
    await user({ server: 'http://user', session: 'of-user', state_dir: 'state', json: true })
    expect(read()).toMatchObject({
      server: 'http://user',
      session: 'of-user',
      json: true,
      stateDir: join(folder, 'state'),
    })
    await project({ session: 'of-project', json: false })
    expect(read()).toMatchObject({ session: 'of-project', json: false, server: 'http://user' })
    const env = { BAX_SERVER: 'http://env', BAX_SESSION: 'of-env', BAX_STATE_DIR: 'here' }
    expect(read({}, env)).toMatchObject({
      server: 'http://env',
      session: 'of-env',
      stateDir: join(folder, 'project', 'deep', 'here'),
    })
    expect(read({ server: 'http://flag', stateDir: '/flag' }, env)).toMatchObject({
      server: 'http://flag',
      stateDir: '/flag',
    })
  })

  test('ignore the server of the environment with --embedded, and reject that of a flag', () => {
    expect(read({ embedded: true }, { BAX_SERVER: 'http://x' }).server).toBeUndefined()
    expect(() => read({ embedded: true, server: 'http://x' })).toThrow('--server and --embedded exclude each other')
  })

  test.each([
    ['server', 'http://evil'],
    ['api_key', 'k'],
    ['state_dir', '/'],
    ['browser', '/bin/sh'],
    ['model', { url: 'http://evil', name: 'm' }],
  ])('reject %s in a project file', async (key, value) => {
    await project({ [key]: value })
    expect(() => read()).toThrow(`must not set ${key}`)
  })

  test('allow those settings in a project file that the guide names', async () => {
    const page = await readFile(new URL('../../../src/guide/configuration.md', import.meta.url), 'utf8')
    const named = /A `\.bax\.json` may set only (.*?), because/.exec(page)?.[1]
    expect(named).toBe(projectSettings.map((name) => `\`${name}\``).join(' and '))
  })

  test('go to engines under their own names, except those of the terminal', async () => {
    await user({ warm_pages: 2, webhook_secret: 'w', json: true, server: 'http://user', builtin_extractor: false })
    const settings = read({ browser: '/chromium' }, { BAX_SESSION: 's', BAX_API_KEY: 'k', BAX_CRAWL_PAGES: '5' })
    expect(engineConfig(settings, { env: {}, host: { platform: 'linux' } } as Io)).toEqual({
      stateDir: settings.stateDir,
      cacheDir: settings.cacheDir,
      browser: '/chromium',
      pool: { warm: 2 },
      crawlPages: 5,
      builtinExtractor: false,
      webhookSecret: 'w',
      display: false,
      writeAnywhere: true,
    })
  })

  test('report a BAX_CONFIG that names a missing file, also relative to the working folder', () => {
    const missing = join(folder, 'project', 'deep', 'missing.json')
    expect(() => read({}, { BAX_CONFIG: missing })).toThrow(`BAX_CONFIG names a missing file: ${missing}`)
    expect(() => read({}, { BAX_CONFIG: 'missing.json' })).toThrow(`BAX_CONFIG names a missing file: ${missing}`)
    expect(read({}, { BAX_CONFIG: '../../config.json' }).server).toBeUndefined()
  })

  test('suggest a name for an unknown setting', async () => {
    await user({ sesion: 'x' })
    expect(() => read()).toThrow('unknown setting sesion (did you mean "session"?)')
  })

  test('report values of the wrong type, and files without a JSON object', async () => {
    await user({ json: 'yes' })
    expect(() => read()).toThrow('json must be a boolean')
    await user([])
    expect(() => read()).toThrow('must hold a JSON object')
    await writeFile(join(folder, 'config.json'), '{')
    expect(() => read()).toThrow('config.json is not JSON')
  })

  test('require the URL and the name of a model', () => {
    expect(read({}, { BAX_MODEL_URL: 'http://m', BAX_MODEL: 'small', BAX_MODEL_KEY: 'k' }).model).toEqual({
      url: 'http://m',
      name: 'small',
      key: 'k',
    })
    expect(() => read({}, { BAX_MODEL: 'small' })).toThrow('needs both')
  })

  test('take the idle time of the engine in seconds', () => {
    expect(read().idleExitMs).toBe(15 * 60_000)
    expect(read({}, { BAX_IDLE_EXIT_SECS: '0.5' }).idleExitMs).toBe(500)
    expect(() => read({}, { BAX_IDLE_EXIT_SECS: 'soon' })).toThrow('must be a number above 0')
  })
  test('require a whole number of crawl pages', () => {
    expect(read().crawlPages).toBeUndefined()
    expect(read({}, { BAX_CRAWL_PAGES: '500' }).crawlPages).toBe(500)
    expect(() => read({}, { BAX_CRAWL_PAGES: '1.5' })).toThrow('must be a whole number above 0')
  })

  test('take the memory of browsers in MiB', () => {
    expect(read().browserMemoryBytes).toBeUndefined()
    expect(read({}, { BAX_BROWSER_MEMORY_MB: '2048' }).browserMemoryBytes).toBe(2048 * 1024 * 1024)
    expect(() => read({}, { BAX_BROWSER_MEMORY_MB: '0' })).toThrow(
      'BAX_BROWSER_MEMORY_MB (browser_memory_mb in the file) must be a whole number above 0',
    )
  })

  test('take a whole number of pages to keep ready, also none', async () => {
    for (const pages of [0, 3]) {
      await user({ warm_pages: pages })
      expect(read().pool).toEqual({ warm: pages })
    }
    for (const pages of [-1, 1.5]) {
      await user({ warm_pages: pages })
      expect(() => read()).toThrow('warm_pages in the file must be a whole number from 0 on')
    }
  })
})
