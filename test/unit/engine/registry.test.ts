import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits.ts'
import { Registry } from '../../../src/engine/browser/registry.ts'
import type { Session } from '../../../src/engine/browser/session.ts'

const session = (sessionId: string, name: string | null = null) =>
  ({ sessionId, name, endedAt: null as Date | null, endReason: null as string | null }) as unknown as Session

function end(target: Session, at: number) {
  Object.assign(target, { endedAt: new Date(at), endReason: 'deleted' })
}

describe('the registry of sessions', () => {
  test('a name is held from the wish to the end, and no longer', () => {
    const registry = new Registry()
    const giveBack = registry.holdName('shop')
    expect(() => registry.holdName('shop')).toThrow(/named "shop" already/)
    giveBack()
    registry.holdName('shop')
    const made = session('ses_1', 'shop')
    registry.add(made)
    giveBack()
    expect(registry.find('shop')).toBe(made)
    expect(() => registry.holdName('shop')).toThrow(expect.objectContaining({ code: 'conflict' }))
    end(made, Date.now())
    registry.retire(made)
    registry.holdName('shop')
  })

  test('an ended session is found for ten minutes, by id and by name', () => {
    let now = Date.now()
    const registry = new Registry(() => now)
    const made = session('ses_1', 'shop')
    registry.add(made)
    end(made, now)
    registry.retire(made)
    now += limits.session.tombstoneMs
    expect(registry.find('shop')).toBe(made)
    expect(() => registry.liveOne('ses_1')).toThrow(
      expect.objectContaining({ code: 'session_closed', details: { reason: 'deleted' } }),
    )
    now += 1
    expect(() => registry.find('ses_1')).toThrow(expect.objectContaining({ code: 'session_not_found' }))
    expect(registry.ended).toEqual([])
  })

  test('a live session comes before an ended one of the same name', () => {
    const registry = new Registry()
    const old = session('ses_1', 'shop')
    registry.add(old)
    end(old, Date.now())
    registry.retire(old)
    const fresh = session('ses_2', 'shop')
    registry.add(fresh)
    expect(registry.find('shop')).toBe(fresh)
    expect(registry.find('ses_1')).toBe(old)
  })
})
