// SPDX-License-Identifier: Apache-2.0
/**
 * C compilers: descriptors as data, where the drivers are found, and which flags a core needs. Knows nothing
 * of boards; a board's target string says which core to compile for.
 */
package io.kiln.toolchain.compiler;
