/* Commands that inspect the network of the host, and fence the network of a session. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int survey(void) {
  struct ifaddrs *all, *a;
  if (getifaddrs(&all) < 0) return 1;
  for (a = all; a; a = a->ifa_next) {
    char text[INET6_ADDRSTRLEN];
    int family = a->ifa_addr ? a->ifa_addr->sa_family : 0;
    const void *address = family == AF_INET    ? (const void *)&((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr
                          : family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr
                                               : NULL;
    if (address && inet_ntop(family, address, text, sizeof text)) printf("address %s\n", text);
  }
  freeifaddrs(all);
  FILE *file = fopen("/etc/resolv.conf", "re");
  char line[1024], name[64];
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "nameserver %63s", name) == 1) printf("resolver %s\n", name);
  if (file) fclose(file);
  return 0;
}

struct rule {
  struct nlmsghdr head;
  struct fib_rule_hdr body;
  char attributes[128];
};

static void attribute(struct rule *rule, unsigned short type, const void *bytes, size_t n) {
  struct rtattr *a = (struct rtattr *)(void *)((char *)rule + NLMSG_ALIGN(rule->head.nlmsg_len));
  a->rta_type = type;
  a->rta_len = (unsigned short)RTA_LENGTH(n);
  memcpy(RTA_DATA(a), bytes, n);
  rule->head.nlmsg_len = NLMSG_ALIGN(rule->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

/* Sends one rule and waits for the kernel's response. */
static int add_rule(int fd, struct rule *rule) {
  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char rest[256];
  } response;
  if (send(fd, rule, rule->head.nlmsg_len, 0) < 0) return errno;
  if (recv(fd, &response, sizeof response, 0) < (ssize_t)NLMSG_LENGTH(sizeof response.error)) return EIO;
  return response.head.nlmsg_type == NLMSG_ERROR ? -response.error.error : EIO;
}

/* Adds the rule of one destination: unreachable, or (with a protocol) regular routing to its port 53. */
static int rule_for(int fd, const char *destination, int protocol) {
  char text[64];
  snprintf(text, sizeof text, "%s", destination);
  char *slash = strchr(text, '/');
  if (slash) *slash = 0;
  uint8_t address[16];
  int family = strchr(text, ':') ? AF_INET6 : AF_INET;
  size_t size = family == AF_INET ? 4 : 16;
  if (inet_pton(family, text, address) != 1) return EINVAL;
  struct rule rule = {
      .head = {.nlmsg_len = NLMSG_LENGTH(sizeof rule.body),
               .nlmsg_type = RTM_NEWRULE,
               .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
      .body = {.family = (uint8_t)family,
               .dst_len = (uint8_t)(slash ? atoi(slash + 1) : (int)size * 8),
               .table = protocol ? RT_TABLE_MAIN : RT_TABLE_UNSPEC,
               .action = protocol ? FR_ACT_TO_TBL : FR_ACT_UNREACHABLE},
  };
  uint32_t priority = protocol ? 100 : 200;
  attribute(&rule, FRA_PRIORITY, &priority, sizeof priority);
  if (rule.body.dst_len > 0) attribute(&rule, FRA_DST, address, size);
  if (protocol) {
    uint8_t number = (uint8_t)protocol;
    struct fib_rule_port_range port = {53, 53};
    attribute(&rule, FRA_IP_PROTO, &number, sizeof number);
    attribute(&rule, FRA_DPORT_RANGE, &port, sizeof port);
  }
  int error = add_rule(fd, &rule);
  /* A kernel without IPv6 needs no rule for it. */
  return error == EEXIST || (error == EAFNOSUPPORT && family == AF_INET6) ? 0 : error;
}

int fence(char **arguments) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return 1;
  bool deny = true;
  for (; *arguments; arguments++) {
    if (!strcmp(*arguments, "deny") || !strcmp(*arguments, "ask")) {
      deny = !strcmp(*arguments, "deny");
      continue;
    }
    int error = deny ? rule_for(fd, *arguments, 0) : rule_for(fd, *arguments, IPPROTO_UDP);
    if (!error && !deny) error = rule_for(fd, *arguments, IPPROTO_TCP);
    if (error) {
      dprintf(2, "%s: %s\n", *arguments, strerror(error));
      return 1;
    }
  }
  puts("fenced");
  return 0;
}
