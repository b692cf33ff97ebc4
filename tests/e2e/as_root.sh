#!/bin/sh
# Runs a command where it may make network namespaces: as it is for root; for anyone else in a user
# namespace of its own, with a private /run for ip(8) and the loopback up.
set -eu
[ "$(id -u)" -eq 0 ] && exec "$@"
exec unshare --user --map-root-user --net --mount \
  sh -c 'mount -t tmpfs none /run && ip link set lo up && exec "$@"' sh "$@"
