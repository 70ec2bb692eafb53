// Writes the generated parts of README.md and the guide: the list of pages, and the tables of commands, operations and
// limits. `node scripts/reference.js` writes them, `--check` only compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = 'src/guide'

/** Returns the text with what belongs between `<!-- name:start -->` and `<!-- name:end -->`. */
const withParts = (text, parts) =>
  text.replaceAll(/(<!-- (\w+):start -->\n)[\s\S]*?(<!-- \2:end -->)/g, (_, start, name, end) => {
    if (parts[name] === undefined) throw new Error(`nothing is generated for ${start.trim()}`)
    return `${start}${parts[name]}\n${end}`
  })

/** Lists the pages of the guide, with the sentence below their title. */
function pages() {
  const lines = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => {
      const [, summary] = readFileSync(join(root, folder, name), 'utf8').split(/\n{2,}/)
      return `- [${name.slice(0, -'.md'.length)}](${folder}/${name}): ${summary.replaceAll('\n', ' ')}`
    })
  return lines.join('\n')
}

function catalogue({ commands }) {
  const families = [...new Set(commands.map(({ family }) => family))]
  const rows = families.flatMap((family) =>
    commands
      .filter((command) => command.family === family)
      .map(({ name, params, summary }, index) =>
        row([index === 0 ? `**${family}**` : '', `\`${name}\``, params.map(fieldOf).join(', '), summary]),
      ),
  )
  return [row(['', 'command', 'fields', 'description']), row(['---', '---', '---', '---']), ...rows].join('\n')
}

/** Lists the commands of each family as they are typed, for the skill. */
function families({ commands }) {
  const names = new Map()
  for (const { family, name } of commands) names.set(family, [...(names.get(family) ?? []), name.replaceAll('_', '-')])
  return [...names].map(([family, all]) => `- ${family}: ${all.join(', ')}`).join('\n')
}

function operations({ operations: all }) {
  const rows = all
    .filter(({ cli }) => cli !== null)
    .toSorted((a, b) => (a.cli < b.cli ? -1 : 1))
    .map(({ cli, http, summary }) => row([`\`bax ${cli}\``, `\`${http}\``, summary]))
  return [row(['command', 'HTTP', 'description']), row(['---', '---', '---']), ...rows].join('\n')
}

/** Loads a module of TypeScript, such as a table. */
async function load(path) {
  const entryPoints = [join(root, path)]
  const built = await esbuild.build({ entryPoints, bundle: true, platform: 'node', format: 'esm', write: false })
  const code = Buffer.from(built.outputFiles[0].contents).toString('base64')
  return import(`data:text/javascript;base64,${code}`)
}

const usesOf = ({ uses }) => `${uses.rate} per second, bursts of ${uses.burst}`

function limitsTable(limits) {
  const { caller, overload, connection, input, repeats, command, exec, files, session, shell, scrape, pdf } = limits
  const { openEnds, messages, events, cdp, relay, credentials } = limits
  const busy = '429 `rate_limited`, 503 `no_capacity`'
  const mebibytes = (bytes) => `${bytes / 1024 / 1024} MiB`
  const rows = [
    [
      'requests per key',
      `${caller.rate} per second, bursts of ${caller.burst}`,
      '429 `rate_limited`',
      '`--rate`, `--burst`',
    ],
    ['browser sessions per key', caller.sessions, '429 `too_many_sessions`', '`--max-sessions`'],
    ['shell sessions per key', caller.shells, '429 `too_many_sessions`', '`--max-shells`'],
    ['concurrent crawls per key', caller.crawls, '429 `rate_limited`', '`--max-crawls`'],
    ['browsers of users per key', caller.relays, '429 `too_many_sessions`', '`--max-relays`'],
    ['stored credentials per key', caller.credentials, '429 `rate_limited`', '`--max-credentials`'],
    ['a stored credential', `${credentials.chars / 1024} Ki characters`, '400 `invalid_request`', ''],
    ['uses of credentials per key', usesOf(credentials), '429 `rate_limited`', ''],
    ['websockets per key, and the same number of streams', openEnds.ofKey, '429 `rate_limited`', ''],
    ['websockets per session that are opened with tokens', openEnds.ofSession, '429 `rate_limited`', ''],
    ['concurrent scrapes and searches', `${overload.pages}, ${overload.pages * overload.partOfKey} per key`, busy, ''],
    ['concurrent crawls', overload.crawls, '503 `no_capacity`', ''],
    ['sessions waiting for a browser', overload.provisions, '503 `no_capacity`', ''],
    ['shell sessions', shell.sessions, '429 `too_many_sessions`', ''],
    [
      'request bodies in memory',
      `${mebibytes(overload.bodyBytes)}, ${mebibytes(overload.bodyBytes * overload.partOfKey)} per key`,
      busy,
      '',
    ],
    ['batches waiting for one session', command.queue, '429 `rate_limited`', ''],
    ['concurrent commands of a shell session', exec.perSession, '429 `too_many_execs`', ''],
    ['commands in a batch', command.perBatch, '400 `invalid_request`', ''],
    ['request body', mebibytes(limits.bodyBytes), '413 `payload_too_large`', ''],
    ['request body of `/shell/fs/write` and of commands', mebibytes(files.bodyBytes), '413 `payload_too_large`', ''],
    ['URL and headers', `${connection.headerBytes / 1024} KiB`, '413 `payload_too_large`', ''],
    [
      'a page',
      `${mebibytes(scrape.bodyBytes)}, ${scrape.elements} elements; an unpacked PDF ${mebibytes(pdf.bytes)}`,
      '`content_too_large`',
      '',
    ],
    ['nesting of a request body', `${input.depth} levels`, '400 `invalid_request`', ''],
    [
      'values in a request body or a websocket message',
      input.values,
      '400 `invalid_request`, websockets close with 4000',
      '',
    ],
    [
      'CDP message of a browser, of a browser at `cdp_url`',
      `${mebibytes(cdp.messageBytes)}, ${mebibytes(cdp.foreignBytes)}; ${cdp.messageValues} values`,
      '`content_too_large`, the session ends',
      '',
    ],
    ['result of `/cdp`', mebibytes(relay.resultBytes), '413 `payload_too_large`', '`max_bytes`'],
    ['`context` of a batch', `${input.contextChars} characters as JSON`, '400 `invalid_request`', ''],
    [
      'websocket message: live view, CDP, relay tunnel',
      [messages.liveBytes, messages.cdpBytes, messages.tunnelBytes].map(mebibytes).join(', '),
      'the websocket closes with 1009',
      '',
    ],
    ['stored events per session', `${events.ring}, ${limits.eventChars / 1024 / 1024} Mi characters`, '`lagged`', ''],
    ['items of a list without a limit of its own', input.items, '400 `invalid_request`', ''],
    [
      'time to receive headers, a request body',
      `${connection.headersMs / 1000} s, ${connection.bodyMs / 1000} s`,
      '408 `timeout`',
      '',
    ],
    ['open connections', connection.most, 'not accepted', ''],
    ['lifetime of a session', `${session.timeoutSecs} s, at most ${session.maxTimeoutSecs} s`, '', '`timeout_secs`'],
    ['responses stored for `Idempotency-Key`', `${repeats.keepMs / 3_600_000} h, ${repeats.kept} per key`, '', ''],
  ].map((cells) => row(cells.map(String)))
  return [row(['limit', 'value', 'when exceeded', 'set with']), row(['---', '---', '---', '---']), ...rows].join('\n')
}

/** Lists what keys share, and how much of it one key can have. */
function sharesTable(limits) {
  const { caller, overload, openEnds, shell, session, egress, recording, scrape, pdf, office, unzstd, reading, pool } =
    limits
  const { credentials } = limits
  const part = overload.partOfKey
  const half = part === 0.5 ? 'half' : `${part * 100} %`
  const turns = 'keys take turns'
  // As `reserveFor`.
  const reserved = (all) => `${Math.max(1, Math.floor(all * part))} more, reserved for keys that use fewer`
  const busy = '429 `rate_limited`'
  const rows = [
    ['names being looked up', egress.lookups, reserved(egress.lookups), turns],
    ['connections of browsers', egress.connections, half, 'refused'],
    [
      'pages being rendered',
      `${scrape.pagesPerProcessor} per core, ${scrape.pages} to ${scrape.mostPages}`,
      `${half} as many more, reserved for keys that use fewer`,
      turns,
    ],
    [
      'threads for PDFs, for office documents, for zstd',
      [pdf, office, unzstd].map(({ threads }) => threads).join(', '),
      [...new Set([pdf, office, unzstd].map(({ threads }) => reserved(threads)))].join('; '),
      turns,
    ],
    [
      'threads for large pages',
      `one less than cores, at most ${reading.threads}`,
      `${half} as many more, reserved for keys that use fewer`,
      turns,
    ],
    ['threads for other pages', `one per core, at most ${reading.threads}`, 'all', turns],
    ['browser slots', pool.browsers * pool.contextsPerBrowser, `${caller.sessions} sessions`, turns],
    ['browser processes of a kind', pool.processes, pool.browsers, turns],
    [
      'processors, for browsers',
      'those of the machine',
      `an equal part for each active key, at most ${half}`,
      'low priority, on Linux',
    ],
    [
      'memory, for browsers',
      'that of the machine',
      `${half}, or \`BAX_BROWSER_MEMORY_MB\``,
      'the largest page ends with `page_crashed`, on Linux',
    ],
    ['videos being recorded', recording.videos, half, busy],
    ['running scrapes and searches', overload.pages, half, busy],
    ['running crawls', overload.crawls, caller.crawls, busy],
    [
      'page slots of a fleet',
      'those of all workers',
      'an equal part, shared by its crawls; half as many more are reserved for keys that use fewer',
      turns,
    ],
    ['shell sessions', shell.sessions, caller.shells, '429 `too_many_sessions`'],
    ['relays', 'those of all workers, else no limit', caller.relays, '429 `too_many_sessions`'],
    ['memory for request bodies', `${overload.bodyBytes / 1024 / 1024} MiB`, half, busy],
    ['websockets, and streams', 'open connections', openEnds.ofKey, busy],
    ['webhooks', 'no limit', `one at a time for each of ${caller.crawls} crawls`, 'events wait'],
    [
      'disk space for files of sessions',
      'the disk',
      `${session.downloadBytes / 1024 ** 3} GiB for each session`,
      'downloads fail',
    ],
    [
      'stored credentials',
      'the disk, or Redis',
      `${caller.credentials} of ${credentials.chars / 1024} Ki characters`,
      busy,
    ],
    ['log-ins, and other uses of credentials', 'no limit', usesOf(credentials), busy],
    ['the connection to Redis', 'one per process', 'all', 'commands are short, and none waits for another'],
    ['cached answers', scrape.cachedAnswers, 'all', 'the oldest answer of any key is forgotten'],
  ].map((cells) => row(cells.map(String)))
  const head = ['shared', 'in total', 'for one key', 'beyond that']
  return [row(head), row(head.map(() => '---')), ...rows].join('\n')
}

/** Lists the search providers; those that need no settings share a row. */
function providersTable({ searchProviders, searchProviderNames, isByPages, searchVariables }) {
  const all = (texts) => texts.map(code).join(', ')
  const byPages = searchProviderNames.filter(isByPages)
  const rows = [
    ...searchProviderNames
      .filter((name) => !isByPages(name))
      .map((name) => [code(name), all(searchVariables(name)), searchProviders[name].kind]),
    [all(byPages), 'none', searchProviders[byPages[0]].kind],
  ].map(row)
  return [row(['provider', 'configuration', 'kind']), row(['---', '---', '---']), ...rows].join('\n')
}

/** Lists the settings, and where each can be given. */
function settingsTable({ settingsTable: table, variableOf }) {
  const rows = Object.entries(table)
    .filter(([, { guide }]) => guide !== false)
    .map(([name, { description, guide = {}, ...setting }]) => {
      const { flag = setting.flag && code(`--${name.replaceAll('_', '-')}`) } = guide
      const variable = setting.read && variableOf(name, setting)
      const { environment = variable && code(variable) } = guide
      const { file = setting.read && setting.file !== false && code(name) } = guide
      return [description, flag, environment, file].map((cell) => cell || '')
    })
  const lines = [['setting', 'flag', 'environment', 'file'], ['---', '---', '---', '---'], ...rows].map(row)
  return lines.join('\n').replaceAll(/\|  (?=\|)/g, '| ')
}

const code = (text) => `\`${text}\``
const row = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
const fieldOf = ({ name, required }) => (required ? `\`${name}\`` : `\`${name}?\``)

const manifest = JSON.parse(readFileSync(join(root, 'dist/manifest.json'), 'utf8'))
const { limits } = await load('src/core/limits/limits.ts')
const providers = await load('src/core/config/search-providers.ts')
const parts = {
  guide: pages(),
  catalogue: catalogue(manifest),
  operations: operations(manifest),
  limits: limitsTable(limits),
  shares: sharesTable(limits),
  families: families(manifest),
  providers: providersTable(providers),
  settings: settingsTable(await load('src/core/config/settings.ts')),
}
const documents = [
  'README.md',
  'src/skill/SKILL.md',
  ...readdirSync(join(root, folder)).map((name) => join(folder, name)),
]
const unused = new Set(Object.keys(parts))
for (const name of documents) {
  const before = readFileSync(join(root, name), 'utf8')
  const after = withParts(before, parts)
  for (const part of unused) if (before.includes(`<!-- ${part}:start -->`)) unused.delete(part)
  if (before === after) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is out of date: run "npm run build && node scripts/reference.js"\n`)
    process.exitCode = 1
  } else writeFileSync(join(root, name), after)
}
if (unused.size > 0) throw new Error(`no page contains ${[...unused].join(' or ')}`)
