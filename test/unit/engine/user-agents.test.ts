import { describe, expect, test } from 'vitest'
import { clientHintsFor, plainUserAgent, randomUserAgent } from '../../../src/engine/browser/cdp/user-agents.ts'

const version = '156.0.8078.79'
const all = Array.from({ length: 100 }, (_, at) => randomUserAgent(version, () => at / 100))

describe('user agents', () => {
  test('are random, of the browser’s own version, and never headless', () => {
    expect(new Set(all).size).toBeGreaterThan(4)
    for (const agent of all) {
      expect(agent).toContain('Chrome/156.0.0.0')
      expect(agent).not.toContain('Headless')
    }
  })

  test.each([...new Set(all)])('have matching hints and platform: %s', (agent) => {
    const { hints, platform } = clientHintsFor(agent, version)
    const product = agent.includes('Edg/') ? 'Microsoft Edge' : 'Google Chrome'
    expect(hints!.brands.map(({ brand }) => brand).toSorted()).toEqual(['Chromium', product, 'Not:A-Brand'].toSorted())
    expect(hints!.fullVersionList).toContainEqual({ brand: product, version })
    const systems = {
      Win32: 'Windows',
      MacIntel: 'macOS',
      'Linux x86_64': agent.includes('CrOS') ? 'Chrome OS' : 'Linux',
    }
    expect(hints!.platform).toBe(systems[platform as keyof typeof systems])
  })

  test('list brands by Chromium’s rule', () => {
    // As Chromium 156 sends them itself.
    expect(clientHintsFor(plainUserAgent(`X11; Linux HeadlessChrome/${version}`), version).hints!.brands).toEqual([
      { brand: 'Not:A-Brand', version: '8' },
      { brand: 'Chromium', version: '156' },
      { brand: 'Google Chrome', version: '156' },
    ])
  })

  test('have no client hints for browsers that send none', () => {
    const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
    expect(clientHintsFor(firefox, version)).toEqual({ platform: 'Win32' })
    expect(clientHintsFor('Probe/1.0', version)).toEqual({})
  })
})
