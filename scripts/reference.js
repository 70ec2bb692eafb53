// Writes the generated tables of README.md from the manifest: `node scripts/reference.js`; `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'

const readme = fileURLToPath(new URL('../README.md', import.meta.url))

/** Returns README.md with its generated parts, from the manifest and the table of limits. */
export async function withReference(text, manifest) {
  const parts = {
    catalogue: catalogue(manifest),
    operations: operations(manifest),
    limits: limitsTable(await readLimits()),
  }
  return Object.entries(parts).reduce((result, [name, part]) => {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
    const from = result.indexOf(start)
    const to = result.indexOf(end)
    if (from < 0 || to < 0) throw new Error(`README.md has no ${start} … ${end}`)
    return `${result.slice(0, from + start.length)}\n${part}\n${result.slice(to)}`
  }, text)
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
  return [row(['', 'command', 'fields', 'what it does']), row(['---', '---', '---', '---']), ...rows].join('\n')
}

function operations({ operations: all }) {
  const rows = all
    .filter(({ cli }) => cli !== null)
    .toSorted((a, b) => (a.cli < b.cli ? -1 : 1))
    .map(({ cli, http, summary }) => row([`\`bax ${cli}\``, `\`${http}\``, summary]))
  return [row(['in the terminal', 'over HTTP', 'what it does']), row(['---', '---', '---']), ...rows].join('\n')
}

/** Loads the table of limits, which is TypeScript. */
async function readLimits() {
  const entryPoints = [fileURLToPath(new URL('../src/core/limits/limits.ts', import.meta.url))]
  const built = await esbuild.build({ entryPoints, bundle: true, format: 'esm', write: false })
  const code = Buffer.from(built.outputFiles[0].contents).toString('base64')
  return (await import(`data:text/javascript;base64,${code}`)).limits
}

function limitsTable(limits) {
  const { caller, overload, connection, input, repeats, command, exec, files, session, shell, scrape, pdf } = limits
  const { openEnds, messages, events, cdp, relay } = limits
  const busy = '429 `rate_limited`, 503 `no_capacity`'
  const mebibytes = (bytes) => `${bytes / 1024 / 1024} MiB`
  const rows = [
    [
      'requests of one key',
      `${caller.rate} a second, ${caller.burst} at once`,
      '429 `rate_limited`',
      '`--rate`, `--burst`',
    ],
    ['browser sessions of one key', caller.sessions, '429 `too_many_sessions`', '`--max-sessions`'],
    ['shell sessions of one key', caller.shells, '429 `too_many_sessions`', '`--max-shells`'],
    ['crawls of one key at a time', caller.crawls, '429 `rate_limited`', '`--max-crawls`'],
    ['websockets of one key, and as many streams', openEnds.ofKey, '429 `rate_limited`', ''],
    ['websockets that tokens open to one session', openEnds.ofSession, '429 `rate_limited`', ''],
    ['scrapes and searches at work', `${overload.pages}, ${overload.pages * overload.partOfKey} of one key`, busy, ''],
    ['crawls at work', overload.crawls, '503 `no_capacity`', ''],
    ['sessions that wait for a browser', overload.provisions, '503 `no_capacity`', ''],
    ['shell sessions', shell.sessions, '429 `too_many_sessions`', ''],
    [
      'bodies in memory',
      `${mebibytes(overload.bodyBytes)}, ${mebibytes(overload.bodyBytes * overload.partOfKey)} of one key`,
      busy,
      '',
    ],
    ['batches that wait for one session', command.queue, '429 `rate_limited`', ''],
    ['commands of one shell session at a time', exec.perSession, '429 `too_many_execs`', ''],
    ['commands of one batch', command.perBatch, '400 `invalid_request`', ''],
    ['body', mebibytes(limits.bodyBytes), '413 `payload_too_large`', ''],
    ['body of `/shell/fs/write` and of commands', mebibytes(files.bodyBytes), '413 `payload_too_large`', ''],
    ['address and headers', `${connection.headerBytes / 1024} KiB`, '413 `payload_too_large`', ''],
    [
      'a page that is read',
      `${mebibytes(scrape.bodyBytes)}, ${scrape.elements} elements; a PDF unpacks to ${mebibytes(pdf.bytes)}`,
      '`content_too_large`',
      '',
    ],
    ['nesting of a body', `${input.depth} levels`, '400 `invalid_request`', ''],
    ['values in a body, or in a message of a websocket', input.values, '400 `invalid_request`, closed with 4000', ''],
    [
      'message of a browser, of one at `cdp_url`',
      `${mebibytes(cdp.messageBytes)}, ${mebibytes(cdp.foreignBytes)}; ${cdp.messageValues} values`,
      '`content_too_large`, the session ends',
      '',
    ],
    ['result of `/cdp`', mebibytes(relay.resultBytes), '413 `payload_too_large`', '`max_bytes`'],
    ['`context` of a batch', `${input.contextChars} characters as JSON`, '400 `invalid_request`', ''],
    [
      'message of a websocket: live view, CDP, tunnel',
      [messages.liveBytes, messages.cdpBytes, messages.tunnelBytes].map(mebibytes).join(', '),
      'closed with 1009',
      '',
    ],
    ['events kept of one session', `${events.ring}, ${limits.eventChars / 1024 / 1024} Mi characters`, '`lagged`', ''],
    ['items of a list, where it has no bound of its own', input.items, '400 `invalid_request`', ''],
    [
      'time for headers, for a body',
      `${connection.headersMs / 1000} s, ${connection.bodyMs / 1000} s`,
      '408 `timeout`',
      '',
    ],
    ['open connections', connection.most, 'not accepted', ''],
    ['lifetime of a session', `${session.timeoutSecs} s, at most ${session.maxTimeoutSecs} s`, '', '`timeout_secs`'],
    ['answers kept for `Idempotency-Key`', `${repeats.keepMs / 3_600_000} h, ${repeats.kept} of each key`, '', ''],
  ].map((cells) => row(cells.map(String)))
  return [row(['what', 'bound', 'beyond it', 'changed with']), row(['---', '---', '---', '---']), ...rows].join('\n')
}

const row = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
const fieldOf = ({ name, required }) => (required ? `\`${name}\`` : `\`${name}?\``)

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const manifest = JSON.parse(readFileSync(new URL('../dist/manifest.json', import.meta.url), 'utf8'))
  const before = readFileSync(readme, 'utf8')
  const after = await withReference(before, manifest)
  if (!process.argv.includes('--check')) writeFileSync(readme, after)
  else if (before !== after) {
    process.stderr.write('README.md is behind the catalogue: run `npm run build && node scripts/reference.js`\n')
    process.exitCode = 1
  }
}
