/** Visitors of the demo shop, with their baskets and orders. They are kept in memory only. */
import { randomBytes } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Product } from './products.ts'

export interface Order {
  readonly number: number
  readonly lines: readonly { readonly product: Product; readonly count: number }[]
  readonly total: number
  readonly name: string
  readonly address: string
  readonly delivery: string
  readonly gift: boolean
  /** Name and bytes of the picture that was sent with a return. */
  returned?: { readonly file: string; readonly size: number; readonly reason: string }
}

export interface Visitor {
  /** Present after a login. */
  user?: string
  readonly basket: Map<string, number>
  readonly orders: Order[]
}

/** Most visitors that are remembered; the oldest is forgotten first. */
const most = 1000
const cookie = 'tea_visitor'

export class Visitors {
  readonly #known = new Map<string, Visitor>()

  /** Returns the visitor of a request, a new one with a cookie if it has none. */
  of(context: Context): Visitor {
    const known = this.#known.get(getCookie(context, cookie) ?? '')
    if (known) return known
    const visitor: Visitor = { basket: new Map(), orders: [] }
    const id = randomBytes(12).toString('hex')
    this.#known.set(id, visitor)
    if (this.#known.size > most) this.#known.delete(this.#known.keys().next().value!)
    setCookie(context, cookie, id, { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: 86_400 })
    return visitor
  }
}
