import { expect, test } from 'vitest'
import { imageChars, isImageReference } from '../../../src/core/config/image-reference.ts'

const hex = (length: number) => 'a1'.repeat(length / 2)

test('accepts the references that registries use', () => {
  for (const reference of [
    'python',
    'python:3.12-slim',
    'bax-shell:default',
    'library/python',
    'registry.example/team/image_name.v2:Tag_1.0-x',
    'localhost:5000/a',
    'Registry.Example:5000/a--b/c__d',
    '[::1]:5000/a:b',
    `python@sha256:${hex(64)}`,
    `registry.example/python:3@sha512:${hex(128)}`,
    `sha256:${hex(64)}`,
    `a:${'t'.repeat(128)}`,
    'a'.repeat(255),
    `${'a'.repeat(255)}:${'t'.repeat(128)}@sha512:${hex(128)}`,
  ])
    expect(isImageReference(reference), reference).toBe(true)
})

test('rejects everything else', () => {
  for (const text of [
    '',
    ' ',
    'Python',
    'a b',
    'x --privileged',
    '--privileged',
    '../../etc',
    '..',
    './a',
    '/a',
    'a/',
    'a//b',
    'a/../b',
    '//host/a',
    'x%2f..%2f',
    'http://127.0.0.1/a',
    'user@host/a',
    'a:',
    'a:.b',
    'a:b:c',
    'a@b',
    'a@sha256:12',
    'a..b',
    'a___b',
    '-a',
    'a-',
    'a\n',
    'a\0',
    '\ud800',
    'é',
    '<none>:<none>',
    'host:port/a',
    'host:/a',
    '$(id)',
    `a:${'t'.repeat(129)}`,
    'a'.repeat(256),
    'x'.repeat(10_000),
    `a@sha512:${hex(1000)}`,
  ])
    expect(isImageReference(text), JSON.stringify(text)).toBe(false)
  expect(imageChars).toBeGreaterThan(255 + 128)
})
