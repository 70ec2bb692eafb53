/** Opens only the scraper of an engine inside this process, for `bax scrape`. */
import type { Transport, WireRequest, WireResponse } from '../../client/transport.ts'
import { keylessCaller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { localFiles } from '../../core/state/local-files.ts'
import type { ScrapeInput } from '../../core/shapes/scrape.ts'
import { openStateDir } from '../../core/state/state-dir.ts'
import { withSystemCause } from '../../core/errors/system-errors.ts'
import type { Context } from '../context.ts'
import { engineConfig } from './engine-config.ts'
import { scrapeFields } from '../scrape/scrape-pages.ts'

/** Returns a transport for valid scrape requests; missing fields get their defaults. */
export async function openScraper({ settings, io, manifest }: Context): Promise<Transport> {
  const [{ PageScraper }, { Egress }, { openLogFile }] = await Promise.all([
    import('../../engine/scrape/scraper.ts'),
    import('../../engine/egress/egress.ts'),
    import('../../server/process/log-file.ts'),
  ])
  await openStateDir(settings.stateDir)
  const log = openLogFile(localFiles(settings.stateDir).cliLog, 'warn')
  const config = { ...engineConfig(settings, io), home: 'embedded', listensOn: null, log } as const
  const egress = new Egress(config)
  const scraper = new PageScraper(config, egress)
  const given = scrapeFields(manifest).filter(({ default: value }) => value !== undefined)
  const defaults = Object.fromEntries(given.map((field) => [field.name, field.default]))
  return {
    send: (request) =>
      answer(request, log, (input, signal) =>
        scraper.scrape({ ...defaults, ...input }, { signal, caller: keylessCaller }),
      ),
    close: () => scraper.close().then(() => egress.close()),
  }
}

type Scrape = (input: ScrapeInput, signal: AbortSignal) => Promise<unknown>

/** Returns the same status and body as the server. */
async function answer({ body, signal }: WireRequest, log: Log, scrape: Scrape): Promise<WireResponse> {
  // Only uploads are streams; the input of a call is text.
  const input = JSON.parse(body as string) as ScrapeInput
  try {
    return responseOf(200, await scrape(input, signal ?? new AbortController().signal))
  } catch (thrown) {
    const error = withSystemCause(asBaxError(thrown))
    const request_id = newId('req')
    const cause = error.cause instanceof Error ? error.cause.stack : undefined
    if (error.status === 500) log('error', error.message, { request_id, cause })
    return responseOf(error.status, error.toBody(request_id))
  }
}

function responseOf(status: number, body: unknown): WireResponse {
  const text = JSON.stringify(body)
  return {
    status,
    headers: {},
    text: async () => text,
    stream: async function* () {
      yield Buffer.from(text)
    },
  }
}
