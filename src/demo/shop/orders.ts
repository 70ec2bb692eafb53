/** Basket and orders of the demo shop. */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { page } from '../layout.ts'
import { inEuros, productOf } from './products.ts'
import type { Order, Visitor, Visitors } from './visitors.ts'

const deliveries = ['Standard', 'Express', 'Collect in the shop'] as const

function linesOf({ basket }: Visitor) {
  return [...basket].flatMap(([slug, count]) => {
    const product = productOf(slug)
    return product ? [{ product, count }] : []
  })
}

const totalOf = (lines: Order['lines']): number =>
  lines.reduce((sum, { product, count }) => sum + Math.round(product.price * 100) * count, 0) / 100

const lineTable = (lines: Order['lines']) => html`<table>
  <thead>
    <tr>
      <th>Tea</th>
      <th>Pieces</th>
      <th>Price</th>
    </tr>
  </thead>
  <tbody>
    ${lines.map(
      ({ product, count }) =>
        html`<tr>
          <td><a href="/shop/tea/${product.slug}">${product.name}</a></td>
          <td>${count}</td>
          <td>${inEuros(product.price * count)}</td>
        </tr>`,
    )}
  </tbody>
  <tfoot>
    <tr>
      <th>Total</th>
      <td></td>
      <td class="price">${inEuros(totalOf(lines))}</td>
    </tr>
  </tfoot>
</table>`

const basketPage = (lines: Order['lines']) =>
  lines.length === 0
    ? html`<h1>Basket</h1>
        <p>The basket is empty. <a href="/shop">All teas</a></p>`
    : html`<h1>Basket</h1>
        ${lineTable(lines)}
        <form method="post" action="/shop/basket/empty">
          <p><a href="/shop/checkout">Go to checkout</a> <button>Empty the basket</button></p>
        </form>`

const checkoutForm = (user: string, notice = '') => html`<h1>Checkout</h1>
  ${notice && html`<p class="notice" role="alert">${notice}</p>`}
  <form method="post" action="/shop/checkout">
    <label>Name <input name="name" value="${user}" required /></label>
    <label>Address <textarea name="address" rows="3" required></textarea></label>
    <fieldset>
      <legend>Delivery</legend>
      ${deliveries.map((one, at) => html`<label><input type="radio" name="delivery" value="${one}" ${at === 0 ? 'checked' : ''} /> ${one}</label>`)}
    </fieldset>
    <label><input type="checkbox" name="gift" value="yes" /> Wrap it as a gift</label>
    <button>Order</button>
  </form>`

const orderPage = (order: Order) => html`<h1>Order ${order.number}</h1>
  <p>${order.delivery} delivery to ${order.name}, ${order.address}.${order.gift ? ' Wrapped as a gift.' : ''}</p>
  ${lineTable(order.lines)}
  <p><a href="/shop/orders/${order.number}/invoice.csv">Invoice</a></p>
  ${
    order.returned
      ? html`<p>
          A return is announced: ${order.returned.reason}. Picture: ${order.returned.file}, ${order.returned.size}
          bytes.
        </p>`
      : html`<h2>Return it</h2>
          <form method="post" action="/shop/orders/${order.number}/return" enctype="multipart/form-data">
            <label
              >Reason
              <select name="reason">
                <option>Broken</option>
                <option>Too late</option>
                <option>Not as expected</option>
              </select></label
            >
            <label>Picture <input type="file" name="picture" accept="image/*" required /></label>
            <button>Announce the return</button>
          </form>`
  }`

const ordersPage = ({ user, orders }: Visitor) => html`<h1>Orders of ${user}</h1>
  ${
    orders.length === 0
      ? html`<p>There are no orders yet.</p>`
      : html`<ul>
          ${orders.map(({ number, total }) => html`<li><a href="/shop/orders/${number}">Order ${number}</a>: ${inEuros(total)}</li>`)}
        </ul>`
  }
  <form method="post" action="/shop/logout"><button>Sign out</button></form>`

/** Quotes a field of CSV. */
const quoted = (value: string | number): string => `"${String(value).replaceAll('"', '""')}"`

const invoiceOf = ({ lines, total }: Order): string =>
  [
    ['tea', 'pieces', 'price_eur'],
    ...lines.map(({ product, count }) => [product.name, count, (product.price * count).toFixed(2)]),
    ['total', '', total.toFixed(2)],
  ]
    .map((row) => `${row.map(quoted).join(',')}\r\n`)
    .join('')

const signIn = (context: Context) => context.redirect(`/shop/login?next=${encodeURIComponent(context.req.path)}`, 303)

/** Pages before an order. */
export function basket(visitors: Visitors): Hono {
  const app = new Hono()
  app.get('/basket', (context) => context.html(page('Basket', basketPage(linesOf(visitors.of(context))))))
  app.post('/basket', async (context) => {
    const { tea, count } = await context.req.parseBody()
    const product = productOf(String(tea))
    if (!product || product.stock === 0)
      return context.html(page('Sold out', html`<h1>This tea cannot be bought</h1>`), 409)
    const known = visitors.of(context).basket
    const pieces = (known.get(product.slug) ?? 0) + Math.max(1, Math.trunc(Number(count)) || 1)
    known.set(product.slug, Math.min(pieces, product.stock))
    return context.redirect('/shop/basket', 303)
  })
  app.post('/basket/empty', (context) => {
    visitors.of(context).basket.clear()
    return context.redirect('/shop/basket', 303)
  })
  app.get('/checkout', (context) => {
    const { user, basket } = visitors.of(context)
    if (user === undefined) return signIn(context)
    return basket.size === 0
      ? context.redirect('/shop/basket', 303)
      : context.html(page('Checkout', checkoutForm(user)))
  })
  app.post('/checkout', async (context) => {
    const visitor = visitors.of(context)
    if (visitor.user === undefined) return signIn(context)
    const lines = linesOf(visitor)
    if (lines.length === 0) return context.redirect('/shop/basket', 303)
    const { name, address, delivery, gift } = await context.req.parseBody()
    const [to, at] = [String(name ?? '').trim(), String(address ?? '').trim()]
    const chosen = deliveries.find((one) => one === delivery)
    if (!to || !at || !chosen)
      return context.html(page('Checkout', checkoutForm(visitor.user, 'Name, address and delivery are needed.')), 422)
    const number = visitor.orders.length + 1
    visitor.orders.push({
      number,
      lines,
      total: totalOf(lines),
      name: to,
      address: at,
      delivery: chosen,
      gift: gift === 'yes',
    })
    visitor.basket.clear()
    return context.redirect(`/shop/orders/${number}`, 303)
  })
  return app
}

/** Pages of visitors who have signed in. */
export function orders(visitors: Visitors): Hono {
  const app = new Hono()
  const missing = (context: Context) =>
    context.html(
      page(
        'Not found',
        html`<h1>You have no such order</h1>
          <p><a href="/shop/orders">Your orders</a></p>`,
      ),
      404,
    )
  const orderOf = (context: Context) =>
    visitors.of(context).orders.find(({ number }) => String(number) === context.req.param('number'))
  const needsUser = async (context: Context, next: () => Promise<void>) =>
    visitors.of(context).user === undefined ? signIn(context) : next()

  app.use('/orders', needsUser)
  app.use('/orders/*', needsUser)
  app.get('/orders', (context) => context.html(page('Orders', ordersPage(visitors.of(context)))))
  app.get('/orders/:number', (context) => {
    const order = orderOf(context)
    return order ? context.html(page(`Order ${order.number}`, orderPage(order))) : missing(context)
  })
  app.get('/orders/:number/invoice.csv', (context) => {
    const order = orderOf(context)
    if (!order) return missing(context)
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="invoice-${order.number}.csv"`,
    }
    return context.body(invoiceOf(order), 200, headers)
  })
  app.post('/orders/:number/return', async (context) => {
    const order = orderOf(context)
    if (!order) return missing(context)
    const { picture, reason } = await context.req.parseBody()
    if (!(picture instanceof File) || picture.size === 0)
      return context.html(page('Picture needed', html`<h1>A picture is needed</h1>`), 422)
    order.returned = { file: picture.name, size: picture.size, reason: String(reason) }
    return context.redirect(`/shop/orders/${order.number}`, 303)
  })
  return app
}
