/** A small shop on 127.0.0.1 for scripts: login, table, frame, dialog, second tab, form. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { serveSite, type Site } from './site.ts'

export interface Shop extends Site {
  readonly orders: Record<string, string>[]
}

export const shopUser = { name: 'ann', password: 'p&ss "wörd"/+<1>' } as const

const products = [
  { id: 1, name: 'Kettle', price: 35 },
  { id: 2, name: 'Toaster', price: 49.5 },
  { id: 3, name: 'Mixer', price: 80 },
] as const

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>body{font:16px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #999;padding:4px 8px}</style></head>
<body><nav><a href="/">Products</a> <a href="/cart">Cart</a> <a href="/help" target="_blank" id="help">Help</a></nav>${body}</body></html>`

const login = page(
  'Sign in',
  `<h1>Sign in</h1><form method="post" action="/session"><label>Name <input id="name" name="name"></label>
<label>Password <input id="password" name="password" type="password"></label><button id="enter">Enter</button></form>`,
)

const list = page(
  'Products',
  `<h1>Products</h1><table id="products"><tbody>${products
    .map(
      ({ id, name, price }) =>
        `<tr class="product"><td><a href="/product?id=${id}">${name}</a></td><td>${price}</td></tr>`,
    )
    .join('')}</tbody></table>`,
)

const detail = (id: string | null) => {
  const product = products.find((item) => String(item.id) === id)
  if (!product) return page('Gone', '<h1>No such product</h1>')
  return page(
    product.name,
    `<h1>${product.name}</h1><p id="price">${product.price}</p><iframe name="reviews" src="/reviews"></iframe>
<button id="add" onclick="fetch('/add?id=${product.id}',{method:'POST'}).then(()=>{document.title='Added';console.log('added ${product.name}')})">Add</button>`,
  )
}

const cart = (ids: readonly string[]) =>
  page(
    'Cart',
    `<h1>Cart</h1><ul id="items">${ids.map((id) => `<li>${products.find((item) => String(item.id) === id)?.name}</li>`).join('')}</ul>
<button id="empty" onclick="if(confirm('Empty the cart?'))fetch('/empty',{method:'POST'}).then(()=>location.reload())">Empty</button>
<form method="post" action="/order"><select id="ship" name="ship"><option value="slow">Slow</option><option value="fast">Fast</option></select>
<label><input type="checkbox" id="gift" name="gift"> Gift</label><textarea id="note" name="note"></textarea><button id="order">Order</button></form>`,
  )

const reviews = `<!doctype html><title>Reviews</title><p class="review">Works</p><p class="review">Loud</p>`

/** Serves a shop; its carts and orders are kept in memory. */
export async function serveShop(): Promise<Shop> {
  const orders: Record<string, string>[] = []
  const carts = new Map<string, string[]>()
  const html = (response: ServerResponse, text: string, status = 200) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
    response.end(text)
  }
  const go = (response: ServerResponse, location: string, cookie?: string) => {
    response.writeHead(303, { location, ...(cookie && { 'set-cookie': cookie }) })
    response.end()
  }
  /** Wraps a page that requires a login; `ids` are the products in the cart. */
  const inside =
    (show: (request: IncomingMessage, response: ServerResponse, ids: string[]) => unknown) =>
    (request: IncomingMessage, response: ServerResponse) => {
      const ids = carts.get(/user=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '')
      if (ids) void show(request, response, ids)
      else go(response, '/login')
    }
  const idOf = ({ url }: IncomingMessage) => new URL(url!, 'http://x').searchParams.get('id')
  const site = await serveSite({
    '/login': login,
    '/reviews': reviews,
    '/help': page('Help', '<h1>Help</h1><p id="phone">555 0100</p>'),
    '/': inside((_, response) => html(response, list)),
    '/product': inside((request, response) => html(response, detail(idOf(request)))),
    '/cart': inside((_, response, ids) => html(response, cart(ids))),
    '/add': inside((request, response, ids) => {
      ids.push(idOf(request)!)
      response.end()
    }),
    '/empty': inside((_, response, ids) => {
      ids.length = 0
      response.end()
    }),
    '/order': inside(async (request, response, ids) => {
      orders.push({ items: ids.join(','), ...(await form(request)) })
      html(response, page('Thank you', `<h1>Thank you</h1><p id="number">Order ${orders.length}</p>`))
    }),
    '/session': async (request, response) => {
      const { name, password } = await form(request)
      if (name !== shopUser.name || password !== shopUser.password) {
        return html(response, page('Sign in', `<h1>Wrong name or password: ${name}</h1>`), 401)
      }
      const user = `${name}${carts.size + 1}`
      carts.set(user, [])
      go(response, '/', `user=${user}; Path=/`)
    },
  })
  return { ...site, orders }
}

async function form(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
}
