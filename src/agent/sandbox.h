/* Restrictions beyond those of Docker. */
#pragma once

/* filter.c */
/*
 * Blocks calls for us and every program, in addition to the filter of Docker: io_uring, and AF_VSOCK, which network
 * namespaces do not confine and which reaches the host of a virtual machine.
 */
void filter_calls(void);

/* fence.c: two commands for sessions with a network, run in containers of their own. */
/* Runs `agent survey` in the host's network: prints its addresses and resolvers. */
int survey(void);
/*
 * Runs `agent fence deny RANGE… ask RESOLVER…` in the network of a session with CAP_NET_ADMIN, which the session itself
 * never has, before the session runs its first program: blocks the ranges,
 * except for DNS requests to the resolvers.
 */
int fence(char **arguments);
