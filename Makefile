# The commands of this project. CI runs `check`, `test` and `test-long`; see .ci/run.

TARGET := $(or $(CARGO_TARGET_DIR),target)
RELEASE := $(TARGET)/release/ackord
DIST := $(TARGET)/dist/ackord
DEMO_OUT := out/demo
SECONDS_EACH ?= 60
# How `make kernel`, `make agent` and `make python` build the program.
PROFILE ?= release
BUILT := $(TARGET)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/ackord
# How `make package` builds what is shipped.
SHIP ?= dist
VERSION ?= 6.12
HZ ?= 250
# Where rustup puts cargo, in case the shell does not know yet.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

.DEFAULT_GOAL := help
.PHONY: help demo ui agent python docs test test-long quick check cost papers interop accuracy fuzz audit kernel package bench bench-peers ns2-band ns3-band other-kernels generated fmt

help: ## list these commands
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 22

demo: ## install what is missing, build, reproduce a paper, write a report
	@scripts/install.sh build
	@scripts/ui.sh tolerant
	cargo build --release --package ackord-cli --no-default-features
	$(RELEASE) paper selective-drop --quick --out $(DEMO_OUT)
	@echo
	@find $(DEMO_OUT) -name '*.html' | sort | sed 's/^/open in a browser: /'

ui: ## what draws the interactive graphs of HTML reports; the next build takes it in (installs Node)
	@scripts/install.sh ui
	@scripts/ui.sh

agent: ## the same program with `ackord agent` and its programs for the kernel (installs clang; minutes)
	@scripts/install.sh build
	@scripts/ui.sh tolerant
	@scripts/install.sh agent
	cargo build --profile $(PROFILE) --workspace --features ackord-cli/agent,ackord-agent/bpf --bin ackord

python: ## the Python package in a virtual environment, out/python, with its tests (needs Python 3.11)
	@scripts/install.sh python
	@scripts/python.sh

docs: ## the documentation as a site, out/site, with the Python reference (needs Python 3.11)
	@scripts/install.sh docs
	@scripts/docs.sh

test: ## install what is missing, pass every test but the long ones
	@scripts/install.sh build
	@scripts/install.sh test
	@scripts/install.sh ui || echo "install: tests of interactive reports will say SKIPPED" >&2
	@scripts/ui.sh tolerant
	@scripts/test.sh all

test-long: ## reproductions of papers, pages of the guide, packetdrill's suites, fuzzing
	@scripts/install.sh build
	@scripts/install.sh fuzz || echo "install: fuzzing will say SKIPPED" >&2
	@scripts/test.sh long

quick: ## the tests of one crate (CRATE=tcp), or all that only compute: under a minute
	@scripts/test.sh quick "$(CRATE)"

check: ## what a change must pass besides the tests: format, lints, layers, sizes, documents, licences
	@scripts/install.sh build
	@scripts/install.sh check
	@scripts/format.sh --check
	cargo clippy --workspace --all-targets $$(scripts/features.sh) -- -D warnings
	@# What `make demo` builds.
	cargo clippy --package ackord-cli --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
	@scripts/xtask.sh layers sizes modules names docs ledger profiles generated
	cargo deny --log-level error check licenses bans sources

cost: ## instructions of a dozen workloads against those recorded (RECORD=1 records, SHOW=fq-codel lists functions)
	@scripts/install.sh build
	@scripts/install.sh cost || echo "install: the cost will say SKIPPED" >&2
	@scripts/xtask.sh cost $(if $(RECORD),--record) $(if $(SHOW),--show $(SHOW))

fuzz: ## look for inputs that break something (SECONDS_EACH=60; TARGETS="pair packet")
	@scripts/install.sh build
	@scripts/install.sh fuzz
	@scripts/fuzz.sh $(SECONDS_EACH) $(TARGETS)

papers: ## reproduce every paper in full (half an hour); writes papers/*/claims.json
	@scripts/install.sh build
	cargo build --release --package ackord-cli
	$(RELEASE) paper all --out out/papers
	@for paper in papers/*/; do cp "out/papers/$$(basename "$$paper")/claims.json" "$$paper"; done

interop: ## try our TCP against this machine's kernel, all cases (a quarter of an hour); writes docs/interop.md
	@scripts/install.sh build
	@scripts/install.sh test
	cargo build --release --package ackord-cli
	$(RELEASE) live interop --page docs/interop.md --json out/interop.json

accuracy: ## how exactly this machine emulates (two minutes; leave it alone meanwhile); writes docs/accuracy.md
	@scripts/install.sh build
	cargo build --release --package ackord-cli
	$(RELEASE) live accuracy --page docs/accuracy.md --json out/accuracy.json

audit: ## known vulnerabilities in dependencies (fetches a database from the network)
	@scripts/install.sh check
	cargo deny check advisories

kernel: ## build a stock Linux kernel for simulated time (VERSION=6.12 HZ=250; minutes, once)
	@VERSION=$(VERSION) scripts/install.sh kernel
	@scripts/install.sh build
	cargo build --quiet --profile $(PROFILE) --workspace $$(scripts/features.sh) --bin ackord
	$(BUILT) kernel build $(VERSION) --hz $(HZ)

package: ## a static program and a .deb of it, into out/package (installs clang; minutes; SHIP=release is quicker)
	@scripts/install.sh build
	@scripts/ui.sh tolerant
	@scripts/install.sh package
	@scripts/package.sh $(SHIP)

other-kernels: ## both daemons of `make package` on kernels 5.10 to 6.12 in qemu (KERNELS="6.1 6.12"); writes docs/kernels-tested.md
	@scripts/install.sh other-kernels || echo "install: other-kernels will say SKIPPED" >&2
	@scripts/other-kernels.sh --page docs/kernels-tested.md $(KERNELS)

bench: ## what a packet costs in the simulator
	@scripts/install.sh build
	cargo build --profile dist --package ackord-cli
	@for topology in leaf host; do for flows in 1 10 100; do \
		printf '%-5s %4s flows  ' $$topology $$flows; \
		$(DIST) bench dumbbell --flows $$flows --topology $$topology --duration "20 s" --json - \
			|| exit 1; \
	done; done

bench-peers: ## the same dumbbell in ns-2, ns-3 and Ackord, and the ratios
	@scripts/install.sh build
	@scripts/install.sh bench-peers
	python3 benches/peers/run.py

ns3-band: ## repeat what ns-3 says about the adaptive delayed ACK's set-up
	@scripts/install.sh bench-peers
	python3 papers/adaptive-delack/ns3/band.py

ns2-band: ## repeat what ns-2 says about the papers' paths (dad-sd takes twenty minutes)
	@scripts/install.sh bench-peers
	python3 papers/selective-drop/ns2/band.py
	python3 papers/dad-sd/ns2/band.py --jobs 2

generated: ## refresh the schemas, and the program's output where documents quote it
	BLESS=1 cargo test --quiet --package ackord-scenario --test tests schema
	BLESS=1 cargo test --quiet --package ackord-live --lib settings::page
	@scripts/xtask.sh generated --write
	cargo build --quiet --release --package ackord-cli
	$(RELEASE) gateway schema >schema/gateway.schema.json

fmt: ## format the code
	@scripts/format.sh
