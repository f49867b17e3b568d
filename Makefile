# The front door. CMakePresets.json says how each configuration is built; this file only strings the steps together.
.DEFAULT_GOAL := help
.PHONY: help build demo gallery pictures test mutants qualify kills bench deps lint fuzz format install clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
QUALIFY_SEED ?= 1
KILLS ?= 1000
MUTANTS_FILES ?=
MUTANTS_OPTIONS ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
C_FILES = $(shell find include src cli tests bench -name '*.[ch]' -not -path '*/.*' | sort)
SHELL_FILES = $(shell find tools tests bench -name '*.sh' | sort) .ci/run

# Quiet on success: what cmake says is shown only when it fails.
CONFIGURE = sh -c 'out=$$(cmake "$$@" 2>&1) || { printf "%s\n" "$$out" >&2; exit 1; }' configure

help: ## what you are reading
	@echo 'perp - simulate, analyse and plan with a family of rigid-body contact models'
	@echo
	@echo 'First time here? Type  make demo  (or  make test): it installs what is missing, builds, and runs.'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

build: ## the command build/bin/perp, the library build/lib/libperp.{a,so}, the C examples; optimised
	@tools/deps.sh build
	@first=; test -f build/CMakeCache.txt || first=-DPERP_TESTS=OFF; $(CONFIGURE) --preset release $$first
	@cmake --build --preset release --target perp_cli perp_static perp_shared examples/all -- -j$(JOBS)
	@echo 'build/bin/perp is ready: try  build/bin/perp --help'

demo: build ## build, then run the examples and say what they show; ends with a page to open
	@tools/deps.sh gallery
	@tools/demo.sh
	@python3 tools/gallery.py --jobs $(JOBS)

gallery: build ## run every example: out/gallery/index.html has pictures, numbers, replays and plots
	@tools/deps.sh gallery
	@python3 tools/gallery.py --jobs $(JOBS)

pictures: build ## make the pictures of README.md and docs anew, from the examples
	@tools/deps.sh gallery
	@tools/pictures.sh build/bin/perp

test: ## everything that must hold: unit tests, peers, sanitizers, 60 s of fuzzing, install, repeatability
	@tools/deps.sh build test
	@$(CONFIGURE) --preset release -DPERP_TESTS=ON -DPERP_PEERS=ON -DPERP_BENCH=ON -DPERP_TESTS_OF_BUILDS=ON
	@cmake --build --preset release -- -j$(JOBS)
	@ctest --preset release -j$(JOBS) --no-label-summary

mutants: ## plant mistakes in changed files (or MUTANTS_FILES=src/contact) and list those that no test notices
	@tools/deps.sh build test
	@python3 tools/mutants.py --jobs $(JOBS) $(MUTANTS_OPTIONS) --files $(MUTANTS_FILES)

qualify: ## the large sweeps in full, resumable (QUALIFY_SEED=1); writes docs/qualification.md
	@tools/deps.sh build test
	@$(CONFIGURE) --preset release -DPERP_TESTS=ON
	@cmake --build --preset release -- -j$(JOBS)
	@python3 tools/qualify.py --seed $(QUALIFY_SEED) --jobs $(JOBS)

kills: build ## kill logged runs (SIGKILL) 1,000 times (KILLS=1000) and resume them; takes an hour or two
	@python3 tests/log/kill_and_resume.py --perp build/bin/perp --steps 18000 --count $(KILLS)

bench: ## measure speed, next to MuJoCo on the same scenes
	@tools/deps.sh build bench
	@bench/run.sh

deps: ## install whatever any of these targets needs (Debian packages; nothing if all is there)
	@tools/deps.sh build test bench lint

lint: ## formatting, shell scripts and static analysis; changes nothing
	@tools/deps.sh build lint
	@clang-format --dry-run -Werror $(C_FILES)
	@shellcheck $(SHELL_FILES)
	@python3 tools/lint_tolerances.py
	@tools/viewer.sh lint
	@first=; test -f build/CMakeCache.txt || first=-DPERP_TESTS=OFF; $(CONFIGURE) --preset release $$first
	@find src cli -name '*.c' | sort | xargs -P $(JOBS) -n 1 clang-tidy -p build --quiet --warnings-as-errors='*' 2>/dev/null
	@echo 'lint: clean'

fuzz: ## fuzz the readers of scenes, meshes, problems and logs under ASan+UBSan for FUZZ_SECONDS (600); findings go to build/fuzz
	@tools/deps.sh build test
	@$(CONFIGURE) --preset asan-ubsan
	@cmake --build --preset asan-ubsan --target fuzz_scene fuzz_mesh fuzz_problem fuzz_friction fuzz_log -- -j$(JOBS)
	@tests/fuzz/run.sh scene build/asan-ubsan/tests/bin build/fuzz $(FUZZ_SECONDS)
	@tests/fuzz/run.sh mesh build/asan-ubsan/tests/bin build/fuzz $(FUZZ_SECONDS)
	@tests/fuzz/run.sh problem build/asan-ubsan/tests/bin build/fuzz $(FUZZ_SECONDS)
	@tests/fuzz/run.sh friction build/asan-ubsan/tests/bin build/fuzz $(FUZZ_SECONDS)
	@tests/fuzz/run.sh log build/asan-ubsan/tests/bin build/fuzz $(FUZZ_SECONDS)

format: ## rewrite every C file in the project's format
	@tools/deps.sh lint
	@clang-format -i $(C_FILES)

install: build ## install library, headers, command, pkg-config and CMake files under PREFIX (/usr/local)
	@cmake --build --preset release --target perp_completion -- -j$(JOBS)
	@cmake --install build --prefix $(PREFIX) > build/install.log || { cat build/install.log; exit 1; }
	@echo 'installed under $(PREFIX); if programs do not find libperp.so, run ldconfig'

clean: ## remove everything that was built
	@rm -rf build
