/** Programs in a container, and what they can do without affecting others. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ShellContainer } from '../../src/engine/shell/interface.ts'
import { scriptPlaceholder } from '../../src/engine/shell/container-exec.ts'
import { bytesOf, nameOf, openContainers, programsIn, sh, smallContainer, testImages } from '../support/docker.ts'
import { waitFor } from '../support/wait.ts'

/** Time after which a program has begun even on a busy machine, in milliseconds. */
const begunMs = 2000

for (const image of testImages)
  describe.skipIf(image.absent)(`a program in a container, ${nameOf(image)}`, () => {
    let opened: Awaited<ReturnType<typeof openContainers>>
    let box: ShellContainer
    beforeAll(async () => {
      opened = await openContainers()
      box = await opened.containers.create(smallContainer(image.image))
    })
    afterAll(() => opened?.close())

    describe('exit', () => {
      test('reports its exit code, with separate outputs', async () => {
        expect(await sh(box, 'echo out; echo err >&2; exit 3')).toMatchObject({
          stdout: 'out\n',
          stderr: 'err\n',
          code: 3,
          signal: null,
          stdoutBytes: 4,
          stderrBytes: 4,
          timedOut: false,
          leftRunning: 0,
        })
      })

      test('reports the signal that ended it', async () => {
        expect(await sh(box, 'kill -11 $$')).toMatchObject({ code: null, signal: 11 })
      })

      test('exits with 127 if the program does not exist, and 126 if it is not executable', async () => {
        expect(await sh(box, '', { argv: ['no-such-program'] })).toMatchObject({
          code: 127,
          stdout: '',
          stderr: 'bax: no-such-program: not found\n',
        })
        expect(await sh(box, '', { argv: ['/etc/passwd'] })).toMatchObject({ code: 126, stdout: '' })
      })

      test('fails if the working folder does not exist', async () => {
        await expect(sh(box, 'true', { cwd: '/no/such/folder' })).rejects.toMatchObject({ code: 'ENOENT' })
        await expect(sh(box, 'true', { cwd: '/etc/passwd' })).rejects.toMatchObject({ code: 'ENOTDIR' })
      })

      test('preserves all 256 byte values', async () => {
        const all = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index % 256))
        const exec = await box.exec({ argv: ['cat'], cwd: '/', env: {}, stdin: all })
        expect((await bytesOf(exec.stdout)).equals(all)).toBe(true)
      })

      test('shares only files with the next shell', async () => {
        await sh(box, 'cd /tmp; export KEPT=1; echo 1 > kept')
        expect((await sh(box, 'pwd; echo "[$KEPT]"; cat /tmp/kept')).stdout).toBe('/workspace\n[]\n1\n')
      })

      test('has the given environment without that of the engine', async () => {
        const { stdout } = await sh(box, 'env', { env: { GIVEN: 'a b\n"c"' } })
        expect(stdout).toContain('GIVEN=a b\n"c"\n')
        const names = [...stdout.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
        const known = new Set(['GIVEN', 'HOME', 'PATH', 'LANG', 'PWD', 'SHLVL', 'OLDPWD', '_'])
        expect(names.filter((name) => !known.has(name!))).toEqual([])
      })
    })

    describe('input', () => {
      test('reads a script of a megabyte from memory', async () => {
        const script = Buffer.from(`true '${'x'.repeat(1024 * 1024)}'\necho "$1 $(wc -c < "$0")"\n`)
        const argv = ['sh', scriptPlaceholder, 'given']
        expect((await sh(box, '', { argv, script })).stdout).toBe(`given ${script.length}\n`)
      })

      test('reads input until it is closed', async () => {
        const exec = await box.exec({ argv: ['cat'], cwd: '/', env: {}, stdin: 'pipe' })
        expect(await exec.write(Buffer.from('one '))).toBe(true)
        expect(await exec.write(Buffer.from('two'))).toBe(true)
        exec.endInput()
        expect((await bytesOf(exec.stdout)).toString()).toBe('one two')
        expect(await exec.exit).toMatchObject({ code: 0 })
      })

      test('may ignore 20 MB of input', async () => {
        const exec = await box.exec({ argv: ['sh', '-c', 'exec sleep 0.2'], cwd: '/', env: {}, stdin: 'pipe' })
        expect(await exec.write(Buffer.alloc(20 * 1024 * 1024))).toBe(false)
        expect(await exec.exit).toMatchObject({ code: 0 })
        expect(await exec.write(Buffer.from('more'))).toBe(false)
      })

      test('may close its input and continue', async () => {
        const exec = await box.exec({
          argv: ['sh', '-c', 'exec <&-; echo closed; read x; exec sleep 100'],
          cwd: '/',
          env: {},
          stdin: 'pipe',
        })
        const big = Buffer.alloc(1024 * 1024)
        await waitFor('the closed input', async () => !(await exec.write(big)))
        exec.kill('now')
        expect(await exec.exit).toMatchObject({ killed: true, signal: 9 })
      })

      test('has a terminal of the requested size, which can be resized', async () => {
        const spec = { argv: ['sh', '-c', 'stty size; read line; stty size; echo "got $line"'], cwd: '/', env: {} }
        const exec = await box.exec({ ...spec, stdin: 'pipe', pty: { cols: 91, rows: 33 } })
        let seen = ''
        for await (const piece of exec.stdout) {
          seen += Buffer.from(piece).toString()
          if (seen !== '33 91\r\n') continue
          exec.resize({ cols: 70, rows: 20 })
          await exec.write(Buffer.from('hello\r'))
        }
        expect(seen).toBe('33 91\r\nhello\r\n20 70\r\ngot hello\r\n')
        expect(await exec.exit).toMatchObject({ code: 0 })
      })

      test('receives signals as a process group', async () => {
        const exec = await box.exec({
          argv: ['sh', '-c', 'trap "echo INT; exit 5" INT; echo ready; while :; do sleep 0.05; done'],
          cwd: '/',
          env: {},
          stdin: 'none',
        })
        let seen = ''
        for await (const piece of exec.stdout) {
          seen += Buffer.from(piece).toString()
          if (seen === 'ready\n') exec.signal(2)
        }
        expect(seen).toBe('ready\nINT\n')
        expect(await exec.exit).toMatchObject({ code: 5 })
      })
    })

    describe('output', () => {
      test('counts and drops output above the limit', async () => {
        const bytes = 3_000_000
        const ran = await sh(box, `head -c ${bytes} /dev/zero; echo end >&2`, { outputLimit: 1000 })
        expect(ran.stdout).toHaveLength(1000)
        expect(ran).toMatchObject({ stdoutBytes: bytes, stderr: 'end\n', code: 0 })
      })

      test('may write forever: the timeout stops it, and the engine keeps none of the output', async () => {
        const before = process.memoryUsage().rss
        const ran = await sh(box, 'yes', { outputLimit: 100, timeoutMs: 5000 })
        expect(ran).toMatchObject({ timedOut: true, signal: 15, stdout: 'y\n'.repeat(50) })
        expect(ran.stdoutBytes).toBeGreaterThan(1_000_000)
        expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
      })

      test('waits for a slow reader without losing output', async () => {
        const exec = await box.exec({
          argv: ['sh', '-c', 'i=0; while [ $i -lt 4000 ]; do printf "%01023d\\n" $i; i=$((i+1)); done; echo done >&2'],
          cwd: '/',
          env: {},
          stdin: 'none',
        })
        const pieces = exec.stdout[Symbol.asyncIterator]()
        const first = await pieces.next()
        // The other stream is not blocked by this one, but the program is: it cannot finish.
        const done = await Promise.race([exec.exit.then(() => 'exit'), sh(box, 'sleep 0.3').then(() => 'held')])
        expect(done).toBe('held')
        const rest: Uint8Array[] = [first.value!]
        for (let next = await pieces.next(); !next.done; next = await pieces.next()) rest.push(next.value)
        const lines = Buffer.concat(rest).toString().trim().split('\n').map(Number)
        expect(lines).toEqual(Array.from({ length: 4000 }, (_, index) => index))
        expect(await exec.exit).toMatchObject({ code: 0, stdoutBytes: 4_096_000 })
      })

      test('continues after its reader has left, and reports its exit', async () => {
        const exec = await box.exec({
          argv: ['sh', '-c', 'head -c 5000000 /dev/zero; exit 4'],
          cwd: '/',
          env: {},
          stdin: 'none',
        })
        for await (const piece of exec.stdout) {
          expect(piece.length).toBeGreaterThan(0)
          break
        }
        expect(await exec.exit).toMatchObject({ code: 4, stdoutBytes: 5_000_000 })
      })

      test('cannot forge frames: they are delivered as output', async () => {
        const frame = String.raw`\0\0\0\005\104\001\0\0\0`
        const forged = `printf '${frame}'; printf '${frame}' >&2; printf x > /proc/1/fd/1; printf x > /proc/$PPID/fd/1; exit 9`
        const ran = await sh(box, forged)
        expect(ran).toMatchObject({ code: 9, stdoutBytes: 9 })
        expect(ran.stderr).toMatch(/ermission denied|o such file/)
        expect(await sh(box, 'ls /proc/1/fd | wc -l; cat /proc/1/environ /proc/1/mem')).toMatchObject({ stdout: '0\n' })
      })
    })

    describe('background processes', () => {
      test('completes when it exits, even if a child holds the pipes', async () => {
        const ran = await sh(box, '(sleep 1000; echo late) & echo started')
        expect(ran).toMatchObject({ stdout: 'started\n', code: 0 })
        expect(ran.leftRunning).toBeGreaterThanOrEqual(1)
        // Background processes keep running, and may write although nothing reads it.
        await waitFor('the sleeper', async () => (await programsIn(box)).some((line) => line.startsWith('sleep 1000')))
        await sh(
          box,
          'for p in /proc/[0-9]*; do case "$(cat $p/cmdline 2>/dev/null | tr "\\0" " ")" in "sleep 1000"*) kill -9 ${p#/proc/};; esac; done; true',
        )
        expect(
          await waitFor('no sleeper', async () =>
            (await programsIn(box)).every((line) => !line.startsWith('sleep 1000')),
          ),
        ).toBe(true)
      })

      test('may write forever in the background without blocking the session', async () => {
        const ran = await sh(box, 'yes & echo pid $!')
        expect(ran.code).toBe(0)
        const pid = /pid (\d+)/.exec(ran.stdout)?.[1]
        expect(await sh(box, `kill -0 ${pid} && kill -9 ${pid} && echo stopped`)).toMatchObject({ stdout: 'stopped\n' })
      })
    })

    describe('timeout and kill', () => {
      test('ends the whole tree, with new sessions, double forks and ignored TERM, and keeps the output', async () => {
        const stubborn = `trap '' TERM; echo said; (trap '' TERM; setsid sh -c 'trap "" TERM; (while :; do sleep 777; done) & while :; do sleep 777; done' &) ; (sleep 777 &) & while :; do sleep 777; done`
        const ran = await sh(box, stubborn, { timeoutMs: begunMs })
        expect(ran).toMatchObject({ timedOut: true, signal: 9, code: null, stdout: 'said\n', leftRunning: 0 })
        expect(await programsIn(box)).toEqual([])
      })

      test('may exit on TERM, and leaves nothing running', async () => {
        const ran = await sh(box, `trap 'echo bye; exit 7' TERM; sleep 777 & wait`, { timeoutMs: begunMs })
        expect(ran).toMatchObject({ timedOut: true, stdout: 'bye\n', code: 7 })
        expect(await programsIn(box)).toEqual([])
      })

      test('works the same for a kill', async () => {
        const exec = await box.exec({
          argv: ['sh', '-c', '(setsid sleep 777 &); echo x; sleep 777'],
          cwd: '/',
          env: {},
          stdin: 'none',
        })
        const output = exec.stdout[Symbol.asyncIterator]()
        await output.next()
        exec.kill()
        expect(await exec.exit).toMatchObject({ killed: true, timedOut: false })
        expect(await programsIn(box)).toEqual([])
      })

      test('is not delayed by stopping the supervisor', async () => {
        const ran = await sh(box, 'trap "" TERM; kill -STOP $PPID; while :; do sleep 777; done', { timeoutMs: begunMs })
        expect(ran).toMatchObject({ timedOut: true, signal: 9 })
        expect(await programsIn(box)).toEqual([])
      })
    })

    describe('hostile programs', () => {
      test('a fork bomb reaches the process limit and is killed', async () => {
        const ran = await sh(box, '(bomb() { bomb | bomb & }; bomb) & exec sleep 777', {
          timeoutMs: 2000,
          outputLimit: 1000,
        })
        expect(ran).toMatchObject({ timedOut: true, leftRunning: 0 })
        expect(ran.stderr).toMatch(/fork/)
        expect(await programsIn(box)).toEqual([])
        expect(await sh(box, 'echo well')).toMatchObject({ stdout: 'well\n', code: 0 })
      })

      test('a memory bomb is killed and reported', async () => {
        expect(await sh(box, 'exec tail /dev/zero')).toMatchObject({ signal: 9, oomKilled: true })
        expect(await sh(box, 'echo well')).toMatchObject({ stdout: 'well\n', oomKilled: false })
      })

      test('a full disk fails writes without killing processes, and space can be freed', async () => {
        const ran = await sh(box, 'dd if=/dev/zero of=/workspace/full bs=65536; echo $?')
        expect(ran).toMatchObject({ stdout: '1\n', oomKilled: false })
        expect(ran.stderr).toMatch(/No space left|full/)
        await expect(box.files.write('/workspace/more', Buffer.alloc(1024 * 1024))).rejects.toMatchObject({
          code: 'ENOSPC',
        })
        expect(await sh(box, 'rm /workspace/full; echo x > /workspace/small; cat /workspace/small')).toMatchObject({
          stdout: 'x\n',
        })
      })

      test('killing every process ends other programs with their real status, but not the session', async () => {
        const other = sh(box, 'sleep 777')
        await waitFor('the other program', async () =>
          (await programsIn(box)).some((line) => line.startsWith('sleep 777')),
        )
        expect(await sh(box, 'kill -9 -1; echo alive')).toMatchObject({ stdout: 'alive\n', code: 0 })
        expect(await other).toMatchObject({ signal: 9, code: null })
        expect(await sh(box, 'echo well')).toMatchObject({ stdout: 'well\n' })
        expect((await box.files.list('/')).total).toBeGreaterThan(3)
      })

      test('killing everything repeatedly does not prevent the timeout', async () => {
        const ran = await sh(box, 'trap "" TERM; (while :; do kill -9 -1; done) & while :; do kill -9 -1; done', {
          timeoutMs: 500,
          outputLimit: 100,
        })
        expect(ran.timedOut || ran.signal === 9).toBe(true)
        await waitFor('silence', async () => (await programsIn(box)).length === 0)
      })
    })

    test('50 concurrent programs have separate outputs', async () => {
      const roomy = await opened.containers.create(
        smallContainer(image.image, {
          limits: { ...smallContainer(image.image).limits, memoryMb: 512, cpus: 2, pids: 256 },
        }),
      )
      const ran = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          sh(roomy, `echo ${index}; echo e${index} >&2; cat; exit ${index}`, { stdin: Buffer.from(`in ${index}`) }),
        ),
      )
      expect(ran.map(({ stdout, stderr, code }) => [stdout, stderr, code])).toEqual(
        ran.map((_, index) => [`${index}\nin ${index}`, `e${index}\n`, index]),
      )
      await roomy.remove()
    })
  })
