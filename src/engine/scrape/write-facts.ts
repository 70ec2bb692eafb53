/** Facts about a scrape as a whole, which are added to the answer for its page. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { ProxyTurn } from '../egress/egress.ts'
import type { WrittenAnswer } from './write.ts'

/** Replaces the duration measured by a worker thread with that of the whole scrape. */
export function timed({ answer, ...rest }: WrittenAnswer, start: number): WrittenAnswer {
  const { data } = answer
  if (!data) return { answer, ...rest }
  const metadata = { ...data.metadata, duration_ms: Math.round(performance.now() - start) }
  return { answer: { ...answer, data: { ...data, metadata } }, ...rest }
}

/** Adds the proxy that the page was read through. */
export async function withProxy(answer: ScrapeAnswer, turn: ProxyTurn | undefined): Promise<ScrapeAnswer> {
  const { data } = answer
  if (!data || !turn) return answer
  const { metadata } = data
  const used = (await turn.current()).proxyFor(new URL(metadata.url ?? metadata.sourceURL))
  if (!used) return answer
  const proxy = used.name.replace('the proxy ', '')
  return { ...answer, data: { ...data, metadata: { ...metadata, proxy } } }
}
