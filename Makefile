# The daily commands. `make` alone lists them.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help build test verify race lint fuzz bench mutants cross generate ci

help: ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

build: ## make ./labshelf
	CGO_ENABLED=0 go build -trimpath -o labshelf .

test: ## run the tests of the program, as the README says
	go test ./...

verify: ## run the tests of the real program: in a browser, on a cluster, under faults
	go -C verify test ./...

race: ## run all tests in full under the race detector (wants a C compiler)
	CGO_ENABLED=1 go test -race ./...

lint: ## golangci-lint: mistakes, import arrows, limits of size
	.ci/run format vet lint

fuzz: ## fuzz every target, each for FUZZ_SECONDS (60)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-60} .ci/run fuzz

bench: ## measure the real program beside what the disk can do (docs/explanation/performance.md)
	go -C verify run ./bench

mutants: ## see that the tests find the faults made on purpose
	.ci/run mutants

cross: ## check the types for every other system that is served, and vet for Windows
	.ci/run cross

generate: ## make again what is generated: the OpenAPI document in JSON, the bundle of the pages
	go generate ./...

ci: ## the gate: everything that must pass before a change lands
	.ci/run
