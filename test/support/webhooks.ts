/** A receiver of webhooks, whose responses a test can hold back. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { waitUntil } from './wait.ts'

interface Received {
  /** ID of the event. */
  readonly event: string
  readonly type: string
  readonly text: string
  /** URL of the page; undefined for the start and the end of a job. */
  readonly url: string | undefined
}

export interface WebhookReceiver {
  /** Value for the input `webhook`. */
  readonly webhook: { readonly url: string; readonly secret: string }
  /** Events so far, in the order of their arrival. */
  readonly received: readonly Received[]
  /** Holds back the response to the first event of this type after `count` others, until `release`. */
  hold(type: string, count?: number): void
  /** Resolves with the event whose response is held back. */
  held(): Promise<Received>
  release(): void
  /** Removes the events so far. */
  clear(): void
  close(): Promise<void>
}

/** Starts a receiver, which checks the signature of every request. */
export async function receiveWebhooks(): Promise<WebhookReceiver> {
  const secret = 'a secret of the receiver'
  const received: Received[] = []
  let holding: { type: string; count: number } | undefined
  let held: { of: Received; answer: () => void } | undefined
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    const signature = createHmac('sha256', secret).update(text).digest('hex')
    if (request.headers['x-firecrawl-signature'] !== `sha256=${signature}`) return response.writeHead(401).end()
    const { type, data } = JSON.parse(text) as { type: string; data: { metadata?: { sourceURL: string } }[] }
    const of = { event: String(request.headers['x-bax-event']), type, text, url: data[0]?.metadata?.sourceURL }
    received.push(of)
    if (holding?.type !== type || holding.count-- > 0) return response.end()
    holding = undefined
    held = { of, answer: () => response.end() }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    webhook: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, secret },
    received,
    hold: (type, count = 0) => void (holding = { type, count }),
    held: async () => {
      await waitUntil(() => held !== undefined)
      return held!.of
    },
    release: () => {
      held?.answer()
      held = undefined
    },
    clear: () => void (received.length = 0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Checks that every page and the start and end of a job have arrived in order, and that only the events `repeated` have
 * arrived again.
 */
export function expectDelivered(
  { received }: WebhookReceiver,
  job: { readonly name: string; readonly urls: readonly string[]; readonly repeated: readonly string[] },
): void {
  const first = new Map<string, Received>()
  const again: string[] = []
  for (const one of received) {
    const known = first.get(one.event)
    if (known) again.push(one.event)
    else first.set(one.event, one)
    expect(one.text).toBe(known?.text ?? one.text)
  }
  expect([...first.values()].map(({ type, url }) => [type, url])).toEqual([
    [`${job.name}.started`, undefined],
    ...job.urls.map((url) => [`${job.name}.page`, url]),
    [`${job.name}.completed`, undefined],
  ])
  expect(again).toEqual(job.repeated)
}
