/** The sites that examples of the README and the guide use. */
import { serveSite, type Site } from './site.ts'

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`

const article = (title: string, more: string): string =>
  page(
    title,
    `<main><h1>${title}</h1><p>${'This page stands for those of the examples, and has as many words as an article needs to be seen as one. '.repeat(4)}</p>${more}</main>`,
  )

/** A few linked pages with a search field, and a shop of one product. */
export const exampleSite = (): Promise<Site> =>
  serveSite({
    '/': article(
      'Example Domain',
      '<p><a href="/docs/">Docs</a></p><div id="chart" style="width: 80px; height: 40px"></div><form action="/search"><input id="q" name="q"></form>',
    ),
    '/files/': article(
      'Files',
      '<p><a href="/report.pdf" download>Report</a></p><input type="file"><input type="file" id="documents" multiple><input type="file" webkitdirectory><div id="drop-zone" style="height: 40px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); this.textContent = event.dataTransfer.files[0].name">Drop</div>',
    ),
    '/report.pdf': (_, response) => {
      response.setHeader('content-type', 'application/pdf')
      response.end('%PDF-1.4 of a test')
    },
    '/docs/': article('Docs', '<p><a href="/docs/guide/">Guide</a></p>'),
    '/docs/guide/': article('Guide', '<p><a href="/">Home</a></p>'),
    '/search': (request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      const query = new URL(request.url!, 'http://x').searchParams.get('q')
      response.end(article(String(query), ''))
    },
    '/shop': page('Shop', '<a href="/toaster">Toaster</a>'),
    '/toaster': page(
      'Toaster',
      '<p id="price">49.50</p><form action="/order"><textarea id="note"></textarea><button id="buy">Buy</button></form>',
    ),
    '/order': article('Thank you', ''),
    '/logout': page('Bye', '<h1>Bye</h1>'),
  })

/** The page of the observation in the guide. */
export const teaShop = (): Promise<Site> =>
  serveSite({
    '/tea': page(
      'Tea',
      `<header><nav aria-label="Main"><a href="/">Home</a> <a href="/about">About us</a></nav></header>
      <main><h1>Tea</h1>
      <ul><li>Assam 4 EUR <button id="buy" onclick="if(!confirm('Add to basket?'))document.body.append(Object.assign(document.createElement('a'),{href:'/checkout',textContent:'Checkout'}))">Buy</button></li></ul>
      <label>Search <input value="green"></label>
      <label>Size <select><option>small</option><option selected>large</option></select></label></main>
      <script>console.warn('careful')</script><div style="position: absolute; top: 0; height: 2860px; width: 1px"></div>`,
    ),
    '/checkout': page('Checkout', '<h1>Checkout</h1><label>Name <input></label>'),
  })
