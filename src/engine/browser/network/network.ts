/** Routes and requests of a session, as its commands use them. */
import type { NetworkControl } from '../../../core/operation/page-control.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { detailsOf } from './request-details.ts'
import { requestLogOf } from './request-log.ts'
import { routesOf } from './routes.ts'

export function networkOf({ browserContext, events }: BatchTarget): NetworkControl {
  const routes = routesOf(browserContext)
  const log = requestLogOf(browserContext)
  return {
    addRoute: (rule) => routes.add(rule, events),
    removeRoutes: (which) => routes.remove(which),
    listRoutes: () => routes.list(),
    listRequests: (filter) => log.list(filter),
    request: async (id, maxBytes) =>
      privacyOf(browserContext).redact(await detailsOf(log.find(id), maxBytes, (request) => log.has(request))),
  }
}
