# The usual jobs; CMake does the building.
#
#   make            build the command (build/seen), both libraries and the benchmarks
#   make deps       install what building needs (Debian, Ubuntu); plain make only prints the command
#   make demo       the main jobs on a sample, with something to look at; installs what it needs
#   make test       every test: release, sanitizers, analysis (15 minutes on two cores); installs what it needs
#   make check      the quick part: release build and its tests
#   make install    PREFIX=/usr/local by default, DESTDIR is honoured; make uninstall removes it again
#
#   make release    binary archives that run from any folder, with checksums, in dist/
#   make deb        Debian packages in dist/            make dist    a source archive
#   make bench      the benchmarks that fit in a few minutes; bench-NAME for one of them
#   make figures    run the benchmarks and update the tables and charts of README and docs
#   make fuzz       every fuzz target for FUZZ_SECONDS (60) each; FUZZ_RUNS=10000000: in turns, until
#                   each has had so many executions, most of them without AddressSanitizer
#   make coverage   line coverage of src/
#   make billion    a billion keys, past 2^32 bits      make scale   two files of 200 million lines
#   make stress     1,000 kills and power cuts a path   make soak    SOAK_MINUTES (60) of random faults
#   make redis-loss 100 losses of each kind, 60 kills   make redis-check REDIS_SERVER=... the Redis tests, other server
#   make fleet-test 1,000 kills of workers that share a crawl, failovers, resharding
#   make machines   other processors, aarch64 among them, in an emulator
#   make clean      remove what was built

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= 0
SOAK_MINUTES ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Run in the release build only: they wait for servers, browsers or thousands of processes.
LONG = redis_(cluster|winners|channel|uniq)|crawl_(fleet|fleet_rules|net|sites|kill|hosts|tls)|plan_html|options|common_(memory|scale)|common$$|uniq_filter|trust\.(fleet_model|stats|kill|fault|power)
# Left out with another compiler: what they find is in the protocol, the server or the reference, not in code that a
# compiler may translate differently.
PROTOCOL = redis_(cache_bits|cache_keys|connection|edges|layers|lost|moves|rotation|sync|trips|verify)|uniq_server|url_oracle
# Left out with a sanitizer: they read the source, or compare results whose parsers unit tests and fuzz replay there.
SOURCE = ^(cmd\.includes|oracle\.)
# Programs of tests/unit and commands that start threads; a single thread has no races.
THREADED_UNIT = threads pipeline uniq uniq_tables table output input reader fetch folder local fetch_thread redis_sync tag_set
THREADED_CMD = uniq_threads add common_inputs crawl crawl_moves
space := $() $()
either = $(subst $(space),|,$(strip $(1)))
# Many tests wait for a disk, a server or a clock: more of them than processors run at once. A make that a test
# starts is not part of this one.
CTEST = env -u MAKEFLAGS ctest --no-tests=error --output-on-failure --timeout 1200 -j $(shell echo $$(($(JOBS) * 2)))

.PHONY: all build deps demo test check install uninstall bench figures fuzz coverage billion scale stress fleet-test redis-loss redis-check soak dist \
        release deb machines clean deps-build deps-test deps-demo test-all build-clang build-asan build-tsan test-asan test-tsan \
        test-clang test-static test-valgrind

all: build
	@echo "built: build/seen. Next: make demo, or sudo make install (PREFIX=$(PREFIX))"

deps: deps-build

deps-build deps-test deps-demo deps-bench deps-dist deps-release deps-deb deps-machines: deps-%:
	@tools/deps $*

# Installs nothing: if something is missing, it prints the command that installs it. Goals that install what they
# need do so before they build, also under make -j.
asked = $(filter $(1),$(MAKECMDGOALS))
build: | $(if $(call asked,demo),deps-demo) $(if $(call asked,bench bench-% figures scale),deps-bench) \
         $(if $(call asked,check billion stress soak redis-loss redis-check test-valgrind),deps-test) $(if $(call asked,machines),deps-machines)
	@command -v cmake ninja pkg-config > build-release.log 2>&1 && \
	    cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) > build-release.log 2>&1 || \
	    { cat build-release.log >&2; rm -f build-release.log; tools/deps --print build; exit 2; }
	@rm -f build-release.log
	@cmake --build build -j $(JOBS) $(TARGETS)

check: deps-test build
	@echo "== $@"
	@cd build && $(CTEST)

# Tests that wait leave processors idle, so two jobs run at once: the tests of one build after another, and beside
# them the next builds and the analysis. With JOBS=1 they run one after the other.
test: deps-test
	@rm -rf build/aside
	@$(MAKE) BESIDE=yes -j $(if $(filter 1,$(JOBS)),1,2) test-all || { tools/aside --failed; exit 1; }
	@echo "make test: all passed"

test-all: check test-clang test-asan test-tsan test-static test-valgrind

ifdef BESIDE
ASIDE = tools/aside $@
test-clang: | check
test-asan: | test-clang
test-tsan: | test-asan
build-clang: | build
build-asan: | build-clang
build-tsan: | build-asan
test-static: | build-tsan
test-valgrind: | test-static
endif

# Another compiler: its warnings are errors too.
build-clang: deps-test
	@cmake --preset clang -DSEEN_BUILD_BENCH=OFF > /dev/null
	@$(ASIDE) cmake --build build-clang -j $(JOBS)

test-clang: build-clang
	@echo "== $@"
	@cd build-clang && $(CTEST) -R '^(unit|fuzz)\.' -E '$(LONG)|$(PROTOCOL)'

build-asan: deps-test
	@cmake --preset asan > /dev/null
	@$(ASIDE) cmake --build build-asan -j $(JOBS)

test-asan: build-asan
	@echo "== $@"
	@cd build-asan && $(CTEST) -LE slow -E '$(LONG)|$(SOURCE)'

# Only what is run: this build has no warnings of its own.
build-tsan: deps-test
	@cmake --preset tsan > /dev/null
	@$(ASIDE) cmake --build build-tsan -j $(JOBS) --target seen_command $(THREADED_UNIT:%=test_%)

test-tsan: build-tsan
	@echo "== $@"
	@cd build-tsan && $(CTEST) -R '^(unit\.test_($(call either,$(THREADED_UNIT)))|cmd\.($(call either,$(THREADED_CMD))))$$'

test-static: deps-test
	@JOBS=$(JOBS) $(ASIDE) tools/lint

test-valgrind: deps-test build
	@$(ASIDE) tools/valgrind-run build

# Only what it shows: the tests need not be built for it.
demo: TARGETS = --target seen_command bench_gen
demo: deps-demo build
	@tools/demo build

install: build
	@cmake --install build
# The loader's cache must have the library before programs that link with it can run.
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then PATH="$$PATH:/usr/sbin:/sbin" ldconfig; fi

# The list has the names without DESTDIR.
uninstall:
	@[ -f build/install_manifest.txt ] || { echo "make uninstall: nothing was installed from here" >&2; exit 1; }
	@while IFS= read -r name || [ -n "$$name" ]; do rm -fv "$(DESTDIR)$$name"; done < build/install_manifest.txt

# Bindings for other languages, built and tested; those without tools are left out. make python, make go, ...
bindings: deps-test build
	@cd build && $(CTEST) -R '^bindings\.'

# 10^7 calls of each kind with flat memory: several minutes.
bindings-long: deps-test build
	@bindings/python/check build long

python: deps-test build
	@cd build && $(CTEST) -R '^bindings\.(python|scrapy)$$'

go node php: deps-test build
	@cd build && $(CTEST) -R '^bindings\.$@$$'

bench: deps-bench build
	@tools/bench build

bench-%: deps-bench build
	@tools/bench build $*

figures: deps-bench build
	@RECORD=1 tools/bench build core stream sets records redis crawl methods; status=$$?; tools/figures && exit $$status

fuzz: deps-test
	@cmake --preset fuzz > /dev/null
	@cmake --build build-fuzz -j $(JOBS) --target fuzz-targets
ifneq ($(FUZZ_RUNS),0)
	@cmake --preset fuzz-fast > /dev/null
	@cmake --build build-fuzz-fast -j $(JOBS) --target fuzz-targets
	@FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_FAST=build-fuzz-fast tools/fuzz build-fuzz $(FUZZ_SECONDS)
else
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)
endif

coverage: deps-test
	@tools/coverage

billion: deps-test build
	@cmake --build build --target stats-long

scale: deps-bench build
	@tools/bench build scale

fleet-test: deps-test build
	@tests/sites/fleet_long.sh build/seen $(FLEET_SEEDS)

# The long versions of the crash tests: 1,000 kills and 1,000 power cuts a path, long models.
stress: deps-test build
	@cmake --build build --target faults-long model-long

# What a server loses, and that it is noticed: 100 times for each kind of filter; what a killed server loses.
redis-loss: deps-test build
	@SEEN_LOSS_RUNS=100 build/tests/test_redis_verify
	@tests/redis/persistence.py build/seen

# The tests that need a server, with another one than that of the system: Redis 8, Valkey.
redis-check: deps-test build
	@[ -x "$(REDIS_SERVER)" ] || { echo "usage: make redis-check REDIS_SERVER=/path/to/redis-server" >&2; exit 2; }
	@rm -rf build/redis-path && mkdir build/redis-path && ln -s "$(abspath $(REDIS_SERVER))" build/redis-path/redis-server
	@build/redis-path/redis-server --version
	@cd build && PATH=$$PWD/redis-path:$$PATH $(CTEST) -R 'redis|uniq_server|window_rules|fleet|remember|examples'

# An hour of random faults by default: see docs/trust.md.
soak: deps-test build
	@SOAK_MINUTES=$(SOAK_MINUTES) tools/soak build

dist: deps-dist
	@tools/dist

release: deps-release
	@tools/release

deb: deps-deb
	@tools/dist deb

machines: deps-machines build
	@tools/machines build build-arm64

clean:
	@rm -rf build build-* dist
