# One Makefile for people and for CI; needs Go and GNU make. `make help` lists the targets.

.DEFAULT_GOAL := help
.PHONY: help ports run demo page test fresh packages symbolic asyncprofiler browser sdks ci build deb rpm image release manifests attacks symbols simulate load fullrate relay relay-ingest bench-relay faults lint format golden bench fuzz mutants corpus soak clean

BIN      := dist/otelcol-sentry
GATE     := --feature-gates=service.profilesSupport
TOOL     := go tool -modfile=tools/go.mod
RELEASE  := cd packaging && go run ./release
OCB      := sh .ci/quiet $(TOOL) builder --config builder-config.yaml
CODE     := cmd internal profiles $(wildcard *receiver *processor *exporter *extension)
SOURCES  := $(shell find $(filter-out cmd,$(CODE)) -name '*.go' ! -name '*_test.go' ! -path 'internal/testkit/*')
PAGE     := profileviewerexporter/assets/stamp
ALONE    := TestHostileFull
KEY      := 0123456789abcdef0123456789abcdef
QUICK    := examples/quickstart/config.yaml
# The port that the quickstart gives a component, or a part of one.
LISTENS  := .*(endpoint: [^ ]*:|port: )([0-9]+).*
port      = $(shell sed -nE '/^ *$(1):/,/$(LISTENS)/s/$(LISTENS)/\2/p' $(QUICK))
PORTS    ?= $(shell sed -nE 's/$(LISTENS)/\2/p' $(QUICK))
LOCAL     = http://$(KEY)@localhost:$(call port,sentry)/1
DEMO     := $(wildcard testdata/cases/sdk-*/in.envelope testdata/runs/*.tar.gz) \
            $(foreach case,android-v1-art android-v2-perfetto-trace react-native-v2-art,testdata/cases/$(case)/in.envelope)
HOSTILE  := $(sort $(wildcard internal/testkit/e2e/hostile/*_test.go))
ATTACKS  := $(filter TestHostile%,$(shell grep -ohE '^func TestHostile[A-Za-z0-9]*' $(HOSTILE)))
FUZZTIME ?= 30s

# Stamping a build with its commit fails in a checkout that belongs to another user, as in a container. With -trimpath, as
# ocb builds, compiled packages are shared by the distribution, the tests, and checkouts in other folders.
export GOFLAGS := $(shell go env GOFLAGS) -buildvcs=false -trimpath

# Tests have two sizes, see internal/testkit/testsize. `go test` runs the small one, make the full one.
export TESTS := full

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The ports of examples/quickstart, before a build that takes minutes.
ports: private SHELL := bash
ports:
	@for port in $(PORTS); do ! (exec 3<>/dev/tcp/localhost/$$port) 2>/dev/null || busy="$$busy $$port"; done; [ -z "$$busy" ] || \
	  { echo "In use:$$busy. Stop the program that listens there, or change the port in $(QUICK)."; exit 1; }

run: ports build ## Build the collector and start it on examples/quickstart
	@echo
	@echo "  DSN for your SDK:  $(LOCAL)"
	@echo "  Viewer:            http://localhost:$(call port,profile_viewer)/   flame graphs and traces"
	@echo "  Without an SDK:    make demo   (in a second terminal)"
	@echo "  Other ports:       $(call port,grpc) and $(call port,http) OTLP, $(call port,spotlight) Spotlight, $(call port,metrics) metrics, $(call port,health_check) health"
	@echo
	@exec $(BIN) --config $(QUICK) $(GATE)

demo: dist/envelope ## Send recorded SDK requests to the running collector, or to DSN, ROUNDS (1) times
	@dist/envelope send --dsn $(or $(DSN),$(LOCAL)) --rounds $(or $(ROUNDS),1) $(DEMO)
	@echo "Open http://localhost:$(call port,profile_viewer)/"

page: ## Build the page of the profile_viewer exporter from its sources; needs node
	@cd profileviewerexporter/web && sh ../../.ci/quiet npm ci --ignore-scripts --no-audit --no-fund && npm run --silent build

# ALONE names tests that need the machine: the collector of TestHostileFull is at its limit of 1 GiB, and how much memory
# it uses beyond its data depends on the processors that its garbage collector gets. One command runs all tests, so that
# the skipped ones are one list at the end.
test: build ## Run the tests in full size, and list those that were skipped for want of a tool (see make packages)
	@$(TOOL) gotestsum --format pkgname --format-hide-empty-pkg $(if $(TEST_LOG),--jsonfile $(TEST_LOG)) --raw-command -- sh -c '\
	  go test -json -timeout 30m $(if $(CI),-count=1) -skip "^($(ALONE))$$" ./internal/testkit/e2e/... ./...; status=$$?; \
	  go test -json -timeout 30m $(if $(CI),-count=1) -run "^($(ALONE))$$" ./internal/testkit/e2e/hostile && exit $$status'

fresh: ## Run make test and the CI script as on a new machine: in a temporary home without caches, with and without optional tools; an hour
	@bash .ci/fresh

packages: ## Install npm packages for tests: sentry-cli, the browser SDK, a Chromium driver, the Firefox Profiler, speedscope, a schema of Grafana
	@for package in sentrycli browser importers; do \
	  (cd internal/testkit/e2e/$$package && sh ../../../../.ci/quiet npm ci --ignore-scripts --no-audit --no-fund) || exit 1; done

browser: build packages ## Run the tests of the viewer and of the browser SDK in Chromium; needs node and chromium
	go test ./internal/testkit/e2e/browser -count=1 -v

asyncprofiler: build ## Run async-profiler with the collector; needs Linux, Java and Maven
	@cd internal/testkit/e2e/asyncprofiler && sh ../../../../.ci/quiet mvn -q -B dependency:copy-dependencies
	go test ./internal/testkit/e2e/asyncprofiler -count=1 -v

kafka: build ## Run examples/kafka against a real broker; needs Java and Maven
	@cd internal/testkit/e2e/kafka && sh ../../../../.ci/quiet mvn -q -B dependency:copy-dependencies
	go test ./internal/testkit/e2e/kafka -tags kafka -count=1 -timeout 40m -v

sdks: build ## Run real SDKs, fetched from their registries; SDKS="python node" selects some
	@for install in $(or $(SDKS:%=internal/testkit/e2e/sdks/%/install),$(wildcard internal/testkit/e2e/sdks/*/install)) \
	    internal/testkit/e2e/tee/python/install; do \
	  echo "$$install"; sh .ci/quiet sh $$install || exit 1; done
	SDKS="$(SDKS)" go test ./internal/testkit/e2e/sdks -tags sdks -count=1 -timeout 20m -v

ci: ## Run the CI script: format, vet, lint, race detector, distribution, examples
	@.ci/run

build: $(BIN) dist/envelope ## Build the collector as dist/otelcol-sentry, and the tool dist/envelope

dist/envelope: go.mod go.sum $(SOURCES) $(wildcard cmd/envelope/*.go)
	@go build -o $@ ./cmd/envelope

$(BIN): builder-config.yaml go.mod go.sum tools/go.mod $(SOURCES) $(PAGE)
	@echo "Building $(BIN) with ocb. The first time this fetches and compiles some 600 modules: allow five minutes."
	@echo "  1/2 fetching modules"
	@$(OCB) --skip-compilation
	@echo "  2/2 compiling"
	@$(OCB) --skip-generate --skip-get-modules
	@touch $(BIN)

deb: build ## Build a Debian package with a systemd unit
	@$(RELEASE) -out ../dist -binary ../$(BIN) deb

rpm: build ## Build an RPM package with a systemd unit
	@$(RELEASE) -out ../dist -binary ../$(BIN) rpm

image: build ## Build a container image in dist/image, an OCI image layout
	@$(RELEASE) -out ../dist -binary ../$(BIN) image

# The second build of each program is from a copy of the sources, with an empty cache: allow an hour on two cores.
release: build ## Build a release in dist/release: archives, packages, image, notices, SBOM, checksums. TARGETS=linux/amd64,... selects platforms
	@SOURCE_DATE_EPOCH=$(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct)) && export SOURCE_DATE_EPOCH && \
	  $(RELEASE) -out ../dist/release -twice $(if $(TARGETS),-targets $(TARGETS)) all

manifests: ## Check the Helm chart, the Compose files and the workflows, each with its own tool
	@cd packaging && go vet ./... && TESTS= go test -timeout 60m ./...

attacks: $(ATTACKS:%=dist/attacks/%.log) dist/attacks/damaged.log ## Attack the collector; write docs/attacks.md and dist/attacks/list.md; an interrupted run continues
	@awk -v list=dist/attacks/list.md -f internal/testkit/e2e/hostile/attacks.awk docs/attacks.md $(ATTACKS:%=dist/attacks/%.log) > dist/attacks/page.md
	@cp dist/attacks/page.md docs/attacks.md

# Native symbol files, uploads and archives with every number at its extremes, and damaged at random, in 1 GiB and an hour of CPU.
DAMAGED := symbolicateprocessor/internal/symbols/native symbolicateprocessor/internal/uploads internal/format/debugid
dist/attacks/damaged.log: $(wildcard $(DAMAGED:%=%/*.go))
	@mkdir -p $(@D)
	@nice go test -p 1 -exec 'prlimit --data=1073741824 --cpu=3600' $(DAMAGED:%=./%) -run 'Test.*Extremes|TestDamaged' \
	  -count=1 -timeout 90m -v -args -damaged $(or $(FILES),100000) > $@.part || { grep -E '^ *--- FAIL' $@.part; exit 1; }
	@mv $@.part $@

# The log of a test exists if this collector has withstood its attacks.
dist/attacks/%.log: $(BIN) $(HOSTILE)
	@mkdir -p $(@D)
	@ATTACKS=full go test ./internal/testkit/e2e/hostile -run '^$*$$' -count=1 -parallel 1 -timeout 90m -v > $@.part || \
	  { grep -E '^ *--- FAIL' $@.part; echo "Some attacks succeeded: see $@.part"; exit 1; }
	@mv $@.part $@

load: build ## Send profiles at a rising rate up to overload, and write docs/load.md and the calculator of docs/scaling.md; six minutes
	go test ./internal/testkit/e2e/load -tags load -run TestLoad -count=1 -timeout 20m -v
	go test ./internal/testkit/simulate -run TestCalculatorPage -count=1 -args -update

fullrate: build ## Send spans and chunks to one core at its full rate for TIME (5m): no span may be evicted
	go test ./internal/testkit/e2e/load -tags load -run TestFullRate -count=1 -timeout 1h -v -args -time $(or $(TIME),5m)

simulate: build ## Simulate a tier of linking collectors in virtual time, with SPANS (1000000000) spans; compare the simulation with running collectors
	go test ./internal/testkit/simulate -run 'TestSimulate|TestBuilt' -count=1 -timeout 2h -v -args -idle -spans $(or $(SPANS),1000000000)

# The library is Sentry's own; 10^5 values of 88 rules take half an hour on two idle cores.
relay: ## Compare scrubbing with Sentry's library on VALUES (100000) generated values per rule, and process events with it; needs python3
	@[ -x dist/relay/bin/python ] || { python3 -m venv dist/relay && sh .ci/quiet dist/relay/bin/pip install sentry-relay==0.10.1; }
	RELAY_PYTHON=$(CURDIR)/dist/relay/bin/python nice go test ./internal/format/sentry/jsonscan ./internal/translate/toissues ./internal/translate/toitems ./internal/translate/fromsentry ./internal/format/sentry/event -run 'TestNormalizer|Oracle' -count=1 -v
	RELAY_PYTHON=$(CURDIR)/dist/relay/bin/python nice go test ./internal/testkit/roundtrip -run TestIngest -count=1 -v
	TESTS=full RELAY_PYTHON=$(CURDIR)/dist/relay/bin/python nice go test ./internal/testkit/relaytest -run 'TestOnlyOneRemoves|Stay' -count=1 -v -timeout 2h
	RELAY_PYTHON=$(CURDIR)/dist/relay/bin/python nice go test ./internal/scrub -run TestOracle -count=1 -v -parallel 2 -timeout 4h \
	  -args -values $(or $(VALUES),100000) -seed $(or $(SEED),1)

relay-ingest: build ## Judge sentry_envelope by what Sentry's ingest stores: RELAY is a relay with the feature processing; needs redis-server
	RELAY=$(abspath $(RELAY)) go test ./internal/testkit/e2e/ingest -tags ingest -count=1 -timeout 40m -v

bench-relay: build ## Compare the cost of requests with RELAY, one after the other in three turns, at RATE (100) requests per second; four minutes on an idle machine, and needs redis-server
	RELAY=$(abspath $(RELAY)) go test ./internal/testkit/e2e/ingest -tags ingest -run TestCost -count=1 -timeout 1h -v -args -cost -rate $(or $(RATE),100)

symbolic: ## Compare source maps and ProGuard mappings (MAPPINGS, a list with colons) with Sentry's library, at PLACES (20000) random places of each file; needs python3 and npm
	@[ -x dist/symbolic/bin/python ] || { python3 -m venv dist/symbolic && sh .ci/quiet dist/symbolic/bin/pip install symbolic==13.9.0; }
	@[ -f dist/bundles/typescript.min.js.map ] || sh .ci/quiet sh symbolicateprocessor/internal/symbols/sourcemap/testdata/oracle/build dist/bundles
	SYMBOLIC_PYTHON=$(CURDIR)/dist/symbolic/bin/python SYMBOLIC_BUNDLES=$(CURDIR)/dist/bundles nice go test ./symbolicateprocessor/internal/symbols/sourcemap \
	  -run 'TestOracle|TestRealBundles' -count=1 -v -args -places $(or $(PLACES),20000) -seed $(or $(SEED),1)
	SYMBOLIC_PYTHON=$(CURDIR)/dist/symbolic/bin/python SYMBOLIC_BUNDLES=$(CURDIR)/dist/bundles nice go test ./symbolicateprocessor/internal/symbols -run TestPeer -count=1 -v
	SYMBOLIC_PYTHON=$(CURDIR)/dist/symbolic/bin/python MAPPINGS=$(MAPPINGS) nice go test ./symbolicateprocessor/internal/symbols/proguard \
	  -run TestOracleSymbolic -count=1 -v -args -places $(or $(PLACES),20000) -seed $(or $(SEED),1)

symbols: build ## Let the collector open and use 1 GiB of symbol files, and check its memory; ten minutes and 2 GB of disk
	nice go test ./internal/testkit/e2e/symbols -tags symbols -count=1 -timeout 60m -v

faults: build ## Kill the collector, fill its disk, damage its files, and write docs/faults.md; FAULTS=5 sets the rounds
	go test ./internal/testkit/e2e/faults -tags faults -count=1 -parallel 4 -timeout 10h -v

format: ## Format the code
	@gofmt -w $(CODE) packaging

lint: ## Check format, vet, and golangci-lint if it is installed, else staticcheck
	@unformatted=$$(gofmt -l $(CODE) packaging); \
	  if [ -n "$$unformatted" ]; then echo "Not formatted (make format):"; echo "$$unformatted"; exit 1; fi
	@go vet ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else $(TOOL) staticcheck ./...; fi

golden: ## Refresh the goldens and docs/viewer-api.md; review the diff line by line
	go test ./sentryreceiver -run TestCases -update
	go test ./internal/translate/fromsentry -run InWords -update
	go test ./measurereceiver/internal/frommeasure -run TestMeasureCases -update
	go test ./measurereceiver -run TestMethodTrace -update
	go test ./profileviewerexporter -run TestAPIPage -update
	go test ./internal/testkit/messages -update
	go test ./cmd/envelope -run TestMisuse -update

# Without pipefail, a failed benchmark would be hidden by tee.
bench: private SHELL := bash
bench: private .SHELLFLAGS := -o pipefail -c
bench: build ## Compare with other decoders and the baseline, and write docs/performance.md; half an hour. BASELINE=new replaces the baseline
	@! command -v cargo >/dev/null || for rival in internal/testkit/bench/rival/*/Cargo.toml; do \
	  cargo build --release --locked --quiet --manifest-path $$rival || exit 1; done
	@cd internal/testkit/bench && for run in 1 2 3 4 5 6; do \
	  go test -run '^$$' -bench . -skip 'Parts|Export' -benchtime 1x -timeout 1h && \
	  go test -run '^$$' -bench Export -benchtime 6x -timeout 1h || exit 1; done | tee ../../../dist/bench.txt
	@$(TOOL) benchstat -table pkg -ignore date,load,/gomaxprocs internal/testkit/bench/baseline.txt dist/bench.txt
	@$(if $(BASELINE),cp dist/bench.txt internal/testkit/bench/baseline.txt)
	@cd internal/testkit/bench && go run ./page ../../../docs/performance.md baseline.txt ../../../dist/bench.txt

mutants: ## Change SITES (200) random places one at a time, and list the changes that no test detects
	go run ./internal/testkit/mutate -n $(or $(SITES),200) -seed $(or $(SEED),1) $(addprefix ./,$(addsuffix /...,$(CODE)))

fuzz: ## Run every fuzzer for FUZZTIME (30s)
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; \
	    sh .ci/quiet go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package || exit 1; \
	  done; \
	done

# Go keeps only inputs that reached new code. 100 for each fuzzer, the smallest first: `go test` runs all of them.
corpus: ## Keep inputs that fuzzing found in testdata/fuzz of their packages
	@go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package folder; do \
	  for found in $$(go env GOCACHE)/fuzz/$$package/Fuzz*; do \
	    grep -qs "^func $${found##*/}(" $$folder/*_test.go || continue; \
	    kept=$$folder/testdata/fuzz/$${found##*/}; mkdir -p $$kept; n=$$(ls $$kept | wc -l); \
	    ls -Sr $$found | head -n $$((n < 100 ? 100 - n : 0)) | (cd $$found && xargs -r cp -nt $$kept); \
	  done; \
	done

soak: ## Run spans and profiles through the processor for SOAK (10m); the heap must stay flat
	SOAK=$(or $(SOAK),10m) go test ./profiletransformprocessor -run TestSoak -v -timeout 24h

clean: ## Remove built files
	@rm -rf dist output examples/custom-build/otelcol-custom
