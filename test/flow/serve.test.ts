import { spawn } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { freePort } from '../support/ports.ts'
import { serve } from '../support/server.ts'

let built: BuiltBax
beforeAll(async () => {
  built = await buildBax()
})
afterAll(() => built.close())

describe('`bax serve`', () => {
  test('prints its URL, responds over HTTP, and ends cleanly at SIGTERM', async () => {
    const folder = await built.stateDir()
    const port = await freePort()
    const running = built.start(['serve', '--port', String(port), '--allow-private', '127.0.0.1'], {
      env: { BAX_STATE_DIR: folder },
    })
    await running.waitForStderr(`bax is listening on http://127.0.0.1:${port}"`)
    const server = { env: { BAX_STATE_DIR: folder, BAX_SERVER: `http://127.0.0.1:${port}` } }
    const created = await built.run(['session', 'create', '--headless'], server)
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const status = JSON.parse((await built.run(['engine', 'status', '--json'], server)).stdout)
    expect(status).toMatchObject({ home: 'server', sessions: 1, pid: running.child.pid })

    const stop = await built.run(['engine', 'stop'], server)
    expect(stop.code).toBe(4)
    expect(stop.stderr).toMatch(/^error: /)

    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stdout: '' })
    expect((await built.run(['session', 'list'], server)).code).toBe(3)
  })

  test('exits with 130 on ^C', async () => {
    const running = await serve(built)
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
  })

  test.each(['0.0.0.0', '192.168.1.5', 'example.com', '::'])('rejects %s without keys', async (host) => {
    const { code, stderr } = await built.run(['serve', '--host', host], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    expect(code).toBe(2)
    expect(stderr).toContain(
      `error: serving on ${host} needs an API key: without one only loopback addresses are allowed\nhint: `,
    )
  })

  test('reports a busy port in one sentence', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stdout, stderr } = await built.run(['serve', '--port', String(port)], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    other.close()
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toBe(
      `error: 127.0.0.1:${port} is in use by another program\n` +
        'hint: choose another port with --port, or stop the program that uses it\n',
    )
  })

  test('--port requires a valid port', async () => {
    expect((await built.run(['serve', '--port', '70000'])).code).toBe(2)
    expect((await built.run(['serve', '--port', 'many'])).code).toBe(2)
  })
})

describe('the process', () => {
  test('succeeds when its output is closed early', async () => {
    const running = built.start(['openapi'], { env: { BAX_STATE_DIR: await built.stateDir() } })
    running.child.stdout!.destroy()
    const { code, stderr } = await running.ended
    expect([code, stderr]).toEqual([0, ''])
  })

  test('reports an internal error in one sentence with exit code 7, and logs the stack', async () => {
    const folder = await built.stateDir()
    const broken = join(dirname(built.program), '..', 'broken')
    await cp(dirname(built.program), broken, { recursive: true })
    await writeFile(join(broken, 'manifest.json'), '{')
    const child = spawn(process.execPath, [join(broken, 'main.js'), 'session', 'list'], {
      env: { BAX_STATE_DIR: folder, BAX_CONFIG: noConfig },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += chunk))
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(7)
    expect(stderr).toMatch(/^error: internal error: .+\nhint: .+\n$/)
    expect(stderr).toContain(`hint: see ${folder}/bax.log for details`)
    expect(await readFile(`${folder}/bax.log`, 'utf8')).toContain('    at ')
  })
})
