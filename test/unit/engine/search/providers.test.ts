import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  searchFields,
  searchProviderNames,
  searchVariables,
  variablesOfApis,
} from '../../../../src/core/config/search-providers.ts'
import { type ProviderDefinition, loadProvider } from '../../../../src/engine/search/provider.ts'

const folder = new URL('../../../../src/engine/search/providers/', import.meta.url)

test('every listed provider has a file of its name, and every file is listed', () => {
  expect(readdirSync(folder).toSorted()).toEqual(searchProviderNames.map((name) => `${name}.ts`).toSorted())
})

test.each(searchProviderNames)('%s is defined under its own name', async (name) => {
  const { provider } = (await import(new URL(`${name}.ts`, folder).href)) as { provider: ProviderDefinition }
  expect(provider.name).toBe(name)
  const open = () => Promise.reject(new Error('no browser'))
  expect(await loadProvider(name, {}, open)).toMatchObject({ name, timeoutMs: expect.any(Number) })
})

test('variables and fields follow from what a provider needs', () => {
  expect(searchFields('google')).toEqual(['key', 'cx', 'url'])
  expect(searchFields('searxng')).toEqual(['url'])
  expect(searchVariables('google')).toEqual(['BAX_GOOGLE_KEY', 'BAX_GOOGLE_CX'])
  expect(searchVariables('bing')).toEqual([])
  expect(variablesOfApis(' with ')).toMatch(/^BAX_SEARXNG_URL, .*, or BAX_\w+( with BAX_\w+)*$/)
  expect(variablesOfApis(' with ')).toContain('BAX_GOOGLE_KEY with BAX_GOOGLE_CX')
})
