/** Observations of a page that navigates meanwhile. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/** A page that opens the next one by itself, `?4` four times, and each after another delay. */
const hops = (_: unknown, response: ServerResponse) =>
  void response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Hop</title><main></main><script>
    const left = Number(location.search.slice(1))
    document.querySelector('main').innerHTML = left > 0 ? '<p>moving</p>'.repeat(500) : '<h1>Arrived</h1>'
    if (left > 0) setTimeout(() => location.replace('/hops?' + (left - 1)), left * 7)
  </script>`)

inUsualHomes({ '/hops': hops }, (given) => {
  const observe = async () => (await given.client().observe({ session_id: given.sessionId() } as never)).snapshot!

  test('are of one of its pages', async () => {
    for (let round = 0; round < 5; round += 1) {
      await given.open('/hops?4')
      let seen = ''
      while (!seen.includes('Arrived')) {
        seen = await observe()
        expect(seen).toMatch(/moving|Arrived/)
      }
    }
  })
})
