import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandScaler } from '../../../src/fleet/scaler/command.ts'
import { waitUntil } from '../../support/wait.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'bax-scaler-'))
})
afterAll(() => rm(cwd, { recursive: true }))

const program = async (name: string, text: string): Promise<string> => {
  await writeFile(join(cwd, name), `#!/bin/sh\n${text}\n`)
  await chmod(join(cwd, name), 0o755)
  return `./${name}`
}
const scaler = (path: string, timeoutMs?: number) =>
  new CommandScaler({
    program: path,
    env: { PATH: '/usr/bin:/bin', OWN: 'kept' },
    cwd,
    ...(timeoutMs && { timeoutMs }),
  })

describe('the command scaler', () => {
  test('runs the program with the number as its argument and in BAX_FLEET_WANT', async () => {
    await scaler(await program('write.sh', 'echo "$1 $BAX_FLEET_WANT $OWN" > written')).want(7)
    expect(await readFile(join(cwd, 'written'), 'utf8')).toBe('7 7 kept\n')
  })

  test('reports the exit code and the error output', async () => {
    const path = await program('fail.sh', 'echo "no quota left" >&2; exit 3')
    await expect(scaler(path).want(2)).rejects.toThrow('./fail.sh 2 exited with 3: no quota left')
    await expect(scaler(await program('killed.sh', 'kill -9 $$')).want(2)).rejects.toThrow('was ended by SIGKILL')
  })

  test('reports a program that cannot be run', async () => {
    await expect(scaler('./absent.sh').want(1)).rejects.toThrow('./absent.sh 1 does not exist')
    await writeFile(join(cwd, 'text'), '')
    await expect(scaler('./text').want(1)).rejects.toThrow('./text 1 is not executable')
  })

  test('ends a program that takes too long, with what it has started', async () => {
    const path = await program('slow.sh', 'sleep 1000 & echo $! > child; wait')
    await expect(scaler(path, 3000).want(1)).rejects.toThrow('./slow.sh 1 did not end within 3 s')
    const child = Number(await readFile(join(cwd, 'child'), 'utf8'))
    await waitUntil(() => !isRunning(child))
  })

  test('does not wait for programs in the background, which may go on writing', async () => {
    const path = await program('start.sh', '(sleep 0.5; echo late >&2; echo done > background) &')
    await scaler(path).want(1)
    await waitUntil(() =>
      readFile(join(cwd, 'background'), 'utf8').then(
        () => true,
        () => false,
      ),
    )
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
