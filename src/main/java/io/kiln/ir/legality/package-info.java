// SPDX-License-Identifier: Apache-2.0
/** What Kiln compiles of what the IR can say. */
package io.kiln.ir.legality;
