import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Io } from '../../../src/cli/io.ts'
import { showBatch } from '../../../src/cli/output/batch-output.ts'
import { type CommandEntry, makeManifest } from '../../../src/operations/manifest.ts'

test('a command declares the field of its bytes; -o writes them to a file', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'bax-test-output-'))
  try {
    const entry: CommandEntry = { name: 'draw', family: 'x', kind: 'extraction', summary: '', example: '', params: [], bytes: 'drawing' } // prettier-ignore
    const written: unknown[] = []
    const output = { write: (chunk: unknown) => written.push(chunk) }
    const io = { cwd, env: {}, stdout: output, stderr: output } as unknown as Io
    const manifest = { operations: [], commands: [...makeManifest().commands, entry] }
    const data = { drawing: Buffer.from('%PDF-').toString('base64') }
    const result = { success: true, index: 0, command: 'draw', command_type: 'extraction', content_type: 'image/png', data } as const // prettier-ignore
    const body = { success: true, session_id: 'ses_1', results: [result] } as never
    const context = { io, manifest, settings: { json: false } } as never
    const show = (file?: string) =>
      showBatch(context, body, [{ command: 'draw', data: {}, ...(file && { output: file }) }], new Date())
    expect(await show('x.pdf')).toBe(0)
    expect(await readFile(join(cwd, 'x.pdf'), 'utf8')).toBe('%PDF-')
    expect(written).toEqual([])
    expect(await show()).toBe(0)
    expect(written).toEqual([Buffer.from('%PDF-')])
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
})
