// SPDX-License-Identifier: Apache-2.0
/** Legality: the part of the IR that Kiln compiles. */
package io.kiln.ir.legality;
