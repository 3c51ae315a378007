# Each target is a script in scripts/; `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help demo run test build release lint setup setup-all lab-up lab-down lab-status ci fresh-debian clean distclean

help:        ## this list
	@awk -F ':.*## ' '/^[a-z-]+: *.*##/ {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo:        ## the lab's hosts and Hopwise with them in it; prints a sign-in link (root; first time about half an hour)
	@scripts/demo

run:         ## Hopwise for your own hosts; prints a sign-in link (no root needed; ARGS=... for the server)
	@scripts/run $(ARGS)

test:        ## every test: Rust, lab, browser (root)
	@scripts/test

build:       ## both halves: the server and the WebAssembly that the browser loads
	@scripts/setup build && scripts/build

release:     ## the same, optimised, for use in production
	@scripts/setup build && scripts/build --release

lint:        ## formatting, clippy for both halves, documentation links
	@scripts/setup build && scripts/lint

setup:       ## only install what building needs
	@scripts/setup build postgres

setup-all:   ## install what building, the lab, tests and CI need
	@scripts/setup build postgres lab test ci

lab-up:      ## start the lab's hosts
	@scripts/setup lab && lab/lab up

lab-down:    ## stop them; their disks and keys stay for the next time (lab/lab down removes them)
	@lab/lab down --keep

lab-status:  ## what runs in the lab, and which faults are in it
	@lab/lab status

ci:          ## what CI does
	@.ci/run

fresh-debian: ## prove demo and test on a Debian 12 made by debootstrap (root, 15 GB, over an hour)
	@scripts/fresh-debian 12

clean:       ## remove what was built (not what was installed)
	@rm -rf target && cargo clean -q

distclean: clean ## also the tools, npm's packages and logs
	@rm -rf node_modules "$${HOPWISE_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/hopwise}"
