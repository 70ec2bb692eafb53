/** Recordings on a site with a shop, a log-in, links and menus. */
import { afterAll, beforeAll } from 'vitest'
import { parse } from 'yaml'
import { bax } from './cli.ts'
import { type Homes, openHomes } from './homes.ts'
import { startRecording } from './recorder.ts'
import { type ScriptFolder, scriptFolder } from './scripts.ts'
import { serveSite, type Site } from './site.ts'

/** Shows in the title which elements were clicked, and what the fields contain. */
const reporting = `<script>
  const clicked = []
  const show = () => (top.document.title = [...clicked, ...[...document.querySelectorAll('[data-n]')].filter((field) => 'value' in field && field.type !== 'submit').map((field) => field.dataset.n + '=' + (field.type === 'checkbox' ? field.checked : field.type === 'password' ? field.value.length : field.value))].join(' '))
  for (const type of ['click', 'dblclick', 'contextmenu'])
    addEventListener(type, ({ target }) => { if (target.dataset.n && !target.matches('input, select')) clicked.push(type + ':' + target.dataset.n); show() })
  addEventListener('input', show)
  addEventListener('message', ({ data }) => { clicked.push(data); show() })
</script>`

const shop = `<!doctype html><title>Shop</title><h1 data-n=title>Shop</h1>
  <div><button data-n=buy1>Buy</button><button data-n=buy2>Buy</button><button data-n=later>Buy later</button></div>
  <form onsubmit="return false"><label>Email <input data-n=email></label><label>Email of a friend <input data-n=friend></label>
  <input placeholder="Search the shop" data-n=q><label><input type=checkbox data-n=agree> Agree</label>
  <select aria-label=Size data-n=size><option value=s>Small<option value=l>Large</select>
  <textarea title="A note" data-n=note></textarea></form>
  <div data-testid=card data-n=card>Card</div><p data-n=text>Some "quoted" text</p>
  <iframe name=pay srcdoc="<label>Card number <input oninput='parent.postMessage(&quot;number:&quot; + this.value, &quot;*&quot;)'></label><button onclick='parent.postMessage(&quot;pay&quot;, &quot;*&quot;)'>Pay</button>"></iframe>
  ${reporting}`

const login = `<!doctype html><title>Login</title><form onsubmit="return false"><label>Name <input name=user data-n=user></label>
  <label>Password <input type=password name=pass data-n=pass></label>
  <button type=button data-n=reveal onclick="document.querySelector('[name=pass]').type = 'text'">Show password</button><button>Sign in</button></form>${reporting}`

const menu = (body: string) => `<!doctype html><title>Menu</title>${body}${reporting}`

/** Opens an engine, the site and a folder for the tests of a file. */
export function recordings() {
  let homes: Homes
  let site: Site
  let folder: ScriptFolder
  beforeAll(async () => {
    ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
    site = await serveSite({
      '/': shop,
      '/login': login,
      '/links': '<!doctype html><title>Links</title><a href="/links2">Next</a> <a href="/pop" target=_blank>Popup</a>',
      '/links2': '<!doctype html><title>Second</title><h1>Second</h1><button onclick="history.back()">Back</button>',
      '/pop': '<!doctype html><title>Popup</title><button onclick="document.title = 1">Inside</button>',
      '/menu1': menu('<nav><button id=basket data-n=basket>Basket</button><button id=help>Help</button></nav>'),
      // Renamed.
      '/menu2': menu('<nav><button id=basket data-n=basket>Cart</button><button id=help>Help</button></nav>'),
      // Two elements that are equally similar.
      '/menu3': menu('<nav><button id=basket>Cart</button></nav><div><button id=basket>Bag</button></div>'),
      '/menu4': menu('<p>Nothing</p>'),
      '/menu5': menu('<button id=help type=button>Help</button>'),
    })
  })
  afterAll(async () => {
    await homes.close()
    await site.close()
    await folder.close()
  })

  const env = () => ({ BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir })
  const run = (argv: readonly string[], more: Record<string, string> = {}) =>
    bax(['run', ...argv], { cwd: folder.path, env: { ...env(), ...more } })
  return {
    get homes() {
      return homes
    },
    get site() {
      return site
    },
    get folder() {
      return folder
    },
    env,
    run,
    /** Starts `bax record`. */
    record: (argv: readonly string[], file: string) => startRecording(homes, folder.path, argv, file),
  }
}

type Steps = { steps: Record<string, unknown>[]; secrets?: string[] }
/** Returns steps as a person would write them. */
export const withoutFingerprints = (steps: Steps['steps']) =>
  steps.map((step) => Object.fromEntries(Object.entries(step).filter(([key]) => key !== 'fingerprint')))

export const read = (text: string) => parse(text) as Steps
