/** Credentials and options of a request to `/mcp`. */
import { BaxError } from '../../core/errors/errors.ts'

type Fetch = (request: Request) => Response | Promise<Response>

/** Calls the API of this server with the credentials of the client, so that all its checks apply. */
export function asCaller({ headers, url }: Request, fetch: Fetch): Fetch {
  const { origin } = new URL(url)
  const names = ['host', 'x-api-key', 'authorization']
  const own = names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!] as const] : []))
  return (given) => {
    // URLs in responses, such as that of a handoff, begin with that of the request.
    const { pathname, search } = new URL(given.url)
    const request = new Request(`${origin}${pathname}${search}`, given)
    for (const [name, value] of own) request.headers.set(name, value)
    return fetch(request)
  }
}

/** Names of the options in the URL. */
const fields = { tools: 'tools', caps: 'caps', allowed_domains: 'allowedDomains', confirm: 'confirm' } as const
const switches = { read_only: 'readOnly', insecure: 'insecure', content_boundaries: 'contentBoundaries' } as const

/** Reads the options in the URL, as in `/mcp?tools=browser&read_only=true`. @throws BaxError `invalid_request` */
export function queryOf(request: Request): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const [name, value] of new URL(request.url).searchParams) {
    if (Object.hasOwn(fields, name)) options[fields[name as keyof typeof fields]] = value.split(',')
    else if (Object.hasOwn(switches, name) && /^(?:true|false)$/.test(value))
      options[switches[name as keyof typeof switches]] = value === 'true'
    else throw new BaxError('invalid_request', `${name}=${JSON.stringify(value)} is not an option of /mcp`)
  }
  return options
}
