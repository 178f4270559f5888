// SPDX-License-Identifier: Apache-2.0
/** What instructions cost on a core: the tables {@code toolchains/cores/*.yaml}, each number with its source. */
package io.kiln.cycles.core;
