import { describe, expect, test, vi } from 'vitest'
import { type Caller, keylessCaller, anonymousCaller } from '../../../src/core/access/caller.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { SessionRegistry } from '../../../src/engine/browser/session/registry.ts'
import type { Session } from '../../../src/engine/browser/session/session.ts'

const session = (sessionId: string, name: string | null = null, owner: string | null = null) => {
  const made = {
    sessionId,
    name,
    owner,
    tokens: { grantOf: (token: string) => (token === `ft_${sessionId}` ? { control: false, cdp: true } : undefined) },
    endedAt: null as Date | null,
    endReason: null as string | null,
    sketch: () => ({
      session_id: sessionId,
      name,
      ended_at: made.endedAt as Date | null,
      end_reason: made.endReason as string | null,
      commands_run: 3,
    }),
  }
  return made as unknown as Session
}

function end(target: Session, at: number) {
  Object.assign(target, { endedAt: new Date(at), endReason: 'deleted' })
}

describe('session registry', () => {
  test('reserves a name from the request to the end of the session', () => {
    const registry = new SessionRegistry()
    const release = registry.reserveName('shop', null)
    expect(() => registry.reserveName('shop', null)).toThrow(/already named "shop"/)
    release()
    registry.reserveName('shop', null)
    const made = session('ses_1', 'shop')
    registry.add(made)
    release()
    expect(registry.find('shop', keylessCaller)).toBe(made)
    expect(() => registry.reserveName('shop', null)).toThrow(expect.objectContaining({ code: 'conflict' }))
    end(made, Date.now())
    registry.retire(made)
    registry.reserveName('shop', null)
  })

  test('redeems a ticket once, for its own session, and for a minute', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const registry = new SessionRegistry()
    const [own, other] = [session('ses_1'), session('ses_2')]
    for (const made of [own, other]) registry.add(made)
    const redeemed = (sessionId: string, ticket: string) => registry.redeemTicket(sessionId, ticket)
    const ticket = registry.issueTicket('ses_1', keylessCaller)
    expect([redeemed('ses_1', ticket), redeemed('ses_1', ticket)]).toEqual([own, undefined])
    expect(redeemed('ses_2', registry.issueTicket('ses_1', keylessCaller))).toBeUndefined()
    const late = registry.issueTicket('ses_1', keylessCaller)
    vi.advanceTimersByTime(limits.session.ticketMs)
    expect(redeemed('ses_1', late)).toBeUndefined()
    vi.useRealTimers()
  })

  test('finds an ended session for ten minutes, by ID and by name', () => {
    let now = Date.now()
    const registry = new SessionRegistry(() => now)
    const made = session('ses_1', 'shop')
    registry.add(made)
    end(made, now)
    registry.retire(made)
    now += limits.session.tombstoneMs
    expect(registry.find('shop', keylessCaller)).toBe(made)
    expect(() => registry.findLive('ses_1', keylessCaller)).toThrow(
      expect.objectContaining({ code: 'session_closed', details: { reason: 'deleted', ended_at: expect.any(String) } }),
    )
    now += 1
    expect(() => registry.find('ses_1', keylessCaller)).toThrow(expect.objectContaining({ code: 'session_not_found' }))
    expect(registry.ended).toEqual([])
  })

  test('finds a tombstone by ID, name, owner and frame token', async () => {
    const registry = new SessionRegistry()
    const made = session('ses_1', 'shop', 'key_1')
    registry.add(made)
    end(made, Date.now())
    registry.retire(made)
    registry.archive(made)
    const tombstone = registry.find('shop', key('key_1'))
    expect(tombstone).not.toBe(made)
    expect(registry.ended).toEqual([tombstone])
    expect(tombstone.endedAt).toEqual(made.endedAt)
    expect(await tombstone.record({ baseUrl: 'http://x', socketBaseUrl: 'http://x' })).toMatchObject({
      session_id: 'ses_1',
      commands_run: 3,
      sse_url: 'http://x/stream/sse?session_id=ses_1',
      cdp_url: null,
      live_view_url: null,
    })
    expect(() => registry.find('ses_1', key('key_2'))).toThrow(expect.objectContaining({ code: 'session_not_found' }))
    expect(registry.findForWatching('ses_1', 'ft_ses_1', anonymousCaller)).toBe(tombstone)
    expect(() => registry.findLive('ses_1', key('key_1'))).toThrow(expect.objectContaining({ code: 'session_closed' }))
  })

  test('prefers a live session to an ended one with the same name', () => {
    const registry = new SessionRegistry()
    const old = session('ses_1', 'shop')
    registry.add(old)
    end(old, Date.now())
    registry.retire(old)
    const fresh = session('ses_2', 'shop')
    registry.add(fresh)
    expect(registry.find('shop', keylessCaller)).toBe(fresh)
    expect(registry.find('ses_1', keylessCaller)).toBe(old)
  })

  test('separates the names and sessions of different keys', () => {
    const registry = new SessionRegistry()
    const [of1, of2] = [session('ses_1', 'shop', 'key_1'), session('ses_2', 'shop', 'key_2')]
    registry.reserveName('shop', 'key_1')
    registry.add(of1)
    registry.reserveName('shop', 'key_2')
    registry.add(of2)
    expect([registry.find('shop', key('key_1')), registry.find('shop', key('key_2'))]).toEqual([of1, of2])
    for (const name of ['shop', 'ses_1']) {
      expect(() => registry.find(name, key('key_3'))).toThrow(expect.objectContaining({ code: 'session_not_found' }))
      expect(registry.has(name, key('key_3'))).toBe(false)
    }
    end(of1, Date.now())
    registry.retire(of1)
    expect(() => registry.find('ses_1', key('key_2'))).toThrow(expect.objectContaining({ code: 'session_not_found' }))
  })

  test('requires an ID from admins when several sessions have the name', () => {
    const registry = new SessionRegistry()
    const admin = { ...key('key_3'), admin: true }
    registry.add(session('ses_1', 'shop', 'key_1'))
    expect(registry.find('shop', admin).sessionId).toBe('ses_1')
    registry.add(session('ses_2', 'shop', 'key_2'))
    expect(() => registry.find('shop', admin)).toThrow(expect.objectContaining({ code: 'conflict' }))
    expect(registry.find('ses_2', admin).sessionId).toBe('ses_2')
    registry.add(session('ses_3', 'shop', 'key_3'))
    expect(registry.find('shop', admin).sessionId).toBe('ses_3')
  })

  test('accepts a frame token from any caller for its own session, and tells unauthenticated callers nothing else', () => {
    const registry = new SessionRegistry()
    registry.add(session('ses_1', 'shop', 'key_1'))
    registry.add(session('ses_2', 'shop', 'key_2'))
    expect(registry.findForWatching('shop', 'ft_ses_2', anonymousCaller).sessionId).toBe('ses_2')
    expect(registry.findForWatching('ses_1', 'ft_ses_1', key('key_2')).sessionId).toBe('ses_1')
    expect(registry.findForWatching('ses_1', null, key('key_1')).sessionId).toBe('ses_1')
    const refused = expect.objectContaining({ code: 'unauthorized' })
    expect(() => registry.findForWatching('ses_1', 'ft_ses_2', anonymousCaller)).toThrow(refused)
    expect(() => registry.findForWatching('ses_1', null, anonymousCaller)).toThrow(refused)
    expect(() => registry.findForWatching('ses_9', 'ft_ses_2', anonymousCaller)).toThrow(refused)
    expect(() => registry.findForWatching('ses_1', 'ft_ses_2', key('key_1'))).toThrow(refused)
    expect(() => registry.findForWatching('ses_1', 'ft_ses_2', key('key_2'))).toThrow(
      expect.objectContaining({ code: 'session_not_found' }),
    )
  })
})

const key = (keyId: string): Caller => ({ keyId, name: keyId, scopes: ['browser'], admin: false })
