import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Io } from '../../../src/cli/io.ts'
import { showBatch } from '../../../src/cli/output/batch-output.ts'
import { writeNew } from '../../../src/cli/output/write-output.ts'
import { type CommandEntry, makeManifest } from '../../../src/operations/manifest.ts'

test('a command declares the field of its bytes; -o writes them to a file', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'bax-test-output-'))
  try {
    const entry: CommandEntry = {
      name: 'draw',
      family: 'x',
      kind: 'extraction',
      summary: '',
      examples: [],
      params: [],
      bytes: 'drawing',
    }
    const written: unknown[] = []
    const output = { write: (chunk: unknown) => written.push(chunk) }
    const io = { cwd, env: {}, stdout: output, stderr: output } as unknown as Io
    const manifest = { operations: [], commands: [...makeManifest().commands, entry] }
    const data = { drawing: Buffer.from('%PDF-').toString('base64') }
    const result = {
      success: true,
      index: 0,
      command: 'draw',
      command_type: 'extraction',
      content_type: 'image/png',
      data,
    } as const
    const body = { success: true, session_id: 'ses_1', results: [result] } as never
    const context = { io, manifest, settings: { json: false } } as never
    const show = (file?: string) =>
      showBatch(context, body, [{ command: 'draw', data: {}, ...(file && { output: file }) }], new Date())
    expect(await show('x.pdf')).toBe(0)
    expect(await readFile(join(cwd, 'x.pdf'), 'utf8')).toBe('%PDF-')
    expect(written).toEqual([])
    expect(await show('-')).toBe(0)
    expect(written).toEqual([Buffer.from('%PDF-')])
    expect(await show()).toBe(0)
    const path = String(written[1]).trimEnd()
    expect(await readFile(join(cwd, path), 'utf8')).toBe('%PDF-')
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
})

test('a result that cannot be written does not hide the others', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'bax-test-output-'))
  await rm(cwd, { recursive: true })
  let [out, err] = ['', '']
  const stdout = { write: (chunk: unknown) => (out += String(chunk)) }
  const stderr = { write: (chunk: unknown) => (err += String(chunk)) }
  const io = { cwd, env: {}, stdout, stderr } as unknown as Io
  const shot = {
    success: true,
    index: 0,
    command: 'screenshot',
    command_type: 'extraction',
    data: { screenshot: 'aGk=' },
  }
  const title = {
    success: true,
    index: 1,
    command: 'get_title',
    command_type: 'extraction',
    data: { result: { type: 'string', value: 'Tea' } },
  }
  const click = {
    success: false,
    index: 2,
    command: 'click',
    error: 'no element matches #b',
    code: 'element_not_found',
  }
  const body = {
    success: false,
    session_id: 'ses_1',
    results: [shot, title, click],
    code: 'element_not_found',
  } as never
  const context = { io, manifest: makeManifest(), settings: { json: false } } as never
  await expect(showBatch(context, body, null, new Date())).rejects.toMatchObject({
    message: expect.stringMatching(/^cannot write .*screenshot-.*: no such file or folder$/),
    hint: 'name a file in another folder with --output',
  })
  expect([out, err]).toEqual(['Tea\n', expect.stringContaining('no element matches #b [element_not_found]')])
})

test('a new file replaces nothing, not even what exists for the file system only', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'bax-test-output-'))
  try {
    await symlink('missing', join(cwd, 'screenshot-19700101-000000.png'))
    const path = writeNew(cwd, { now: new Date(0), extension: 'png' }, Buffer.from('x'))
    expect(path).toBe(join(cwd, 'screenshot-19700101-000000-2.png'))
    expect(await readdir(cwd)).not.toContain('missing')
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
})

test('a command declares the table that shows its list; -o writes JSON', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'bax-test-output-'))
  try {
    const entry: CommandEntry = {
      name: 'rows',
      family: 'x',
      kind: 'extraction',
      summary: '',
      examples: [],
      params: [],
      table: { items: 'list', columns: ['id', 'name'] },
    }
    const manifest = { operations: [], commands: [entry] }
    const shown = async (list: unknown[], file?: string) => {
      let text = ''
      const output = { write: (chunk: unknown) => (text += String(chunk)) }
      const io = { cwd, env: {}, stdout: output, stderr: output } as unknown as Io
      const data = { result: { type: 'object', value: { list, total: list.length } } }
      const result = { success: true, index: 0, command: 'rows', command_type: 'extraction', data } as const
      const body = { success: true, session_id: 'ses_1', results: [result] } as never
      const typed = [{ command: 'rows', data: {}, ...(file && { output: file }) }]
      await showBatch({ io, manifest, settings: { json: false } } as never, body, typed, new Date())
      return text
    }
    expect(await shown([{ id: 1, name: 'tea' }, { id: 12 }])).toBe('ID  NAME\n1   tea\n12  -\n')
    expect(await shown([])).toBe('no entries\n')
    expect(await shown([{ id: 1 }], 'rows.json')).toBe('')
    expect(JSON.parse(await readFile(join(cwd, 'rows.json'), 'utf8'))).toEqual({ list: [{ id: 1 }], total: 1 })
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
})
