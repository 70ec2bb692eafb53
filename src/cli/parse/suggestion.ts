/** Suggestions for unknown command names: synonyms first, then names of similar spelling. */
import { suggest } from '../../core/errors/suggest.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { kebab } from './values.ts'

/** Suggested commands for common words that are too ambiguous to be spellings of a command. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  agent: ['step', 'observe'],
  bash: ['shell exec'],
  browse: ['open'],
  cat: ['observe', 'shell read'],
  'close-all': ['close --all'],
  config: ['doctor'],
  connect: ['relay connect'],
  crawls: ['crawl list'],
  curl: ['scrape', 'api GET'],
  delay: ['wait'],
  devtools: ['cdp'],
  download: ['session download', 'shell download'],
  exec: ['shell exec'],
  execute: ['evaluate', 'shell exec'],
  expect: ['verify'],
  export: ['state save', 'profile save'],
  fetch: ['scrape'],
  frame: ['observe'],
  geolocation: ['set geo'],
  html: ['get html', 'scrape --formats html'],
  import: ['profile save'],
  input: ['fill', 'type'],
  inspect: ['observe'],
  install: ['setup'],
  js: ['evaluate'],
  keys: ['key list'],
  kill: ['session close', 'engine stop'],
  'kill-all': ['close --all', 'engine stop'],
  launch: ['open'],
  links: ['scrape --formats links'],
  load: ['open'],
  login: ['profile save'],
  logout: ['profile delete'],
  logs: ['session log', 'engine logs'],
  markdown: ['scrape'],
  md: ['scrape'],
  mouse: ['mouse move', 'mouse down', 'mouse wheel'],
  new: ['session create'],
  node: ['shell exec'],
  offline: ['set offline'],
  pause: ['wait'],
  profiles: ['profile list'],
  python: ['shell exec'],
  read: ['observe', 'scrape'],
  relays: ['relay list'],
  restart: ['engine stop', 'refresh'],
  restore: ['profile list'],
  'run-code': ['evaluate'],
  save: ['profile save', 'state save'],
  script: ['run'],
  server: ['serve'],
  sessions: ['session list'],
  sh: ['shell exec'],
  shells: ['shell list'],
  sleep: ['wait'],
  start: ['open', 'serve'],
  'start-server': ['serve'],
  state: ['state save', 'profile save'],
  status: ['session list', 'engine status', 'fleet status'],
  stop: ['close', 'engine stop'],
  storage: ['storage local', 'storage session'],
  submit: ['click', 'press Enter'],
  swipe: ['scroll'],
  switch: ['tab', 'session use'],
  tap: ['click'],
  test: ['run'],
  text: ['get text', 'scrape'],
  title: ['get title'],
  update: ['version'],
  upgrade: ['version'],
  url: ['get url'],
  view: ['session view', 'observe'],
  watch: ['session watch'],
  window: ['tab new'],
  write: ['type', 'shell write'],
}

/** Returns ` (did you mean "click"?)` for an unknown name, or nothing. `others` are names of other commands. */
export function suggestion(word: string, { commands }: Manifest, others: readonly string[] = []): string {
  const known = synonyms[word.toLowerCase()]
  const names = commands.flatMap(({ name, also = [] }) => [kebab(name), ...also.map(({ words }) => words)])
  const alike = [...others, ...names].filter((name) => !areOpposites(word, name))
  const found = known ?? [suggest(word, alike) ?? []].flat()
  return found.length > 0 ? ` (did you mean ${found.map((name) => `"${name}"`).join(' or ')}?)` : ''
}

/** `unroute` is similar to `route`, but does the opposite. */
const areOpposites = (a: string, b: string): boolean => a === `un${b}` || b === `un${a}`
