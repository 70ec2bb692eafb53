import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': '<!doctype html><meta name=viewport content="width=device-width"><title>Home</title><a id=a href=/popup target=_blank>open</a>',
  '/popup':
    '<!doctype html><meta name=viewport content="width=device-width"><title>Popup</title><script>window.early = [innerWidth, navigator.userAgent, new Date(0).getHours()]</script>',
  '/headers': (request: IncomingMessage, response: ServerResponse) => response.end(JSON.stringify(request.headers)),
  '/private': (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization) response.end(`hello ${request.headers.authorization}`)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('who are you?')
  },
}

inUsualHomes(pages, (given) => {
  const matches = (query: string) => given.evaluate(`matchMedia(${JSON.stringify(query)}).matches`)
  const emulate = async (data: Record<string, unknown>) => (await given.do('emulate', data))['emulation'] as typeof data
  const reset = async () => expect(await emulate({ reset: true })).toEqual({})

  test('set_viewport resizes present and future tabs, and the record of the session', async () => {
    await given.open('/')
    expect(await given.do('set_viewport', { width: 390, height: 844 })).toEqual({
      emulation: { viewport: { width: 390, height: 844 } },
    })
    expect(await given.evaluate('[innerWidth, innerHeight, devicePixelRatio]')).toEqual([390, 844, 1])
    expect((await given.client().getSession({ session_id: given.sessionId() })).viewport).toEqual({
      width: 390,
      height: 844,
    })
    await given.do('set_viewport', { width: 400, height: 300, scale: 2 })
    expect(await given.evaluate('[innerWidth, innerHeight, devicePixelRatio]')).toEqual([400, 300, 2])
    await given.open('/popup')
    expect(await given.evaluate('[innerWidth, devicePixelRatio]')).toEqual([400, 2])
    await reset()
    expect(await given.evaluate('[innerWidth, innerHeight, devicePixelRatio]')).toEqual([1280, 720, 1])
  })

  test('emulate sets a device in the page, its requests and its popups, and resets it', async () => {
    await given.open('/')
    const plain = await given.evaluate('navigator.userAgent')
    const inForce = await emulate({ device: 'iphone 15', timezone: 'Asia/Tokyo' })
    expect(inForce).toMatchObject({ device: 'iPhone 15', scale: 3, mobile: true, touch: true, timezone: 'Asia/Tokyo' })
    const facts = '[innerWidth, devicePixelRatio, navigator.maxTouchPoints > 0, /iPhone/.test(navigator.userAgent)]'
    expect(await given.evaluate(facts)).toEqual([393, 3, true, true])
    await given.open('/headers')
    expect(await given.value('get_text', { selector: 'body' })).toContain('iPhone')
    await given.open('/')
    expect(await given.evaluate(facts)).toEqual([393, 3, true, true])
    await given.do('click', { selector: '#a' })
    await given.do('wait_for_element', { selector: 'title' })
    expect(await given.value('get_title')).toBe('Popup')
    expect(await given.evaluate('window.early')).toEqual([393, expect.stringContaining('iPhone'), 9])
    expect((await given.client().getSession({ session_id: given.sessionId() })).user_agent).toContain('iPhone')
    await reset()
    expect(
      await given.evaluate('[innerWidth, devicePixelRatio, navigator.maxTouchPoints, navigator.userAgent]'),
    ).toEqual([1280, 1, 0, plain])
  })

  test('emulate sets media features, also after a navigation', async () => {
    await given.open('/')
    await emulate({ color_scheme: 'dark', reduced_motion: 'reduce', media: 'print' })
    await emulate({ contrast: 'more', forced_colors: 'active' })
    await given.open('/popup')
    const queries = [
      '(prefers-color-scheme: dark)',
      '(prefers-reduced-motion: reduce)',
      'print',
      '(prefers-contrast: more)',
      '(forced-colors: active)',
    ]
    for (const query of queries) expect(await matches(query), query).toBe(true)
    await reset()
    for (const query of queries) expect(await matches(query), query).toBe(false)
  })

  test('emulate sets language, time zone and user agent', async () => {
    await given.open('/')
    await emulate({ locale: 'de-DE', timezone: 'Europe/Berlin', user_agent: 'Mozilla/5.0 (own)' })
    const facts = `[navigator.language, (1.5).toLocaleString(), Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent]`
    const own = ['de-DE', '1,5', 'Europe/Berlin', 'Mozilla/5.0 (own)']
    expect(await given.evaluate(facts)).toEqual(own)
    await given.open('/headers')
    expect(await given.evaluate(facts)).toEqual(own)
    const headers = JSON.parse((await given.value('get_text', { selector: 'body' })) as string) as Record<
      string,
      string
    >
    expect(headers).toMatchObject({
      'user-agent': 'Mozilla/5.0 (own)',
      'accept-language': expect.stringMatching(/^de-DE/),
    })
    await emulate({ locale: 'fr-FR' })
    expect(await given.evaluate('[navigator.language, navigator.userAgent]')).toEqual(['fr-FR', 'Mozilla/5.0 (own)'])
    await reset()
    expect(await given.evaluate('navigator.userAgent')).toContain('Chrome')
    expect(await given.evaluate('(1.5).toLocaleString()')).toBe('1.5')
  })

  test('emulate sets the position', async () => {
    await given.open('/')
    await emulate({ latitude: 52.5, longitude: 13.4 })
    const position = `new Promise(done => navigator.geolocation.getCurrentPosition(
      ({coords}) => done([coords.latitude, coords.longitude]), (error) => done(error.message)))`
    expect(await given.evaluate(position)).toEqual([52.5, 13.4])
    await reset()
    expect(await given.evaluate(`navigator.permissions.query({name: 'geolocation'}).then(p => p.state)`)).not.toBe(
      'granted',
    )
  })

  test('emulate sets headers, credentials and offline, and reports no secrets', async () => {
    await given.open('/')
    const data = { headers: { 'X-Own': 'yes', Authorization: 'Bearer abc' } }
    expect(await emulate(data)).toEqual({ headers: { 'X-Own': 'yes', Authorization: '[redacted]' } })
    const fetched = (path: string) => given.evaluate(`fetch('${path}').then(r => r.text(), () => 'failed')`)
    expect(JSON.parse((await fetched('/headers')) as string)).toMatchObject({
      'x-own': 'yes',
      authorization: 'Bearer abc',
    })
    await emulate({ headers: {} })
    expect(await fetched('/headers')).not.toContain('x-own')
    const inForce = await emulate({
      username: 'ann',
      password: 'pw',
      credentials_origin: given.url('/any'),
    })
    expect(inForce['credentials']).toEqual({
      username: 'ann',
      password: '[redacted]',
      origin: new URL(given.url('/')).origin,
    })
    expect(await fetched('/private')).toBe(`hello Basic ${Buffer.from('ann:pw').toString('base64')}`)
    await emulate({ offline: true })
    expect(await fetched('/headers')).toBe('failed')
    expect(await given.evaluate('navigator.onLine')).toBe(false)
    await reset()
    expect(await fetched('/headers')).toContain('host')
  })

  test('routes and credentials work together', async () => {
    await given.open('/')
    await emulate({ username: 'ann', password: 'pw' })
    const { route_id } = await given.do('add_route', { url: '**/made-up', body: 'from a route' })
    const fetched = (path: string) => given.evaluate(`fetch('${path}').then(r => r.text(), () => 'failed')`)
    expect(await fetched('/made-up')).toBe('from a route')
    await given.do('remove_route', { route: route_id })
    expect(await fetched('/private?2')).toContain('hello Basic')
    await reset()
  })

  test('a setting that the engine does not know is refused', async () => {
    const { code, error } = await given.fails('emulate', { device: 'iPhone 155' })
    expect({ code, error }).toEqual({
      code: 'invalid_data',
      error: 'unknown device "iPhone 155" (did you mean "iPhone 15"?)',
    })
    for (const [data, message] of [
      [{ latitude: 1 }, /latitude.*needs longitude/],
      [{ username: 'a' }, /username.*needs password/],
      [{ timezone: 'Mars/Base' }, /not an IANA time zone/],
      [{ headers: { Host: 'x' } }, /controls the header Host/],
    ] as const) {
      await expect(given.run([['emulate', data]])).rejects.toThrow(message)
    }
  })

  test('add_init_script runs before the scripts of every page until it is removed', async () => {
    const { script_id: first } = await given.do('add_init_script', { script: 'window.own = (window.own ?? 0) + 1' })
    const { script_id: second } = await given.do('add_init_script', { script: 'window.other = true' })
    await given.open('/popup')
    expect(await given.evaluate('[window.own, window.other]')).toEqual([1, true])
    expect(await given.do('remove_init_script', { script_id: first })).toEqual({ removed: [first] })
    await given.open('/')
    await given.do('click', { selector: '#a' })
    await given.do('wait_for_element', { selector: 'title' })
    expect(await given.evaluate('[window.own, window.other, location.pathname]')).toEqual([null, true, '/popup'])
    expect(await given.do('remove_init_script')).toEqual({ removed: [second] })
    expect((await given.fails('remove_init_script', { script_id: first as string })).error).toMatch(
      /no init script has/,
    )
  })

  test('get_vitals measures the current document', async () => {
    await given.open('/popup')
    await given.do('navigate_to', {
      url: `data:text/html,<h1 id=h>Large text</h1><button onclick="for (const end = performance.now() + 60; performance.now() < end; ) ;">b</button>`,
    })
    const vitals = await given.value('get_vitals')
    // A busy machine has poor times.
    const timed = { value: expect.any(Number), rating: expect.stringMatching(/^(?:good|needs-improvement|poor)$/) }
    expect(vitals).toMatchObject({ lcp: timed, fcp: timed, cls: { value: 0, rating: 'good' }, inp: null })
    await given.do('click', { selector: 'button' })
    expect(await given.value('get_vitals')).toMatchObject({ lcp: timed, inp: { value: expect.any(Number) } })
    await given.open('/')
    expect(await given.value('get_vitals')).toMatchObject({ url: given.url('/'), ttfb: timed })
  })
})
