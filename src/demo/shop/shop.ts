/** The demo shop: products, basket, login, orders, returns with a picture. */
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { page } from '../layout.ts'
import { basket, orders } from './orders.ts'
import { inEuros, kinds, type Product, productOf, products } from './products.ts'
import { Visitors } from './visitors.ts'

/** The account of the demo. */
export const account = { name: 'ada', password: 'oolong' } as const

const card = ({ slug, name, kind, price, stock }: Product) => html`<li>
  <h2><a href="/shop/tea/${slug}">${name}</a></h2>
  <p>${kind}</p>
  <p class="price">${inEuros(price)}</p>
  <p>${stock > 0 ? `${stock} in stock` : 'Sold out'}</p>
</li>`

/** Structured data; `<` is escaped so that no text ends the script. */
const dataOf = ({ name, price, stock, text, slug }: Product) =>
  raw(
    `<script type="application/ld+json">${JSON.stringify({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name,
      sku: slug,
      description: text,
      offers: {
        '@type': 'Offer',
        price,
        priceCurrency: 'EUR',
        availability: `https://schema.org/${stock > 0 ? 'InStock' : 'OutOfStock'}`,
      },
    }).replaceAll('<', '\\u003c')}</script>`,
  )

const detail = (product: Product) => html`<h1>${product.name}</h1>
  <p>${product.text}</p>
  <table>
    <tr>
      <th>Kind</th>
      <td>${product.kind}</td>
    </tr>
    <tr>
      <th>Origin</th>
      <td>${product.origin}</td>
    </tr>
    <tr>
      <th>Price</th>
      <td class="price">${inEuros(product.price)}</td>
    </tr>
    <tr>
      <th>In stock</th>
      <td>${product.stock}</td>
    </tr>
  </table>
  <form method="post" action="/shop/basket">
    <input type="hidden" name="tea" value="${product.slug}" />
    <label>Pieces <input type="number" name="count" value="1" min="1" max="${Math.max(product.stock, 1)}" /></label>
    <button ${product.stock > 0 ? '' : 'disabled'}>Add to basket</button>
  </form>`

const loginForm = (next: string, notice = '') => html`<h1>Sign in</h1>
  ${notice && html`<p class="notice" role="alert">${notice}</p>`}
  <p>The account of the demo is <code>${account.name}</code> with the password <code>${account.password}</code>.</p>
  <form method="post" action="/shop/login">
    <input type="hidden" name="next" value="${next}" />
    <label>Name <input name="name" autocomplete="username" required /></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
    <button>Sign in</button>
  </form>`

/** Base of paths. */
const site = 'http://site'

/** Returns the path of this site to continue with. */
function pathOf(value: unknown): string {
  const orders = '/shop/orders'
  if (typeof value !== 'string' || !value.startsWith('/')) return orders
  try {
    const { origin, pathname, search } = new URL(value, site)
    // A path such as `//host` is another site.
    return origin === site && !pathname.startsWith('//') ? pathname + search : orders
  } catch {
    // Such as `//[`.
    return orders
  }
}

export function shop(): Hono {
  const visitors = new Visitors()
  const app = new Hono()
  app.get('/', (context) => {
    const kind = context.req.query('kind')
    const shown = products.filter((one) => kind === undefined || one.kind === kind)
    const links = kinds.map((one) => html`<a href="/shop?kind=${one}">${one}</a> `)
    const found =
      shown.length > 0
        ? html`<ul class="grid">
            ${shown.map(card)}
          </ul>`
        : html`<p>There is no such kind.</p>`
    return context.html(
      page(
        kind ?? 'Shop',
        html`<h1>${kind ?? 'All teas'}</h1>
          <p>${links}<a href="/shop">All</a> <a href="/shop/orders">Your orders</a></p>
          ${found}`,
      ),
    )
  })
  app.get('/tea/:slug', (context) => {
    const product = productOf(context.req.param('slug'))
    if (product) return context.html(page(product.name, detail(product), dataOf(product)))
    return context.html(
      page(
        'Not found',
        html`<h1>There is no such tea</h1>
          <p><a href="/shop">All teas</a></p>`,
      ),
      404,
    )
  })
  app.get('/login', (context) => context.html(page('Sign in', loginForm(pathOf(context.req.query('next'))))))
  app.post('/login', async (context) => {
    const { name, password, next } = await context.req.parseBody()
    const visitor = visitors.of(context)
    if (name !== account.name || password !== account.password)
      return context.html(page('Sign in', loginForm(pathOf(next), 'The name or the password is wrong.')), 401)
    visitor.user = name
    return context.redirect(pathOf(next), 303)
  })
  app.post('/logout', (context) => {
    delete visitors.of(context).user
    return context.redirect('/shop', 303)
  })
  app.route('/', basket(visitors))
  app.route('/', orders(visitors))
  return app
}
