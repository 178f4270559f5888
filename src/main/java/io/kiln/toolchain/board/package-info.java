// SPDX-License-Identifier: Apache-2.0
/** Board profiles: what a board is, where its memories lie, and the C files that bring it up. */
package io.kiln.toolchain.board;
