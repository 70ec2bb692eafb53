/** Suggestions for unknown command names: synonyms first, then names of similar spelling. */
import { suggest } from '../core/errors/suggest.ts'
import type { Manifest } from '../operations/manifest.ts'
import { kebab } from './values.ts'

const frameAdvice = `name the frame in the selector: bax click "frame=#checkout >> button"; see "bax help selectors"`
const stateAdvice = 'run "bax profile save NAME" with the session, and later "bax open URL --profile NAME"'

/** Suggested commands for common words that are too ambiguous to be spellings of a command. */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  agent: ['step', 'observe'],
  assert: ['verify'],
  attach: ['relay connect', 'shell attach'],
  auth: ['profile save', 'set credentials'],
  bash: ['shell exec'],
  batch: ['do', 'run'],
  browse: ['open'],
  build: ['shell image build'],
  capture: ['screenshot'],
  cat: ['observe', 'shell read'],
  chat: ['mcp', 'skill'],
  'close-all': ['close --all'],
  codegen: ['record'],
  config: ['doctor'],
  confirm: ['approve'],
  connect: ['relay connect'],
  contains: ['verify', 'find-text'],
  cp: ['shell cp', 'session upload'],
  crawls: ['crawl list'],
  curl: ['request', 'scrape', 'api GET'],
  dashboard: ['tui', 'session view'],
  delay: ['wait'],
  'delete-data': ['profile delete'],
  deny: ['approve --reject'],
  device: ['set device'],
  devtools: ['cdp'],
  diff: ['observe --diff'],
  dom: ['get html', 'observe'],
  download: ['session files', 'session download'],
  downloads: ['session files'],
  emulatemedia: ['set media'],
  exec: ['shell exec'],
  execute: ['evaluate', 'shell exec'],
  expect: ['verify'],
  export: ['state save', 'profile save'],
  fetch: ['request', 'scrape'],
  files: ['session files'],
  geolocation: ['set geo'],
  headers: ['set headers', 'get request'],
  history: ['back', 'session log'],
  html: ['get html', 'scrape --formats html'],
  images: ['scrape --formats images', 'shell image list'],
  import: ['profile save'],
  info: ['session show', 'get-basic-info'],
  init: ['setup', 'doctor'],
  input: ['fill', 'type'],
  inspect: ['observe'],
  install: ['setup'],
  'install-browser': ['setup'],
  js: ['evaluate'],
  keyboard: ['press', 'type'],
  keys: ['key list'],
  kill: ['session close', 'engine stop'],
  'kill-all': ['close --all', 'engine stop'],
  launch: ['open'],
  links: ['scrape --formats links'],
  load: ['open'],
  logout: ['profile delete'],
  logs: ['session log', 'engine logs'],
  markdown: ['scrape'],
  md: ['scrape'],
  mouse: ['mouse move', 'mouse down', 'mouse wheel'],
  new: ['session create'],
  newpage: ['tab new'],
  node: ['shell exec'],
  offline: ['set offline'],
  page: ['tab list', 'get title'],
  pages: ['tab list'],
  pause: ['wait'],
  post: ['request POST', 'api POST'],
  print: ['pdf'],
  profiler: ['trace start'],
  profiles: ['profile list'],
  ps: ['session list', 'shell list'],
  pull: ['shell image build'],
  python: ['shell exec'],
  read: ['observe', 'scrape'],
  relays: ['relay list'],
  restart: ['engine stop', 'refresh'],
  restore: ['profile list'],
  rightclick: ['click --button right'],
  rm: ['session close', 'shell delete'],
  'run-code': ['evaluate'],
  save: ['profile save', 'state save'],
  screencast: ['video start'],
  script: ['run'],
  scrollintoview: ['scroll-into-view'],
  server: ['serve'],
  sessions: ['session list'],
  setcontent: ['evaluate'],
  setextrahttpheaders: ['set headers'],
  setviewport: ['set viewport'],
  sh: ['shell exec'],
  shells: ['shell list'],
  shot: ['screenshot'],
  should: ['verify'],
  show: ['session show', 'session view'],
  sleep: ['wait'],
  start: ['open', 'serve'],
  'start-server': ['serve'],
  state: ['state save', 'profile save'],
  stats: ['engine status'],
  status: ['session list', 'engine status', 'fleet status'],
  stop: ['close', 'engine stop'],
  storage: ['storage local', 'storage session'],
  stream: ['session watch'],
  submit: ['click', 'press Enter'],
  swipe: ['scroll'],
  switch: ['tab', 'session use'],
  tap: ['click'],
  test: ['run'],
  text: ['get text', 'scrape'],
  title: ['get title'],
  top: ['tui', 'engine status'],
  upgrade: ['update'],
  url: ['get url'],
  view: ['session view', 'observe'],
  viewport: ['set viewport'],
  waitforload: ['wait --load'],
  watch: ['session watch'],
  wget: ['scrape', 'crawl'],
  window: ['tab new'],
  write: ['type', 'shell write'],
}

/** How to do what these words ask for, where no command does it alone. */
const advice: Readonly<Record<string, string>> = {
  frame: frameAdvice,
  iframe: frameAdvice,
  proxy: 'pass the proxy when the session is created: bax open URL --proxy http://host:port',
  'state-load': stateAdvice,
  'storage-state': stateAdvice,
  storagestate: stateAdvice,
  'show-trace': 'run "npx playwright show-trace FILE"',
}

/** Returns the entry of a word in a table, however it is spelled. */
function entryOf<Entry>(word: string, table: Readonly<Record<string, Entry>>): Entry | undefined {
  const name = word.toLowerCase().replaceAll('_', '-')
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Returns the hint for an unknown name, if it is one that needs more than another name. */
export const adviceFor = (word: string): string | undefined =>
  /^https?:\/\//i.test(word) ? urlAdvice(word) : entryOf(word, advice)

const urlAdvice = (url: string): string =>
  `use "bax open ${url}" for a session, "bax scrape ${url}" for Markdown, "bax request ${url}" for the response`

/** Returns the commands that a common word stands for. */
export const synonymsOf = (word: string): readonly string[] => entryOf(word, synonyms) ?? []

/** Returns ` (did you mean "click"?)` for an unknown name, or nothing. `others` are names of other commands. */
export function suggestion(word: string, { commands }: Manifest, others: readonly string[] = []): string {
  if (adviceFor(word) !== undefined) return ''
  const names = commands.flatMap(({ name, also = [] }) => [kebab(name), ...also.map(({ words }) => words)])
  const alike = [...others, ...names].filter((name) => !areOpposites(word, name))
  const known = synonymsOf(word)
  const found = known.length > 0 ? known : [suggest(word, alike) ?? []].flat()
  return found.length > 0 ? ` (did you mean ${found.map((name) => `"${name}"`).join(' or ')}?)` : ''
}

/** `unroute` is similar to `route`, but does the opposite. */
const areOpposites = (a: string, b: string): boolean => a === `un${b}` || b === `un${a}`
