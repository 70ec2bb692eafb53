import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolders } from '../../../src/core/state/folders.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bax-folders-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const codeOf = (path: string) => {
  try {
    return makeFolders(path)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

test('a folder is created with its parents and with the mode, once', () => {
  const path = join(root, 'a/b/c')
  expect([makeFolders(path, 0o700), makeFolders(path)]).toEqual([true, false])
  expect(statSync(path).mode & 0o777).toBe(0o700)
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
})

test('a place where no folder can exist is an error', () => {
  writeFileSync(join(root, 'file'), '')
  symlinkSync('nowhere', join(root, 'link'))
  expect(codeOf(join(root, 'file'))).toBe('EEXIST')
  expect(codeOf(join(root, 'file/a/b'))).toBe('ENOTDIR')
  expect(codeOf(join(root, 'link'))).toBe('EEXIST')
  expect(codeOf(join(root, 'link/a/b'))).toBe('EEXIST')
  expect(codeOf('/proc/none/a')).toBe('ENOENT')
  expect(readdirSync(root)).toEqual(['file', 'link'])
})

test('a link to a folder is a folder', () => {
  mkdirSync(join(root, 'real'))
  symlinkSync('real', join(root, 'to-real'))
  expect([makeFolders(join(root, 'to-real')), makeFolders(join(root, 'to-real/in'))]).toEqual([false, true])
  expect(readdirSync(join(root, 'real'))).toEqual(['in'])
})
