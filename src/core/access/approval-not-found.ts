/** The error of an unknown approval, apart from the shapes: the CLI reports it without loading them. */
import { BaxError } from '../errors/errors.ts'

export const approvalNotFound = (id: string): BaxError =>
  new BaxError('approval_not_found', `nothing waits for approval as ${JSON.stringify(id)}`, {
    hint: 'run "bax approve" for the list',
  })
