// SPDX-License-Identifier: Apache-2.0
/** The cost of instructions on a core: the tables {@code toolchains/cores/*.yaml}, each number with its source. */
package io.kiln.cycles.core;
