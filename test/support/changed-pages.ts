/** A page, and forty changes of it as they happen to applications, for the measurement of healing. */

type Kind =
  | 'renamed classes and IDs'
  | 'moved nodes'
  | 'translated labels'
  | 'new wrappers'
  | 'reordered lists'
  | 'replaced components'

export interface Change {
  readonly kind: Kind
  readonly what: string
  /** `data-real` of the element that a script clicks. */
  readonly target: string
  /** Code that changes the page; `$` returns the element with a `data-real`. */
  readonly code: string
}

const teas = ['Assam', 'Ceylon', 'Darjeeling', 'Earl Grey']

const body = `
  <header class=top><nav class="nav main"><a href="#home" data-real=home>Home</a> <a href="#sale" data-real=sale>Sale</a> <a href="#help" data-real=help>Help</a></nav></header>
  <main class=content>
    <form class=search onsubmit="return false"><label class=lbl>Search <input name=q data-real=search></label> <button type=button class="btn primary" data-real=find>Find</button></form>
    <ul class=products>${teas
      .map((tea) => {
        const key = tea.toLowerCase().replace(' ', '-')
        return `<li class=product><h2>${tea}</h2><button class="btn add" aria-label="Add ${tea}" data-real=add-${key}>Add</button> <button class=btn title="Details of ${tea}" data-real=details-${key}>Details</button></li>`
      })
      .join('')}</ul>
    <section class=account>
      <label for=email>Email</label> <input id=email name=email data-real=email>
      <label><input type=checkbox name=news data-real=news> Newsletter</label>
      <label>Country <select name=country data-real=country><option>Austria<option>Germany</select></label>
      <button id=save data-testid=save data-real=save>Save changes</button> <button id=cancel data-real=cancel>Cancel</button> <button data-real=delete>Delete account</button>
    </section>
  </main>`

/** The elements that the original script clicks. */
export const targets = 'home sale search find add-assam details-ceylon email news country save cancel delete'.split(' ')

const renamed = 'renamed classes and IDs'
const moved = 'moved nodes'
const translated = 'translated labels'
const wrapped = 'new wrappers'
const reordered = 'reordered lists'
const replaced = 'replaced components'

const change = (kind: Kind, target: string, what: string, code: string): Change => ({ kind, what, target, code })
const label = (text: string, target: string) => `$('${target}').textContent = '${text}'`
const replace = (target: string, html: string) => `$('${target}').outerHTML = \`${html}\``

export const changes: readonly Change[] = [
  change(renamed, 'find', 'all classes are hashes', `all('[class]').forEach((e, i) => (e.className = 'x' + i * 7919))`),
  change(renamed, 'save', 'another ID', `$('save').id = 'btn-7f'`),
  change(renamed, 'save', 'another test ID', `$('save').dataset.testid = 'account-save'`),
  change(renamed, 'save', 'other IDs of both kinds', `$('save').id = 'b1'; $('save').dataset.testid = 'b2'`),
  change(
    renamed,
    'email',
    'another name and ID',
    `$('email').name = 'mail'; $('email').id = 'm'; all('[for=email]')[0].htmlFor = 'm'`,
  ),
  change(renamed, 'add-assam', 'no class, another title', `$('add-assam').className = ''; $('add-assam').title = 'x'`),
  change(renamed, 'home', 'another target of the link', `$('home').href = '/start'`),

  change(moved, 'save', 'into the header', `all('header')[0].append($('save'))`),
  change(moved, 'find', 'its form to the end', `document.body.append(all('form')[0])`),
  change(moved, 'home', 'its menu to the end', `document.body.append(all('nav')[0])`),
  change(moved, 'add-assam', 'out of the list', `all('main')[0].prepend($('add-assam'))`),
  change(moved, 'cancel', 'before another button', `$('save').before($('cancel'))`),
  change(
    moved,
    'news',
    'out of its label',
    `const l = $('news').parentElement; l.before($('news')); $('news').id = 'n'; l.htmlFor = 'n'`,
  ),
  change(moved, 'details-ceylon', 'before its neighbor', `$('add-ceylon').before($('details-ceylon'))`),

  change(translated, 'find', 'a button without attributes', label('Suchen', 'find')),
  change(translated, 'save', 'a button with an ID', label('Speichern', 'save')),
  change(translated, 'email', 'a field with a name', `all('[for=email]')[0].textContent = 'E-Mail-Adresse'`),
  change(translated, 'news', 'a checkbox with a name', `$('news').nextSibling.textContent = ' Rundbrief'`),
  change(translated, 'home', 'a link', label('Start', 'home')),
  change(translated, 'country', 'a list', `$('country').parentElement.firstChild.textContent = 'Land '`),
  change(
    translated,
    'delete',
    'all buttons beside it, too',
    `${label('Sichern', 'save')}; ${label('Abbrechen', 'cancel')}; ${label('Konto entfernen', 'delete')}`,
  ),

  change(
    wrapped,
    'save',
    'around each button',
    `all('button').forEach((e) => { const d = document.createElement('div'); e.before(d); d.append(e) })`,
  ),
  change(
    wrapped,
    'search',
    'a shadow root',
    `const f = all('form')[0]; const d = document.createElement('div'); f.before(d); d.attachShadow({mode: 'open'}).append(f)`,
  ),
  change(
    wrapped,
    'cancel',
    'a frame',
    `const f = document.createElement('iframe'); document.body.append(f); f.contentDocument.body.append($('cancel'))`,
  ),
  change(
    wrapped,
    'email',
    'a fieldset',
    `const s = document.createElement('fieldset'); s.append(...all('section')[0].childNodes); all('section')[0].append(s)`,
  ),
  change(
    wrapped,
    'find',
    'its text and an icon',
    `$('find').innerHTML = '<svg width=9 height=9></svg><span>Find</span>'`,
  ),
  change(
    wrapped,
    'add-assam',
    'a custom element',
    `const d = document.createElement('x-item'); d.style.display = 'contents'; $('add-assam').before(d); d.append($('add-assam'))`,
  ),

  change(reordered, 'add-assam', 'backwards', `const u = all('ul')[0]; u.append(...[...u.children].reverse())`),
  change(reordered, 'details-ceylon', 'with a new first item', `all('ul')[0].prepend(all('li')[3].cloneNode(true))`),
  change(reordered, 'add-assam', 'without the item', `all('li')[0].remove()`),
  change(
    reordered,
    'add-assam',
    'without names of the items',
    `all('[aria-label]').forEach((e) => e.removeAttribute('aria-label'))`,
  ),
  change(reordered, 'sale', 'a menu', `all('nav')[0].prepend($('sale'))`),
  change(
    reordered,
    'details-ceylon',
    'without the item and its title',
    `all('li')[1].remove(); all('[title]').forEach((e) => e.removeAttribute('title'))`,
  ),

  change(
    replaced,
    'save',
    'a button by a link',
    replace('save', '<a href="#s" role=button id=save data-testid=save data-real=save>Save changes</a>'),
  ),
  change(replaced, 'find', 'a button by an input', replace('find', '<input type=button value=Find data-real=find>')),
  change(
    replaced,
    'news',
    'a checkbox by a switch',
    replace('news', '<button role=switch aria-checked=false aria-label=Newsletter data-real=news>x</button>'),
  ),
  change(
    replaced,
    'country',
    'a list by a combobox',
    replace('country', '<input role=combobox name=country data-real=country>'),
  ),
  change(replaced, 'sale', 'a link by a button', replace('sale', '<button data-real=sale>Sale</button>')),
  change(
    replaced,
    'delete',
    'a button by another one',
    replace('delete', '<button data-real=export>Export account</button>'),
  ),
  change(
    replaced,
    'save',
    'a button by one for drafts',
    replace('save', '<button data-real=draft>Save draft</button>'),
  ),
]

/** Returns the page; each click is sent to `/clicked` with the number of the change and the element. */
export const changedPage = (number: number): string => `<!doctype html><html lang=en><title>Account</title>${body}
  <script>
    const all = (css) => [...document.querySelectorAll(css)]
    const $ = (real) => document.querySelector('[data-real=' + real + ']')
    ${changes[number]?.code ?? ''}
    const report = (event) => {
      event.preventDefault()
      const hit = event.composedPath().find((at) => at.dataset?.real)
      navigator.sendBeacon('/clicked?change=${number}&real=' + (hit?.dataset.real ?? 'nothing'))
    }
    addEventListener('click', report, true)
    for (const frame of frames) frame.addEventListener('click', report, true)
  </script>`
