# The daily commands. `make` alone lists them.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help build test verify race lint fuzz bench mutants cross generate ci

help: ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

build: ## make ./labshelf
	CGO_ENABLED=0 go build -trimpath -o labshelf .

test: ## run the tests of the program, with the command of the README
	go test ./...

verify: ## run the tests of the real program: in a browser, on a cluster, under faults
	go -C verify test ./...

race: ## run all tests in full under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...

lint: ## golangci-lint: mistakes, import arrows, limits of size
	.ci/run format vet lint

fuzz: ## fuzz every target, each for FUZZ_SECONDS (60)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-60} .ci/run fuzz

bench: ## measure the real program, compared with the limits of the disk (docs/explanation/performance.md)
	go -C verify run ./bench

mutants: ## check that the tests find the faults in verify/mutants
	.ci/run mutants

cross: ## check the types for every other supported system, and vet for Windows
	.ci/run cross

generate: ## generate the OpenAPI document in JSON, the bundle of the pages, and other generated files
	go generate ./...

ci: ## the gate: everything that must pass before a change lands
	.ci/run
