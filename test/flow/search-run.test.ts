import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article } from '../support/web.ts'

let web: SearchServer
let site: Site
let folder: ScriptFolder

beforeAll(async () => {
  ;[web, site, folder] = await Promise.all([serveSearch(), serveSite({ '/deltas': article }), scriptFolder()])
  web.setResults([{ url: `${site.url}/deltas`, title: 'How deltas grow', snippet: 'Rivers carry sand.' }])
})
afterEach(() => web.reset())
afterAll(() => Promise.all([web.close(), site.close(), folder.close()]))

async function report(text: string) {
  await folder.write('script.yaml', text)
  const { code, stdout, stderr } = await folder.run(['script.yaml', '--reporter', 'json'], { env: web.env('brave') })
  if (code === 2) throw new Error(stderr)
  const [script] = (
    JSON.parse(stdout) as { scripts: { steps: { status: string; code?: string; value?: unknown }[] }[] }
  ).scripts
  return { code, steps: script!.steps }
}

describe('search as a step of bax run', () => {
  test('accepts a query or all fields, and saves its results for later steps', async () => {
    const { code, steps } = await report(`
steps:
  - search: river deltas
    save: found
    expect: [{path: data, count: 1}, {path: provider, equals: brave}]
  - navigate_to: \${found.data[0].url}
  - get_title:
    expect: {equals: How deltas grow}
  - search: {query: deltas, limit: 1, formats: [markdown], session_id: "\${session.id}"}
    expect: {path: 'data[0].content.markdown', contains: '# How deltas grow'}
`)
    expect(steps.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed', 'passed'])
    expect(code).toBe(0)
    expect(web.requests.map(({ query }) => query.get('q'))).toEqual(['river deltas', 'deltas'])
  })

  test('fails the step when all providers fail', async () => {
    web.setModes('brave', 'rejects')
    const { code, steps } = await report('steps:\n  - search: deltas\n')
    expect(code).toBe(1)
    expect(steps).toMatchObject([{ status: 'failed', code: 'search_unavailable' }])
  })

  test('is included in the schema of scripts', async () => {
    await folder.write('wrong.yaml', 'steps:\n  - search: {query: deltas, limits: 3}\n')
    const wrong = await folder.run(['wrong.yaml'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/limits.*did you mean "limit"/) })
    const { stdout } = await folder.run(['--schema'])
    expect(stdout).toContain('"search"')
  })
})
