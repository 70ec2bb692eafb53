/** Tests the agent program, built with sanitizers, with input that an engine would never send. */
import fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startExec } from '../../src/engine/shell/agent/exec.ts'
import { AgentFiles } from '../../src/engine/shell/agent/files.ts'
import { FrameWriter, maxFrame, toAgent } from '../../src/engine/shell/agent/frames.ts'
import { agentProgram, noAgent, type RunningAgent, startAgent } from '../support/agent.ts'
import { bytesOf } from '../support/bytes.ts'
import { markedProcesses } from '../support/processes.ts'
import { waitUntil } from '../support/wait.ts'

/** Options of tests that start hundreds of processes. */
const manyRuns = { timeout: 240_000 }

describe.skipIf(noAgent)(`the agent's program${noAgent ? `: ${noAgent}` : ''}`, () => {
  let checked: Awaited<ReturnType<typeof agentProgram>>
  let folder: string
  const running = new Set<RunningAgent>()
  beforeAll(async () => {
    checked = await agentProgram({ checked: true })
  })
  afterAll(() => checked?.remove())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-agent-test-'))
  })
  afterEach(async () => {
    await Promise.all([...running].map((agent) => agent.close()))
    await rm(folder, { recursive: true, force: true })
  })

  const start = () => {
    const agent = startAgent(checked.program)
    running.add(agent)
    void agent.ended.then(() => running.delete(agent))
    return agent
  }
  /** Exits with 0, or with 2 and a message on invalid input: never with a memory error. */
  const expectResponsive = async (agent: RunningAgent) => {
    agent.process.stdin!.end()
    const code = await agent.ended
    expect(agent.stderr()).not.toMatch(/Sanitizer|runtime error/)
    expect([0, 2]).toContain(code)
    if (code === 2) expect(agent.stderr()).toMatch(/^bax-agent: /m)
  }

  test('survives any bytes, or reports what is invalid', manyRuns, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (noise) => {
        const agent = start()
        agent.process.stdin!.write(noise)
        await expectResponsive(agent)
      }),
      { numRuns: 30 },
    )
  })

  test('survives frames of every type with any body', manyRuns, async () => {
    const small = fc.integer({ min: 0, max: 4 })
    const text = fc.oneof(
      fc.constantFrom('/', '', '.', '/tmp', '/proc/self/status', '/nowhere/at/all', 'a\0b'),
      fc.string(),
    )
    const word = fc.oneof(
      small.map((value) => new FrameWriter().u8(value)),
      small.map((value) => new FrameWriter().u32(value)),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => new FrameWriter().u64(value)),
      text.map((value) => new FrameWriter().bytes(value)),
      fc.uint8Array({ maxLength: 30 }).map((value) => new FrameWriter().raw(value)),
    )
    // Without operations that change files: this agent runs on this machine.
    const body = fc.tuple(fc.constantFrom(1, 2, 3, 4, 5), fc.array(word, { maxLength: 6 }))
    const types = Object.values(toAgent).filter((type) => type !== toAgent.exec && type !== toAgent.file)
    const frame = fc.oneof(
      fc
        .tuple(fc.constantFrom(...types), small, fc.array(word, { maxLength: 6 }))
        .map(([type, id, words]) => joined(words).frame(type, id)),
      fc
        .tuple(small, body)
        .map(([id, [operation, words]]) => joined(words, new FrameWriter().u8(operation)).frame(toAgent.file, id)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 30 }), async (frames) => {
        const agent = start()
        for (const bytes of frames) agent.process.stdin!.write(bytes)
        await expectResponsive(agent)
      }),
      { numRuns: 40 },
    )
  })

  test('survives programs that are started, fed, killed and abandoned in any order', manyRuns, async () => {
    const words = [
      'true',
      'cat',
      'echo x; exit 3',
      'sleep 5 & echo left',
      'kill -9 $$',
      'kill -STOP $PPID',
      'head -c 300000 /dev/zero',
      'nothing-there',
    ]
    const exec = (id: number, command: string, flags: number) =>
      new FrameWriter()
        .u8(flags)
        .u16(80)
        .u16(24)
        .u64(300_000n)
        .u64(100_000n)
        .bytes('/')
        .u32(3)
        .bytes('sh')
        .bytes('-c')
        .bytes(command)
        .u32(0)
        .bytes('')
        .frame(toAgent.exec, id)
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin'), command: fc.constantFrom(...words), flags: fc.constantFrom(0, 1, 2) }),
      fc.record({
        kind: fc.constantFrom('data', 'end', 'kill', 'discard', 'resize', 'credit'),
        id: fc.integer({ min: 1, max: 8 }),
      }),
    )
    const further: Record<string, (id: number) => Buffer> = {
      data: (id) => new FrameWriter().raw(Buffer.alloc(1000, 97)).frame(toAgent.data, id),
      end: (id) => new FrameWriter().frame(toAgent.end, id),
      kill: (id) => new FrameWriter().u8(id % 2).frame(toAgent.kill, id),
      discard: (id) => new FrameWriter().u8(1).frame(toAgent.discard, id),
      resize: (id) => new FrameWriter().u16(10).u16(10).frame(toAgent.resize, id),
      credit: (id) => new FrameWriter().u8(1).u32(1_000_000).frame(toAgent.credit, id),
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const agent = start()
        let id = 0
        for (const item of steps)
          agent.process.stdin!.write(
            'command' in item ? exec(++id, item.command, item.flags) : further[item.kind]!(item.id),
          )
        await agent.channel.ping()
        await expectResponsive(agent)
      }),
      { numRuns: 25 },
    )
  })

  test('rejects a frame that is too long before reading it', async () => {
    const agent = start()
    const head = Buffer.alloc(9)
    head.writeUInt32LE(maxFrame + 1)
    agent.process.stdin!.write(head)
    expect(await agent.ended).toBe(2)
    expect(agent.stderr()).toBe('bax-agent: bad length of a frame\n')
  })

  test('leaves nothing running after the engine has disconnected', async () => {
    const agent = start()
    const script = 'trap "" TERM HUP; (setsid sleep 31417 &); echo up; exec sleep 31417'
    const exec = await startExec(agent.channel, {
      argv: ['sh', '-c', script],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', OF_TEST: folder },
      stdin: 'none',
    })
    await exec.stdout[Symbol.asyncIterator]().next()
    expect(await markedProcesses(`OF_TEST=${folder}`)).not.toEqual([])
    await agent.close()
    await expect(exec.exit).rejects.toMatchObject({ code: 'session_lost' })
    // Killed processes may need a moment to end.
    await waitUntil(async () => (await markedProcesses(`OF_TEST=${folder}`)).length === 0)
  })

  test('performs every file operation without a memory error', async () => {
    const agent = start()
    const files = new AgentFiles(agent.channel, {})
    const at = (name: string) => join(folder, name)
    await files.write(at('a/b/c.txt'), Buffer.alloc(700_000, 98))
    await files.write(at('a/b/c.txt'), Buffer.from('tail'), { append: true })
    expect(await files.copy(at('a'), at('copy'))).toEqual({ entries: 3, bytes: 700_004 })
    await files.move(at('copy'), at('moved'))
    const found: string[] = []
    for await (const { path } of files.walk(folder)) found.push(Buffer.from(path).toString())
    expect(found).toEqual(['a', 'a/b', 'a/b/c.txt', 'moved', 'moved/b', 'moved/b/c.txt'])
    const { data } = await files.read(at('moved/b/c.txt'), { offset: 699_998 })
    expect(data.toString()).toBe('bbtail')
    expect(await files.remove(at('a'), { recursive: true })).toBe(3)
    expect((await files.list(folder)).entries.map(({ name }) => name.toString())).toEqual(['moved'])
    await expectResponsive(agent)
  })

  test('serves eight slow readers and still responds to others', async () => {
    const agent = start()
    const files = new AgentFiles(agent.channel, {})
    await files.write(join(folder, 'large'), Buffer.alloc(3_000_000))
    const streams = await Promise.all(Array.from({ length: 8 }, () => files.readStream(join(folder, 'large'))))
    expect((await files.info(join(folder, 'large'))).size).toBe(3_000_000)
    for (const { data } of streams) expect((await bytesOf(data)).length).toBe(3_000_000)
    await expectResponsive(agent)
  })
})

/** Adds the bodies of words, which are frames without their head, to a body. */
const joined = (words: readonly FrameWriter[], start = new FrameWriter()) =>
  words.reduce((body, word) => body.raw(word.frame(0, 0).subarray(9)), start)
