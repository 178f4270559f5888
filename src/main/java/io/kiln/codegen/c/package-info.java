// SPDX-License-Identifier: Apache-2.0
/** Prints the loop IR as C99. */
package io.kiln.codegen.c;
