# The two commands of the README, and what developers type. Everything real is in CMake and scripts/.
JOBS ?= $(shell nproc)
BUILD := build/release

.PHONY: demo test bench lint sanitize fuzz format build clean

## the main job on real tables, with nothing else installed (ARGS=--once: end after the report)
demo:
	@scripts/bootstrap
	@cmake --preset release -DTIDEMARK_TESTS=OFF -B build/demo >build-demo.log 2>&1 || { cat build-demo.log; exit 1; }
	@rm -f build-demo.log
	@cmake --build build/demo -j $(JOBS) --target tidemark
	@build/demo/tidemark demo $(ARGS)

build:
	@scripts/bootstrap --tests
	@cmake --preset release
	@cmake --build $(BUILD) -j $(JOBS)

## every test, those against a real Kafka broker and a real S3 API server included
test: build fuzz-build
	@scripts/run-tests

.PHONY: fuzz-build
fuzz-build:
	@cmake --preset fuzz
	@cmake --build build/fuzz -j $(JOBS) --target fuzz_targets

## speed and memory against peers, in one run; takes minutes and wants a quiet machine
bench: build
	@scripts/run-bench $(ARGS)

## clang-tidy 19 over everything
lint:
	@scripts/bootstrap --tests
	@cmake --preset lint
	@cmake --build build/lint -j $(JOBS)

## unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
sanitize:
	@scripts/bootstrap --tests
	@cmake --preset dev
	@cmake --build build/dev -j $(JOBS)
	@ctest --preset dev -L unit

format:
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

clean:
	@rm -rf build
