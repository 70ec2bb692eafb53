/** Commands of the terminal that are not derived from an operation. `own-commands.ts` loads them. */
import type { Examples } from '../../core/operation/examples.ts'

/** Marks a command that does not run in a warm process of the engine; see `TableEntry`. */
export const ownProcess = 'own process'

/** Marks a command that runs inside the engine unless its arguments name files. */
export const inEngine = 'engine'

/**
 * Custom commands by their syntax; those of an operation can have its examples. Commands without examples are hidden.
 */
export const customCommands: Readonly<
  Record<string, readonly [summary: string, example?: Examples, place?: typeof ownProcess | typeof inEngine]>
> = {
  'open [url]': [
    'Open a page in a browser session',
    [
      'bax open example.com',
      'bax open https://example.com -s shop',
      'bax open example.com --new-session --locale de-DE',
    ],
    inEngine,
  ],
  'do <command> …': [
    'Run browser commands joined by `then`',
    [
      "bax do navigate-to https://example.com then click 'a' then get-title",
      'bax do -s shop screenshot --full-page -o page.png',
      'bax do - < commands.json',
    ],
    inEngine,
  ],
  'approve [id…]': [
    'Approve or reject actions that wait',
    ['bax approve', 'bax approve apr_… --reject', 'bax approve --all'],
  ],
  'run <script> …': [
    'Run scripts of browser steps',
    [
      'bax run login.yaml',
      'bax run login.yaml --watch --headed --var user=ann',
      'bax run flows/ --check',
      'bax run shop/*.yaml --parallel 4 --reporter line,junit=report.xml',
    ],
    ownProcess,
  ],
  'record [url]': [
    'Record browser input as a script',
    ['bax record https://example.com -o flow.yaml', 'bax record -s shop -o flow.yaml'],
    ownProcess,
  ],
  'scrape <url…>': ['Scrape pages into Markdown, data or screenshots'],
  'extract [file…]': [
    'Convert HTML files to Markdown or JSON',
    [
      'bax extract page.html > page.md',
      'bax extract saved-pages/ -o markdown',
      'bax extract page.html --format json',
      'curl -s https://example.com | bax extract - --url https://example.com',
    ],
    ownProcess,
  ],
  'search <query>': ['Search the web and scrape the results'],
  'crawl <url>': ['Crawl a site into Markdown', undefined, ownProcess],
  'map <url>': ['List the URLs of a site'],
  observe: ['Print the content and controls of a page', undefined, inEngine],
  'step <command> …': [
    'Run browser commands and print their effect',
    ["bax step click 'ref=e12'", "bax step click 'ref=e12' then type-text '#q' tea --include snapshot,console"],
    inEngine,
  ],
  'session watch [session-id]': ['Follow the events of a session', undefined, ownProcess],
  'session create [start-url]': ['Create a browser session', undefined, inEngine],
  'session close [session-id]': ['Close a browser session', undefined, inEngine],
  'session use [id|name]': [
    'Choose the default session',
    ['bax session use shop', 'bax session use --clear'],
    inEngine,
  ],
  'session view [session-id]': ['Open the live view of a session', undefined, ownProcess],
  'session upload <file> [name]': ['Upload a file to a session'],
  'session download <name>': ['Download a file of a session'],
  'relay connect': [
    'Connect a browser to an engine',
    [
      'bax relay connect --running chrome',
      'bax relay connect --cdp http://127.0.0.1:9222 --name laptop',
      "bax relay connect --launch --policy read-only --tab 'https://example.com/*'",
    ],
    ownProcess,
  ],
  'relay tabs <id>': ['List the tabs of a relay browser', ['bax relay tabs laptop', 'bax relay tabs laptop --json']],
  'relay events <id>': [
    'Read, follow or export relay events',
    [
      'bax relay events laptop --limit 20 --order desc',
      'bax relay events laptop --follow --kind console,network --level error',
      'bax relay events laptop --har network.har',
    ],
    ownProcess,
  ],
  'cdp <method> [params]': [
    'Call a Chrome DevTools Protocol method',
    [
      'bax cdp Browser.getVersion --target browser',
      `bax cdp Page.captureScreenshot '{"format":"png"}' --field data -o page.png`,
      'bax cdp -s laptop Performance.getMetrics',
    ],
  ],
  'shell create': ['Create a shell session in a container'],
  'shell exec [--] <command> …': ['Run a command in a shell session'],
  'shell attach [command…]': [
    'Attach this terminal to a shell session',
    ['bax shell attach -s data', 'bax shell attach -s data --cwd /output python3'],
    ownProcess,
  ],
  'shell read <path>': ['Print a file of a shell session'],
  'shell write <path>': ['Write to a file of a shell session'],
  'shell tree [path]': ['Print a directory as a tree'],
  'shell search [path]': ['Search the files of a shell session'],
  'shell upload <file> [path]': ['Upload a file to a shell session'],
  'shell download <path>': ['Download a file of a shell session'],
  'shell artifacts list': ['List the output files of commands'],
  'shell artifacts download <artifact-id> [file-name]': ['Download the output files of commands'],
  'shell image build': ['Build the image for shell sessions', undefined, ownProcess],
  'engine stop': ['Stop the local engine and its sessions', undefined, ownProcess],
  'engine logs': ['Print the log of the local engine', ['bax engine logs', 'bax engine logs --lines 50'], ownProcess],
  'engine run': ['Run the local engine in the foreground', undefined, ownProcess],
  'fleet import [state-dir]': [
    'Copy keys and profiles to a fleet',
    [
      'bax fleet import --fleet redis://10.0.0.5:6379',
      'bax fleet import /var/lib/bax --fleet redis://10.0.0.5:6379 --overwrite',
    ],
    ownProcess,
  ],
  serve: [
    'Serve the API over HTTP',
    [
      'bax serve',
      'bax serve --port 0 --log-level warn',
      'bax serve --host 0.0.0.0 --metrics 127.0.0.1:9464',
      'bax serve --fleet redis://10.0.0.5:6379 --secret-file fleet.secret',
    ],
    ownProcess,
  ],
  worker: [
    'Serve an engine to the gateways of a fleet',
    [
      'bax worker --fleet redis://10.0.0.5:6379 --secret-file fleet.secret --host 10.0.0.7',
      'bax worker --fleet redis://127.0.0.1:6379 --secret-file fleet.secret --port 0 --labels browser,render',
      'bax worker --fleet redis://10.0.0.5:6379 --secret-file fleet.secret --host 10.0.0.7 --tls-cert w.pem --tls-key w.key',
    ],
    ownProcess,
  ],
  mcp: [
    'Serve tools to agents over MCP',
    ['bax mcp', 'bax mcp --tools browser,scrape --allowed-domains example.com', 'bax mcp --read-only'],
    ownProcess,
  ],
  skill: [
    'Print or install the skill for agents',
    ['bax skill', 'bax skill --full', 'bax skill --install .claude/skills'],
  ],
  tui: ['Open the full-screen terminal UI', ['bax tui', 'bax tui --server http://127.0.0.1:4100'], ownProcess],
  'api <METHOD> <path>': [
    'Send a request to the API',
    [
      "bax api GET '/sessions?status=all'",
      `bax api POST /commands --data '{"commands":[{"command":"get_title"}]}'`,
      'bax api DELETE /sessions/shop',
    ],
  ],
  openapi: ['Print the OpenAPI document', 'bax openapi > openapi.json'],
  doctor: [
    'Check this machine for missing requirements',
    [
      'bax doctor',
      'bax doctor --json',
      'bax doctor --fleet redis://10.0.0.5:6379',
      'bax doctor --fleet redis://10.0.0.5:6379 --fleet-ca ca.pem',
    ],
    ownProcess,
  ],
  setup: ['Install the browsers that bax needs', ['bax setup', 'bax setup --no-full'], ownProcess],
  'completion <bash|zsh|fish>': [
    'Print a shell completion script',
    ['source <(bax completion bash)', 'bax completion fish > ~/.config/fish/completions/bax.fish'],
  ],
  complete: ['Print completion candidates'],
}
