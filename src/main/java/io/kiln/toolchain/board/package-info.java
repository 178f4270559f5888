// SPDX-License-Identifier: Apache-2.0
/** Board profiles: what a board is, where its memories lie, and its start-up code. */
package io.kiln.toolchain.board;
