/** The demo site: a tea house with a shop, a manual, a table, an application and pages that are hard to use. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'
import { docs, indexes } from './docs/docs.ts'
import { manual } from './docs/manual.ts'
import { hardPages } from './hard.ts'
import { page } from './layout.ts'
import { perPage, readings, readingsTable } from './readings.ts'
import { products } from './shop/products.ts'
import { account, shop } from './shop/shop.ts'
import { tasksApp } from './tasks.ts'

/** Largest request, in bytes: a picture of a return. */
const largest = 5 * 1024 * 1024

const home = html`<h1>Tea House</h1>
  <p>A site for trying bax. It runs on this machine only, and forgets everything when it ends.</p>
  <ul>
    <li>
      <a href="/shop">Shop</a>: ${products.length} products, a basket, a login (<code>${account.name}</code>,
      <code>${account.password}</code>), orders, invoices to download and returns with a picture to upload
    </li>
    <li>
      <a href="/docs">Documentation</a>: ${manual.length} pages with a search, also as Markdown, with sitemap.xml,
      robots.txt and llms.txt
    </li>
    <li>
      <a href="/readings">Readings</a>: a table with ${readings.length} rows on ${readings.length / perPage} pages
    </li>
    <li><a href="/app">Tasks</a>: an application that draws its pages with a script</li>
    <li><a href="/hard">Hard pages</a>: slow, broken, covered, hidden and endless ones</li>
  </ul>`

export function demoSite(): Hono {
  // With and without a slash at the end.
  const app = new Hono({ strict: false })
  app.use(bodyLimit({ maxSize: largest }))
  app.get('/', (context) => context.html(page('Welcome', home)))
  app.get('/favicon.ico', (context) => context.body(null, 204))
  app.route('/', indexes())
  app.route('/shop', shop())
  app.route('/docs', docs())
  app.route('/readings', readingsTable())
  app.route('/app', tasksApp())
  app.route('/hard', hardPages())
  app.notFound((context) =>
    context.html(
      page(
        'Not found',
        html`<h1>There is no such page</h1>
          <p><a href="/">Start</a></p>`,
      ),
      404,
    ),
  )
  return app
}
