import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordCommandLine } from '../support/calls.ts'
import { type BuiltBax, buildBax, type CliOptions } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { serveSite } from '../support/site.ts'
import { busybox, debian } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

interface Artifact {
  readonly artifact_id: string
  readonly files: readonly { readonly name: string }[]
}

const DOCKER_HOST = process.env['DOCKER_HOST']

describe.skipIf(busybox.absent !== null)(`bax shell: ${busybox.absent ?? busybox.image}`, () => {
  let built: BuiltBax
  let state: string
  let folder: string
  let session: string
  const env = () => ({ BAX_STATE_DIR: state, ...(DOCKER_HOST && { DOCKER_HOST }) })
  const bax = (argv: readonly string[], { env: more, ...options }: CliOptions = {}) =>
    built.run(argv, { cwd: folder, ...options, env: { ...env(), ...more } })
  const exec = (argv: readonly string[], options?: CliOptions) =>
    bax(['shell', 'exec', '-s', session, ...argv], options)

  beforeAll(async () => {
    built = await buildBax()
    state = await built.stateDir()
    folder = await mkdtemp(join(tmpdir(), 'bax-shell-cli-'))
    const { stdout, code, stderr } = await bax(['shell', 'create', '--image', busybox.image, '-e', 'GREETING=hello'])
    expect([code, stderr]).toEqual([0, ''])
    session = stdout.trim()
  })
  afterAll(async () => {
    await built?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  test('a command behaves as if run locally: bytes, exit code, both outputs, and nothing else', async () => {
    const ran = await exec(['--', 'sh', '-c', 'echo out; echo "$GREETING" >&2; exit 7'])
    expect(ran).toMatchObject({ code: 7, stdout: 'out\n', stderr: 'hello\n' })
    expect(await exec(['echo one | tr o 0'])).toMatchObject({ code: 0, stdout: '0ne\n' })
    expect(await exec(['ls', '-d', '/output'])).toMatchObject({ code: 0, stdout: '/output\n' })
    expect((await exec(['--', 'sh', '-c', 'kill -9 $$'])).code).toBe(137)
    expect((await exec(['--', 'no-such-program', 'x'])).code).toBe(127)
    expect((await exec(['--timeout-secs', '0.3', 'sleep 100'])).code).toBe(124)
    expect((await exec(['-e', 'A=b c', '--cwd', '/tmp', 'echo "$A" $PWD'])).stdout).toBe('b c /tmp\n')
  })

  test('forwards standard input of any size to programs that read all of it or nothing', async () => {
    const bytes = Buffer.from(Array.from({ length: 2_000_000 }, (_, at) => (at * 31) % 251))
    const running = built.start(['shell', 'exec', '-s', session, '--', 'cat'], {
      cwd: folder,
      env: env(),
      stdin: bytes.toString('latin1'),
    })
    const { bytes: back, code } = await running.ended
    expect(code).toBe(0)
    expect(back.toString()).toBe(bytes.toString('latin1'))
    expect(await exec(['--', 'head', '-1'], { stdin: `first\n${'x'.repeat(3_000_000)}` })).toMatchObject({
      code: 0,
      stdout: 'first\n',
    })
    expect(await exec(['-n', '--', 'cat'], { stdin: 'unread' })).toMatchObject({ code: 0, stdout: '' })
  })

  test('failing to run exits with 125 and an error on stderr; --json prints the error on stdout', async () => {
    const unknown = await bax(['shell', 'exec', '-s', 'sh_none', '--', 'true'])
    expect(unknown).toMatchObject({
      code: 125,
      stdout: '',
      stderr: expect.stringContaining('no shell session is known'),
    })
    const body = await bax(['shell', 'exec', '-s', 'sh_none', '--json', '--', 'true'])
    expect(JSON.parse(body.stdout)).toMatchObject({ success: false, code: 'shell_session_not_found' })
    expect(await exec(['--nonsense', 'x'])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('unknown flag --nonsense'),
    })
    expect(await exec([])).toMatchObject({ code: 125, stderr: expect.stringContaining('no command was given') })
    expect(await exec(['--image', 'x', 'true'])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('--image applies to new sessions only'),
    })
    const away = await bax(['shell', 'exec', '--embedded', '--', 'true'], {
      env: { DOCKER_HOST: 'unix:///nonexistent/docker.sock' },
    })
    expect(away).toMatchObject({ code: 125, stderr: expect.stringContaining('Docker') })
  })

  test('output above --max-output-bytes is reported, and the exit code stays that of the command', async () => {
    expect(await exec(['--max-output-bytes', '3', 'echo 12345; exit 4'])).toMatchObject({
      code: 4,
      stdout: '123',
      stderr: 'warning: the output was truncated to max_output_bytes: stdout has 6 bytes\n',
    })
  })

  test('files that an artifact cannot contain are named by every command that saves it', async () => {
    const made = await exec(['--json', '-o', 'linked', 'cd /output; echo > kept; ln -s kept link; mkfifo pipe'])
    const stderr = 'not saved: link (symlink)\nnot saved: pipe (not a file)\n'
    expect(made).toMatchObject({ code: 0, stderr })
    const { artifact_id } = JSON.parse(made.stdout) as { artifact_id: string }
    const stdout = `${join(folder, 'linked', 'kept')}\n`
    const download = ['shell', 'artifacts', 'download', '-o', 'linked']
    expect(await bax([...download, artifact_id])).toMatchObject({ code: 0, stdout, stderr })
    const ofSession = await bax([...download, session])
    expect(ofSession).toMatchObject({ code: 0, stderr: expect.stringContaining(stderr) })
    await exec(['rm -f /output/link /output/pipe'])
  })

  test('--json prints the result and still exits with the code of the command', async () => {
    const { stdout, code } = await exec(['--json', 'cat; exit 4'], { stdin: 'given' })
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({ stdout: 'given', exit_code: 4, timed_out: false })
  })

  test('^C ends the command with all its processes, and exits with 130', async () => {
    const running = built.start(
      ['shell', 'exec', '-s', session, '--', 'sh', '-c', 'echo begun >&2; setsid sleep 4242 & sleep 4242'],
      { cwd: folder, env: env() },
    )
    await running.waitForStderr('begun')
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    await waitUntil(async () => !(await exec(['ps -o args'])).stdout.includes('sleep 4242'))
  })

  test('without a session, a temporary one is created; its artifacts can be fetched later', async () => {
    const before = JSON.parse((await bax(['shell', 'list', '--status', 'ready', '--json'])).stdout).total
    const ran = await bax([
      'shell',
      'exec',
      '--image',
      busybox.image,
      '-o',
      'left',
      'echo made > /output/made.txt; hostname',
    ])
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('made.txt') })
    expect(await readFile(join(folder, 'left', 'made.txt'), 'utf8')).toBe('made\n')
    expect(JSON.parse((await bax(['shell', 'list', '--status', 'ready', '--json'])).stdout).total).toBe(before)
    const embedded = await bax([
      'shell',
      'exec',
      '--embedded',
      '--image',
      busybox.image,
      '--json',
      'echo two > /output/two',
    ])
    const { artifact_id } = JSON.parse(embedded.stdout) as { artifact_id: string }
    for (const output of ['-', '/dev/stdout'])
      expect(
        await bax(['shell', 'artifacts', 'download', '--embedded', artifact_id, 'two', '-o', output]),
      ).toMatchObject({ code: 0, stdout: 'two\n' })
    expect(await bax(['shell', 'artifacts', 'download', artifact_id, '-o', 'all'])).toMatchObject({ code: 0 })
    expect(await readFile(join(folder, 'all', 'two'), 'utf8')).toBe('two\n')
  })

  test('saves artifacts with the longest possible names, and reports those that cannot be saved', async () => {
    const long = `${'n'.repeat(251)}.txt`
    const folder = await mkdtemp(join(tmpdir(), 'bax-long-'))
    const made = await exec(['--json', `cd /output; for name in a ${long} z; do echo $name > $name; done`])
    const { artifact_id } = JSON.parse(made.stdout) as { artifact_id: string }
    // A folder blocks the path of the first file.
    await mkdir(join(folder, 'a', 'in the way'), { recursive: true })
    const saved = await bax(['shell', 'artifacts', 'download', artifact_id], { cwd: folder })
    expect(saved).toMatchObject({ code: 1, stderr: `not saved: cannot write ${join(folder, 'a')}: it is a folder\n` })
    expect(saved.stdout).toBe(`${join(folder, long)}\n${join(folder, 'z')}\n`)
    expect((await readdir(folder)).toSorted()).toEqual(['a', long, 'z'])
    const json = await bax(['shell', 'artifacts', 'download', artifact_id, '--json'], { cwd: folder })
    expect(JSON.parse(json.stdout)).toMatchObject({
      paths: [join(folder, long), join(folder, 'z')],
      failed: [{ name: 'a' }],
    })
    expect(await bax(['shell', 'download', '-s', session, `/output/${long}`, '-o', `${folder}/x/`])).toMatchObject({
      code: 0,
    })
    expect(await readFile(join(folder, 'x', long), 'utf8')).toBe(`${long}\n`)
    await rm(folder, { recursive: true })
  })

  test('saves artifacts whose names are not UTF-8 under names of their own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-bytes-'))
    const made = await exec([
      '--json',
      `cd /output; for byte in 376 377; do echo $byte > "$(printf "\\\\$byte.txt")"; done`,
    ])
    const { artifact_id } = JSON.parse(made.stdout) as { artifact_id: string }
    expect(await bax(['shell', 'artifacts', 'download', artifact_id], { cwd: folder })).toMatchObject({ code: 0 })
    expect((await readdir(folder)).toSorted()).toEqual(['%FE.txt', '%FF.txt'])
    expect(await readFile(join(folder, '%FE.txt'), 'utf8')).toBe('376\n')
    await rm(folder, { recursive: true })
  })

  test('kill accepts its session as argument, flag or BAX_SHELL, and prints a number', async () => {
    await exec(['sleep 5151 &'])
    expect(await bax(['shell', 'kill', session])).toMatchObject({ code: 0, stdout: '1\n' })
    expect(await bax(['shell', 'kill', '-s', session])).toMatchObject({ code: 0, stdout: '0\n' })
    expect(await bax(['shell', 'kill'], { env: { BAX_SHELL: session } })).toMatchObject({ code: 0, stdout: '0\n' })
    expect(await bax(['shell', 'kill'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no shell session') })
  })

  test('runs in the background: ID, result, signal', async () => {
    const id = (await exec(['--background', 'echo early; sleep 1000'])).stdout.trim()
    expect(id).toMatch(/^ex_/)
    await waitUntil(async () => JSON.parse((await bax(['shell', 'result', id, '--json'])).stdout).stdout === 'early\n')
    expect((await bax(['shell', 'signal', id, '--signal', 'SIGKILL'])).code).toBe(0)
    await waitUntil(async () => JSON.parse((await bax(['shell', 'result', id, '--json'])).stdout).status === 'exited')
    expect(await bax(['shell', 'exec', '--background', 'true'])).toMatchObject({ code: 125 })
  })

  test('runs the file commands with BAX_SHELL instead of -s', async () => {
    const on = (argv: readonly string[], stdin?: string) =>
      bax(['shell', ...argv], { env: { BAX_SHELL: session }, ...(stdin !== undefined && { stdin }) })
    expect(await on(['write', 'docs/a.txt'], 'line one\nline two\n')).toMatchObject({ code: 0, stdout: '' })
    expect((await on(['read', 'docs/a.txt'])).stdout).toBe('line one\nline two\n')
    expect((await on(['read', 'docs/a.txt', '--offset', '5', '--length', '3'])).stdout).toBe('one')
    expect(JSON.parse((await on(['read', 'docs/a.txt', '--json'])).stdout)).toMatchObject({
      size: 18,
      encoding: 'utf8',
    })
    await on(['mkdir', 'docs/deep'])
    await on(['cp', 'docs/a.txt', 'docs/deep/b.txt'])
    expect((await on(['tree', 'docs'])).stdout).toBe('/workspace/docs\n├── a.txt\n└── deep/\n    └── b.txt\n')
    expect((await on(['search', '--query', 'two'])).stdout).toBe(
      '/workspace/docs/a.txt:2:6:line two\n/workspace/docs/deep/b.txt:2:6:line two\n',
    )
    expect(await on(['search', '--query', 'nothing like it'])).toMatchObject({ code: 1, stdout: '' })
    await on(['mv', 'docs/a.txt', '/output/a.txt'])
    expect((await on(['ls', '/output'])).stdout).toMatch(/0644 +user +18 .* a\.txt/)
    expect((await on(['info', '/output/a.txt', '--checksum'])).stdout).toMatch(/sha256 +[0-9a-f]{64}/)
    expect(await on(['rm', 'docs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') })
    expect(await on(['rm', 'docs', '--recursive'])).toMatchObject({ code: 0 })
    expect(await on(['read', 'docs/a.txt'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('does not exist'),
    })
    await writeFile(join(folder, 'local.bin'), Buffer.from([0, 255, 1, 254]))
    expect((await on(['upload', 'local.bin', '/output/'])).stdout).toBe('/output/local.bin\n')
    expect((await on(['download', '/output/local.bin', '-o', 'back.bin'])).code).toBe(0)
    expect([...(await readFile(join(folder, 'back.bin')))]).toEqual([0, 255, 1, 254])
    await exec(['true'])
    expect((await on(['artifacts', 'list'])).stdout).toContain('local.bin')
    const { artifacts } = JSON.parse((await on(['artifacts', 'list', '--json'])).stdout) as { artifacts: Artifact[] }
    const { artifact_id } = artifacts.find(({ files }) => files.some(({ name }) => name === 'local.bin'))!
    expect((await on(['artifacts', 'show', artifact_id])).stdout).toContain('local.bin')
    expect(await bax(['shell', 'read', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no shell session is named'),
    })
  })

  test('shows, touches and deletes sessions by ID', async () => {
    const id = (await bax(['shell', 'create', '--image', busybox.image, '--name', 'temporary', '--json'])).stdout
    const { session_id } = JSON.parse(id) as { session_id: string }
    expect((await bax(['shell', 'show', 'temporary'])).stdout).toContain(session_id)
    expect((await bax(['shell', 'touch', session_id, '--timeout-secs', '99'])).code).toBe(0)
    expect((await bax(['shell', 'delete', 'temporary'])).code).toBe(0)
    expect((await bax(['shell', 'list', '--status', 'stopped'])).stdout).toMatch(/temporary +stopped .* deleted/)
    expect(await bax(['shell', 'exec', '-s', session_id, 'true'])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('it was deleted'),
    })
    expect(await bax(['shell', 'artifact'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "artifacts"'),
    })
  })

  test.skipIf(process.platform !== 'linux')(
    'attach is a terminal in the session, with its size, keys and exit code',
    async () => {
      const line = `exec ${process.execPath} ${built.program} shell attach -s ${session}`
      const child = spawn('script', ['-qec', `stty cols 101 rows 37; ${line}`, '/dev/null'], {
        env: { PATH: process.env['PATH'], TERM: 'xterm', BAX_CONFIG: noConfig, ...env() },
      })
      let seen = ''
      child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()))
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
      await waitUntil(() => seen.includes('$ '))
      child.stdin.write('stty size; echo $((20 + 22))\n')
      await waitUntil(() => seen.includes('37 101') && /^42\r?$/m.test(seen))
      child.stdin.write('exit 9\n')
      expect(await ended).toBe(9)
      await recordCommandLine(['shell', 'attach'])
    },
  )

  test('attach needs a terminal', async () => {
    expect(await bax(['shell', 'attach', '-s', session])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a terminal'),
    })
  })

  describe.skipIf(debian.absent !== null)(`with the languages of ${debian.image}`, () => {
    test('runs programs from text, file or standard input, with their modules and tracebacks', async () => {
      const python = (argv: readonly string[], options?: CliOptions) =>
        bax(['shell', 'exec', '--language', 'python', ...argv], options)
      await writeFile(join(folder, 'main.py'), 'import sys\nprint(sys.stdin.read().upper())\n')
      expect(await python(['--code', '@main.py'], { stdin: 'quiet' })).toMatchObject({ code: 0, stdout: 'QUIET\n' })
      expect(await python(['-'], { stdin: 'print(6 * 7)' })).toMatchObject({ code: 0, stdout: '42\n' })
      const failed = await python(['-'], { stdin: 'def f():\n    raise ValueError("bad")\nf()\n' })
      expect(failed).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('line 2, in f\n    raise ValueError("bad")\nValueError: bad'),
      })
      expect(failed.stderr).not.toContain('<string>')
      const node = await bax(['shell', 'exec', '--language', 'javascript', '-'], {
        stdin: 'import { sep } from "node:path"; console.log(await sep); process.exit(3)',
      })
      expect(node).toMatchObject({ code: 3, stdout: '/\n' })
      expect(await bax(['shell', 'exec', '--image', debian.image, 'echo ${BASH_VERSION:+bash}'])).toMatchObject({
        stdout: 'bash\n',
      })
    })

    test('a script passes a scraped page to a program and receives its image', async () => {
      const site = await serveSite({
        '/': '<!doctype html><title>Tea</title><main><h1>Tea</h1><p>Green tea, black tea and more tea than anybody can drink in one day.</p></main>',
      })
      const draw =
        'import re, sys\nn = len(re.findall("tea", sys.stdin.read(), re.I))\nopen("/output/tea.svg", "w").write(f"<svg><rect width=\'{n}\'/></svg>")\nprint(n)\n'
      await writeFile(
        join(folder, 'tea.json'),
        JSON.stringify({
          steps: [
            { scrape: site.url, save: 'page' },
            { shell_create: { language: 'python' } },
            {
              shell_exec: { code: draw, stdin: '${page.data.markdown}' },
              save: 'drawn',
              expect: { path: 'stdout', matches: '^\\d+\\n$' },
            },
            { shell_read: '/output/tea.svg', expect: { path: 'content', contains: '<svg>' } },
            { shell_artifacts_show: '${drawn.artifact_id}', expect: { path: 'files[0].name', equals: 'tea.svg' } },
          ],
        }),
      )
      const ran = await bax(['run', 'tea.json', '--embedded'])
      expect([ran.code, ran.stdout + ran.stderr]).toEqual([0, expect.stringContaining('5 passed')])
      await site.close()
    })
  })
})
