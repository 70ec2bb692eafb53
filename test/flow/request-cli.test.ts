/** `bax request`: the words, flags, output and exit codes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { freePort } from '../support/ports.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let user: KeyHolder
let folder: string
const bytes = Buffer.from([0, 255, 254, 10, 65])

/** Answers with the method, the content type, the cookies and the body. */
const echo = (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, headers } = request
    const facts = [method, headers['content-type'] ?? '-', headers.cookie ?? '-']
    response.end(Buffer.concat([Buffer.from(`${facts.join(' ')} `), ...chunks]))
  })
}

/** Answers with the parts of a form, as another program reads them. */
const parts = async (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = { 'content-type': request.headers['content-type']! }
  const form = await new Response(Buffer.concat(chunks), { headers }).formData()
  const read = async (value: string | File) =>
    typeof value === 'string'
      ? value
      : [value.name, value.type, Buffer.from(await value.arrayBuffer()).toString('latin1')]
  const all = await Promise.all([...form].map(async ([name, value]) => [name, await read(value)]))
  response.end(JSON.stringify(all))
}

beforeAll(async () => {
  ;[homes, site, folder] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<!doctype html><title>Shop</title>',
      '/echo': echo,
      '/parts': parts,
      '/login': (_, response) =>
        response.writeHead(303, { location: '/echo', 'set-cookie': ['sid=1; HttpOnly', 'b=2'] }).end(),
      '/bytes': (_, response) => response.end(bytes),
      '/files/report%20a.pdf': (_, response) => response.end('report'),
      '/missing': (_, response) => response.writeHead(404).end('not here\n'),
    }),
    mkdtemp(join(tmpdir(), 'bax-test-request-')),
  ])
  await Promise.all([
    writeFile(join(folder, 'form.txt'), 'file=1\n'),
    writeFile(join(folder, 'raw.bin'), bytes),
    writeFile(join(folder, 'order.json'), '{"quantity": 2}'),
    writeFile(join(folder, 'a;type=b.txt'), 'odd'),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  user = await keyHolder(homes)
  return () => user.client.closeSessions()
})

const run = (argv: readonly string[], options: CliOptions = {}) =>
  bax(argv, {
    cwd: folder,
    ...options,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: folder, BAX_API_KEY: user.key, ...options.env },
  })
const request = (argv: readonly string[], options?: CliOptions) => run(['request', ...argv], options)

test('uses the default session, which it opens, and shares its cookies with the browser', async () => {
  expect(await request(['POST', `${site.url}/login`])).toMatchObject({
    code: 0,
    stdout: 'GET - sid=1; b=2 ',
    stderr: '',
  })
  expect(await run(['goto', site.url])).toMatchObject({ code: 0 })
  expect(await run(['evaluate', 'document.cookie'])).toMatchObject({ stdout: 'b=2\n' })
  await run(['evaluate', 'document.cookie = "b=3"'])
  expect((await run(['http', `${site.url}/echo`])).stdout).toContain('b=3')
})

test('uses a profile in place of the default session, or no session at all', async () => {
  await request([`${site.url}/login`])
  expect(await run(['profile', 'save', 'work'])).toMatchObject({ code: 0 })
  await user.client.closeSessions()
  expect(await request([`${site.url}/echo`, '--profile', 'work'])).toMatchObject({ stdout: 'GET - sid=1; b=2 ' })
  const alone = { env: { BAX_SERVER: undefined, BAX_API_KEY: undefined } }
  expect(await request([`${site.url}/echo`, '--embedded'], alone)).toMatchObject({ code: 0, stdout: 'GET - - ' })
  expect((await user.client.listSessions({})).sessions).toEqual([])
})

describe('the body', () => {
  const form = 'application/x-www-form-urlencoded'
  test.each<[string[], string, string?]>([
    [['-d', 'a=1'], `POST ${form} - a=1`],
    [['-d', ''], `POST ${form} - `],
    [['-d', '', '-d', 'a=1'], `POST ${form} - &a=1`],
    [['-d', 'a=1', '--data', '@form.txt', '-d', 'c=3'], `POST ${form} - a=1&file=1\n&c=3`],
    [['-d', '-'], `POST ${form} - typed=1`, 'typed=1'],
    [['-d', '@-', '-H', 'content-type: text/x'], 'POST text/x - typed', 'typed'],
    [['-X', 'PUT', '--data-json', '@order.json'], 'PUT application/json - {"quantity": 2}'],
    [['--data-json', '12345678901234567890'], 'POST application/json - 12345678901234567890'],
    [['--data-json', '-'], 'POST application/json - [1]', '[1]'],
    [['-X', 'delete'], 'DELETE - - '],
  ])('of %j', async (flags, stdout, stdin = '') => {
    expect(await request([`${site.url}/echo`, ...flags], { stdin })).toMatchObject({ code: 0, stdout, stderr: '' })
  })

  test('of a file arrives unchanged', async () => {
    const { bytes: printed } = await request([`${site.url}/echo`, '-d', '@raw.bin', '-H', 'Content-Type: a/b'])
    expect(printed.equals(Buffer.concat([Buffer.from('POST a/b - '), bytes]))).toBe(true)
  })
})

describe('a multipart body', () => {
  const raw = bytes.toString('latin1')
  test.each<[string[], unknown[], string?]>([
    [
      ['name=Ann', 'name=', 'text=a;b=c\r\n"d" é'],
      [
        ['name', 'Ann'],
        ['name', ''],
        ['text', 'a;b=c\r\n"d" é'],
      ],
    ],
    [['file=@raw.bin'], [['file', ['raw.bin', 'application/octet-stream', raw]]]],
    [['file=@form.txt'], [['file', ['form.txt', 'text/plain', 'file=1\n']]]],
    [['file=@raw.bin;type=image/png;filename=a.png'], [['file', ['a.png', 'image/png', raw]]]],
    [['file=@raw.bin; filename="x; type=\\"y\\".gif"'], [['file', ['x; type="y".gif', 'image/gif', raw]]]],
    [['file=@"a;type=b.txt"'], [['file', ['a;type=b.txt', 'text/plain', 'odd']]]],
    [['text=<form.txt'], [['text', 'file=1\n']]],
    [['text="@form.txt;type=a/b"'], [['text', '@form.txt;type=a/b']]],
    [['file=<form.txt;filename=from text'], [['file', ['from text', 'text/plain', 'file=1\n']]]],
    [['file=@-;filename=typed.txt'], [['file', ['typed.txt', 'text/plain', 'typed']]], 'typed'],
    [['f"\n=1'], [['f"\n', '1']]],
  ])('has the parts of %j', async (forms, expected, stdin = '') => {
    const answer = await request([`${site.url}/parts`, ...forms.flatMap((form) => ['-F', form])], { stdin })
    expect(answer).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(answer.stdout)).toEqual(expected)
  })

  test('keeps the parameters of a type', async () => {
    const { stdout } = await request([`${site.url}/echo`, '-F', 'a={};type=application/json; charset=utf-8'])
    expect(stdout).toMatch(/^POST multipart\/form-data; boundary=(\S+) - --\1\r\n/)
    expect(stdout).toContain('name="a"\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{}\r\n')
  })

  test.each([
    [['-F', 'secret'], '--form must be written as name=value or name=@file'],
    [['-F', 'a=1;type=secret'], '--form a: type must be a content type such as text/plain'],
    [['-F', 'a=@missing'], 'cannot read'],
    [['-F', 'a=@-', '-F', 'b=<-'], '--form reads standard input (-) only once'],
    [['-F', 'a=1', '-d', 'b=2'], '--data and --form exclude each other'],
    [['-F', 'a=1', '-H', 'content-type: multipart/form-data'], '--form and --header Content-Type exclude each other'],
  ])('fails with %j', async (flags, message) => {
    const { code, stderr } = await request([`${site.url}/parts`, ...flags])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toContain('secret')
  })
})

describe('the response', () => {
  test('is preceded by its status and headers with --include', async () => {
    const { stdout } = await request([`${site.url}/login`, '--max-redirects', '0', '-i'])
    const [status, ...lines] = stdout.split('\n')
    expect([status, lines.slice(-2)]).toEqual(['HTTP/1.1 303 See Other', ['', '']])
    expect(lines).toEqual(expect.arrayContaining(['location: /echo', 'set-cookie: sid=1; HttpOnly', 'set-cookie: b=2']))
  })

  test('of any status is a success, and a failure with --fail', async () => {
    const url = `${site.url}/missing`
    expect(await request([url])).toMatchObject({ code: 0, stdout: 'not here\n', stderr: '' })
    const stderr = 'error: the server responded with 404 Not Found\n'
    expect(await request([url, '--fail'])).toMatchObject({ code: 1, stdout: 'not here\n', stderr })
    const json = await request([url, '--fail', '--json'])
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      1,
      expect.objectContaining({ status: 404, body: 'not here\n' }),
    ])
  })

  test('is printed and saved byte for byte', async () => {
    expect((await request([`${site.url}/bytes`])).bytes.equals(bytes)).toBe(true)
    const path = join(folder, 'out', 'a.bin')
    expect(await request([`${site.url}/bytes`, '-o', 'out/a.bin'])).toMatchObject({ code: 0, stdout: `${path}\n` })
    expect((await readFile(path)).equals(bytes)).toBe(true)
    const named = await request([`${site.url}/files/report%20a.pdf`, '-o', 'out/', '--json'])
    expect(JSON.parse(named.stdout)).toEqual(
      expect.objectContaining({ path: join(folder, 'out', 'report a.pdf'), size: 6 }),
    )
    expect(named.stdout).not.toContain('body')
  })

  test('of bytes is not written to a terminal unless asked to', async () => {
    const { code, stdout, stderr } = await request([`${site.url}/bytes`], { tty: true })
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringContaining('the response has 5 bytes that are not text'),
    ])
    expect((await request([`${site.url}/bytes`, '-o', '-'], { tty: true })).bytes.equals(bytes)).toBe(true)
  })
})

describe('fails', () => {
  test.each<[string[], number, string]>([
    [[], 2, '<url> is missing'],
    [['12'], 2, 'hint: run "bax get-request 12"'],
    [['GET', 'a.test', 'b'], 2, 'too many words: b'],
    [['GET', 'a.test', '-X', 'PUT'], 2, 'the method GET and --method PUT exclude each other'],
    [['GE T', 'a.test'], 2, '<method> is not a method'],
    [['a.test', '-X', 'GE T'], 2, '-X is not a method'],
    [['a.test', '-d', 'a', '--data-json', '1'], 2, '--data and --data-json exclude each other'],
    [['a.test', '-d', '-', '-d', '@-'], 2, '--data reads standard input (-) only once'],
    [['a.test', '-d', '@absent'], 2, '--data: cannot read'],
    [['a.test', '--data-json', '{'], 2, '--data-json is not JSON'],
    [['a.test', '-H', 'secret-header'], 2, '--header must be written as "Name: value"'],
    [['a.test', '-H', 'Host: x'], 2, '-H: Host is set by the engine'],
    [['a.test', '--save-profile'], 2, '--save-profile needs --profile'],
    [['a.test', '--profile', 'a', '-s', 'b'], 2, '--profile and --session exclude each other'],
    [['a.test', '--max-redirects', '99'], 2, '--max-redirects must be at most 50'],
    [['a.test', '--timeout-ms', 'soon'], 2, '--timeout-ms must be a'],
    [['a.test', '--max-bytes', '0'], 2, '--max-bytes must be at least 1'],
    [['ftp://a.test'], 4, 'URL blocked'],
    [['a.test', '-s', 'absent'], 5, 'no session has the id or name "absent"'],
    [['a.test', '--profile', 'absent'], 5, 'no profile is named "absent"'],
  ])('for %j', async (argv, code, message) => {
    const result = await request(argv)
    expect([result.code, result.stdout, result.stderr]).toEqual([code, '', expect.stringContaining(message)])
    expect(result.stderr).not.toContain('secret-')
  })

  test('if the server cannot be reached, is too slow or sends too much', async () => {
    const port = await freePort()
    expect(await request([`http://127.0.0.1:${port}/`])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('connection refused'),
    })
    expect(await request([`${site.url}/missing`, '--max-bytes', '5'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the response is larger than 5 bytes\nhint: raise max.bytes, to at most/),
    })
  })
})
