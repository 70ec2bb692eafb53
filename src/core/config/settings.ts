/**
 * All settings, one row each. The reader and its errors, `Settings`, the configuration of engines and the table of the
 * guide derive from the rows: a row `crawl_pages` is `BAX_CRAWL_PAGES`, `crawl_pages` in a settings file, and `crawlPages`
 * in the code.
 */
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { readModel } from './model-settings.ts'
import { readProxies } from './proxy-settings.ts'
import { readSearch } from './search-settings.ts'
import {
  count,
  type Documented,
  folder,
  type Given,
  group,
  path,
  positive,
  readElsewhere,
  type Setting,
  text,
  toggle,
  whole,
} from './setting.ts'
import { readShell, shellFields } from './shell-settings.ts'

export const settingsTable = {
  /** `http(s)://…` or `unix:/path`; absent for an engine on this machine. */
  server: text('server to use', { flag: true }),
  api_key: text('key for it'),
  embedded: toggle('a separate engine for this command', {
    flag: true,
    variable: false,
    file: false,
    otherwise: false,
  }),
  /** Private (0700). */
  state_dir: folder('data')('folder for sessions, profiles and logs', { flag: true, engine: true }),
  cache_dir: folder('cache')('folder for downloaded browsers', { file: false, engine: true, guide: false }),
  bot_key_file: path('file with the key that [signs requests](crawling.md#signed-requests)', { engine: true }),
  browser: path('browser program', { flag: true, engine: true }),
  session: text('default [session](sessions.md)', { project: true, guide: { flag: '`-s`' } }),
  shell_session: text('default shell session', { variable: 'BAX_SHELL', file: false, guide: { flag: '`-s`' } }),
  shell: group(readShell)('Docker, images that sessions may use, containers to keep ready', {
    engine: true,
    guide: { environment: '`DOCKER_HOST`', file: `\`shell: {${shellFields.join(', ')}}\`` },
  }),
  json: toggle('print responses as JSON', { flag: true, variable: false, project: true, otherwise: false }),
  content_boundaries: toggle('enclose text of pages in [markers](mcp.md#untrusted-text)', {
    flag: true,
    otherwise: false,
  }),
  /** When absent, sessions that hide automation have none, since pages can notice them. */
  webmcp: toggle('[tools of pages](webmcp.md): always or never (else unless a session is stealthy)', {
    engine: true,
    guide: { environment: '`BAX_WEBMCP` (`on`, `off`)' },
  }),
  idle_exit_secs: positive('seconds without a session after which the local engine ends', {
    as: 'idleExitMs',
    to: (secs: number) => secs * 1000,
    otherwise: limits.engine.idleExitMs,
  }),
  warm_pages: count('pages to keep ready', {
    variable: false,
    engine: true,
    as: 'pool',
    to: (warm: number): { readonly warm?: number } => ({ warm }),
  }),
  crawl_pages: whole('maximum number of pages of a crawl (100 on a server, else unlimited)', { engine: true }),
  browser_memory_mb: whole("memory of the browsers of one key in MiB (half of the machine's)", {
    engine: true,
    as: 'browserMemoryBytes',
    to: (mebibytes: number) => mebibytes * 1024 * 1024,
  }),
  search: group(readSearch)('search providers', { engine: true, guide: { environment: 'see [search](search.md)' } }),
  model: group(readModel)('language model for structured data (any OpenAI-compatible endpoint)', {
    engine: true,
    guide: { environment: '`BAX_MODEL_URL`, `BAX_MODEL`, `BAX_MODEL_KEY`', file: '`model: {url, name, key}`' },
  }),
  /** True when absent. Without rules and without a model there is no json and no summary. */
  builtin_extractor: toggle('whether rules may replace the model', {
    engine: true,
    guide: { environment: '`BAX_BUILTIN_EXTRACTOR` (`on`, `off`)' },
  }),
  direct_actions: readElsewhere(
    '0: perform actions as Playwright does, with its waits (set it where the engine starts)',
    { environment: '`BAX_DIRECT_ACTIONS`' },
  ),
  fleet: readElsewhere('Redis of a [fleet](scaling-out.md), and the secret of its members', {
    flag: '`--fleet`, `--secret-file` of `serve` and `worker`',
    environment: '`BAX_FLEET`, `BAX_SECRET_FILE`',
  }),
  /** Absent with `no_proxy`. */
  proxies: group(readProxies)('[proxies](proxies.md) of all outgoing requests', {
    engine: true,
    file: false,
    guide: { environment: '`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`' },
  }),
  no_proxy: toggle('ignore the proxies of the environment', {
    flag: true,
    file: false,
    otherwise: false,
  }),
  verify_tls: toggle('refuse to [accept any certificate](network.md#certificates)', {
    engine: true,
    guide: { flag: '`serve --verify-tls`', environment: '`BAX_VERIFY_TLS` (`on`, `off`)' },
  }),
  /** Used by webhooks whose request has no secret. */
  webhook_secret: text('secret that signs [webhooks](crawling.md#webhooks)', { engine: true }),
  /** Without it, profiles are plain files. */
  profile_key: text(`secret that encrypts [profiles](profiles.md), of at least ${limits.profileKeyChars} characters`, {
    engine: true,
    to: checkedProfileKey,
    guide: { flag: '`serve --profile-key-file`' },
  }),
  /** Without it, a file of the state folder holds one. */
  vault_key: text(
    `secret that encrypts [credentials](credentials.md), of at least ${limits.profileKeyChars} characters`,
    {
      engine: true,
      to: checkedProfileKey,
    },
  ),
}

/** Returns the key if it is long enough. @throws BaxError `invalid_request` */
export function checkedProfileKey(key: string, name: string): string {
  if (key.length >= limits.profileKeyChars) return key
  throw new BaxError('invalid_request', `${name} must have at least ${limits.profileKeyChars} characters`, {
    hint: 'create one with "openssl rand -base64 32"',
  })
}

type Table = typeof settingsTable
type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name
type FieldOf<Name, Row> = Row extends { as: infer As extends string } ? As : CamelCase<Name>
type Converted<Row> = Row extends { to: (...args: never[]) => infer To } ? To | undefined : ReadBy<Row>
type ReadBy<Row> = Row extends Setting<infer Value> ? Value : never
type ValueOf<Row> = Row extends { otherwise: unknown } ? NonNullable<Converted<Row>> : Converted<Row>
/** Fields of the rows with these properties. */
type FieldsOf<Properties> = OptionalFields<{
  [Name in keyof Table as Table[Name] extends Properties & Setting ? FieldOf<Name, Table[Name]> : never]: ValueOf<
    Table[Name]
  >
}>
type OptionalFields<All> = {
  readonly [Name in keyof All as undefined extends All[Name] ? never : Name]: All[Name]
} & { readonly [Name in keyof All as undefined extends All[Name] ? Name : never]?: All[Name] }

export type Settings = FieldsOf<object>

/** Settings that engines get. */
export type EngineSettings = FieldsOf<{ engine: true }>

/** Flags that every command takes. */
export type GlobalFlags = Partial<FieldsOf<{ flag: true }>>

interface Row extends Setting {
  readonly name: string
  readonly field: string
  /** Name of the flag in camelCase. */
  readonly flagField: string | undefined
  readonly variable: string | false
}

const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the variable of a setting; a group has several of its own. */
export const variableOf = (name: string, { variable, kind }: Setting): string | false =>
  variable ?? (kind !== 'object' && `BAX_${name.toUpperCase()}`)

const rows: readonly Row[] = Object.entries<Setting | Documented>(settingsTable).flatMap(([name, row]) =>
  'read' in row
    ? {
        ...row,
        name,
        field: row.as ?? camelCase(name),
        flagField: row.flag && camelCase(name),
        variable: variableOf(name, row),
      }
    : [],
)

/** Settings of a settings file, by name, with the type of their values. */
export const fileSettings: ReadonlyMap<string, Setting['kind']> = new Map(
  rows.filter(({ file }) => file !== false).map(({ name, kind }) => [name, kind]),
)

/** Settings that a project file may set. */
export const projectSettings: readonly string[] = rows
  .filter(({ project }) => project)
  .map(({ name }) => name)
  .toSorted()

/** The global flags by name, in camelCase, with the type of their values. */
export const globalFlagKinds: ReadonlyMap<string, Setting['kind']> = new Map(
  rows.flatMap(({ flagField, kind }) => (flagField ? [[flagField, kind] as const] : [])),
)

const pick = (values: Readonly<Record<string, unknown>>, fields: readonly string[]) =>
  Object.fromEntries(fields.flatMap((field) => (values[field] === undefined ? [] : [[field, values[field]]])))

/** Selects the settings that engines get. */
export const engineSettings = (settings: Settings): EngineSettings =>
  pick(
    settings,
    rows.filter(({ engine }) => engine).map(({ field }) => field),
  ) as EngineSettings

export interface SettingsSources extends Pick<Given, 'env' | 'folders'> {
  readonly flags: GlobalFlags
  /** Values in the settings files. */
  readonly file: Readonly<Record<string, unknown>>
  readonly cwd: string
  /** Folder of the user's settings file. */
  readonly home: string
}

/** Reads all settings. @throws BaxError `invalid_request` with the name of an invalid one */
export function settingsFrom(sources: SettingsSources): Settings {
  const values = rows.map((row) => [row.field, valueOf(row, sources)])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Settings
}

function valueOf(row: Row, { flags, env, file, cwd, home, folders }: SettingsSources): unknown {
  const variable = row.variable || ''
  const given = [
    { value: row.flagField && (flags as Record<string, unknown>)[row.flagField], base: cwd },
    { value: env[variable], base: cwd },
    { value: file[row.name], base: home },
  ].find(({ value }) => value !== undefined && value !== '')
  const name = variable ? `${variable} (${row.name} in the file)` : `${row.name} in the file`
  const value = row.read({ value: given?.value, base: given?.base ?? cwd, variable, name, env, folders })
  if (value === undefined) return row.otherwise
  return row.to ? row.to(value as never, name) : value
}
