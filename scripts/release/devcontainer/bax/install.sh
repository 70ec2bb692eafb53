#!/bin/sh
# Installs bax in a development container, as root. Options are in the variables PACKAGE and BROWSER.
set -eu
if ! command -v npm >/dev/null; then
  echo 'error: bax needs Node 20.12 or newer; add the feature ghcr.io/devcontainers/features/node' >&2
  exit 1
fi
npm install --global "${PACKAGE:-bax}"
case ${BROWSER:-headless-shell} in
  none) ;;
  chromium) bax setup --full ;;
  *) bax setup --no-full ;;
esac
bax --version
