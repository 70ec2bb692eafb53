/** Opens only the scraper of an engine inside this process, for `bax scrape`. */
import type { Transport, WireRequest, WireResponse } from '../../client/transport.ts'
import { keylessCaller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
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
      answer(request, log, async (signal) => {
        const { input, warning } = await inputOf(request, fields)
        const body = await scraper.scrape(input, { signal, caller: keylessCaller })
        return warning === undefined ? body : { ...body, warning: [body.warning, warning].filter(Boolean).join('; ') }
      }),
    close: () => scraper.close().then(() => egress.close()),
  }
}

/** Returns the input as the application reads it, which loads its schema; plain values are valid without it. */
async function inputOf(
  { method, path, headers, body = '' }: WireRequest,
  fields: readonly Param[],
): Promise<{ readonly input: ScrapeInput; readonly warning?: string }> {
  const given: Record<string, unknown> = JSON.parse(body)
  if (isPlain(given, fields)) {
    const defaults = fields.filter(({ default: value }) => value !== undefined)
    return {
      input: { ...Object.fromEntries(defaults.map((field) => [field.name, field.default])), ...given } as ScrapeInput,
    }
  }
  const [{ scrapeInput }, { readInput }] = await Promise.all([
    import('../../core/shapes/scrape.ts'),
    import('../../server/request/input.ts'),
  ])
  const request = new Request(`http://localhost${path}`, { method, ...(headers && { headers }), body })
  return (await readInput(request, scrapeInput, {})) as { input: ScrapeInput; warning?: string }
}

/** Whether the values are a URL of ASCII characters, switches and known choices. */
function isPlain({ url, ...options }: Readonly<Record<string, unknown>>, fields: readonly Param[]): boolean {
  const isUrl = typeof url === 'string' && url.length <= limits.input.urlChars && /^[!-~]+$/.test(url)
  return (
    isUrl &&
    Object.entries(options).every(([name, value]) =>
      isChoice(
        fields.find((field) => field.name === name),
        value,
      ),
    )
  )
}

function isChoice(field: Param | undefined, value: unknown): boolean {
  if (!field) return false
  const { type, choices = [], itemChoices = [] } = field
  if (type === 'boolean') return typeof value === 'boolean'
  if (!Array.isArray(value)) return typeof value === 'string' && choices.includes(value)
  return value.length > 0 && value.length <= itemChoices.length && value.every((item) => itemChoices.includes(item))
}

/** Returns the same status and body as the server. */
async function answer(
  { signal = new AbortController().signal }: WireRequest,
  log: Log,
  scrape: (signal: AbortSignal) => Promise<unknown>,
): Promise<WireResponse> {
  try {
    return responseOf(200, await scrape(signal))
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
