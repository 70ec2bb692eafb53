/** Opens only the scraper of an engine inside this process, for `bax scrape`. */
import type { Transport, WireRequest, WireResponse } from '../../client/transport.ts'
import { keylessCaller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Param } from '../../core/operation/params.ts'
import { localFiles } from '../../core/state/local-files.ts'
import type { ScrapeInput } from '../../core/shapes/scrape.ts'
import { openStateDir } from '../../core/state/state-dir.ts'
import { withSystemCause } from '../../core/errors/system-errors.ts'
import type { Context } from '../context.ts'
import { engineConfig } from './engine-config.ts'
import { scrapeFields } from '../scrape/scrape-pages.ts'

/** Returns a transport for scrape requests; it answers like an engine. */
export async function openScraper({ settings, io, manifest }: Context): Promise<Transport> {
  const [{ PageScraper }, { KeyShares }, { Egress }, { openLogFile }] = await Promise.all([
    import('../../engine/scrape/scraper.ts'),
    import('../../engine/browser/shares/key-shares.ts'),
    import('../../engine/egress/egress.ts'),
    import('../../server/process/log-file.ts'),
  ])
  await openStateDir(settings.stateDir)
  const log = openLogFile(localFiles(settings.stateDir).cliLog, 'warn')
  const config = { ...engineConfig(settings, io), home: 'embedded', listensOn: null, log } as const
  const egress = new Egress(config)
  const scraper = new PageScraper(config, egress, new KeyShares(config))
  const fields = scrapeFields(manifest)
  return {
    send: (request) =>
      answer(request, log, async (input, signal) =>
        scraper.scrape(await withDefaults(input, fields), { signal, caller: keylessCaller }),
      ),
    close: () => scraper.close().then(() => egress.close()),
  }
}

/** Returns the whole input. The schema is loaded only for values other than switches and known choices. */
async function withDefaults(given: Record<string, unknown>, fields: readonly Param[]): Promise<ScrapeInput> {
  if (fields.every((field) => isChoice(field, given[field.name]))) {
    const defaults = fields.filter(({ default: value }) => value !== undefined)
    return { ...Object.fromEntries(defaults.map((field) => [field.name, field.default])), ...given } as ScrapeInput
  }
  const [{ scrapeInput }, { validateInput }] = await Promise.all([
    import('../../core/shapes/scrape.ts'),
    import('../../core/operation/valid-input.ts'),
  ])
  return validateInput(scrapeInput, given, true).input as ScrapeInput
}

function isChoice({ choices, itemChoices }: Param, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return true
  const known = choices ?? itemChoices ?? []
  return [value].flat().every((item) => typeof item === 'string' && known.includes(item))
}

type Scrape = (input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>

/** Returns the same status and body as the server. */
async function answer({ body, signal }: WireRequest, log: Log, scrape: Scrape): Promise<WireResponse> {
  // Only uploads are streams; the input of a call is text.
  const input = JSON.parse(body as string) as Record<string, unknown>
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
