#!/bin/sh
# Prints the features of cargo that this machine can build beside the usual: the agent's programs for the kernel, where
# there are clang and libelf (`make agent` installs both). Without them tests of these say SKIPPED.
if command -v clang >/dev/null 2>&1 && [ -e /usr/include/libelf.h ] && [ -e /usr/include/zlib.h ]; then
    echo "--features ackord-cli/agent,ackord-agent/bpf"
fi
