// SPDX-License-Identifier: Apache-2.0
/** C compilers: descriptors as data, search for drivers, and flags for each core. Independent of boards; a board's target string names the core. */
package io.kiln.toolchain.compiler;
